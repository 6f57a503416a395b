"""Choice of the engine that reads a source, and the files that a source names."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant._numerics.threads import map_ahead
from calibrant.core.stores import Address, located, without_secrets
from calibrant.errors import InputError, MissingDependencyError
from calibrant.tables.batching import gathered, rows_from, runs
from calibrant.tables.paths import paths_of

if TYPE_CHECKING:
    from calibrant.tables.state import Drawn, GroupState

__all__ = ["ENGINES", "choose", "columns_of", "files", "fold", "opened", "reading", "table_of"]

#: name -> module of this folder. With engine="auto", the first installed one reads files.
ENGINES = {
    "polars": "polars_engine",
    "duckdb": "duckdb_engine",
    "pyarrow": "arrow_engine",
    "dask": "dask_engine",
    "spark": "spark_engine",
    "ray": "ray_engine",
}
EMBEDDED = ("polars", "duckdb", "pyarrow")
#: Module of the engine for files of text.
PARTS = "parts_engine"
PLACES = (str, Path, Address)
#: Libraries whose errors mean that a file cannot be read. A panic of polars is not an Exception,
#: but comes from the module pyo3_runtime.
LIBRARIES = ("polars", "pyo3_runtime", "duckdb", "_duckdb", "pyarrow", "pyspark", "py4j")


def files(source: Any) -> list[Any] | None:
    """Sorted paths and addresses that a path, a pattern or a list of them names; None if it is a
    table.
    """
    if isinstance(source, PLACES):
        source = [source]
    if not isinstance(source, list | tuple) or not all(isinstance(s, PLACES) for s in source):
        return None
    found = []
    for place in map(located, source):
        matches = paths_of(place)
        if not all(path.is_file() for path in matches):
            raise InputError(f"{str(place)!r} must name files of tables; no such file exists.")
        found += [path if isinstance(path, Address) else str(path) for path in matches]
    if not found:
        raise InputError("source must name at least one file; got an empty list.")
    return found


def choose(source: Any, engine: str) -> Any:
    """The engine's module."""
    paths = files(source) or []
    text = next((path for path in paths if located(path).suffix.lower() != ".parquet"), None)
    if text is not None:
        if engine != "auto":
            raise InputError(
                f'engine must be "auto" for files other than Parquet, which are read in parts; got'
                f" {engine!r} for {text}."
            )
        return _module(PARTS)
    # One library opens stores, with one set of credentials.
    if engine in ("auto", *EMBEDDED) and any(isinstance(path, Address) for path in paths):
        return _module("pyarrow")
    if engine != "auto":
        if engine not in ENGINES:
            raise InputError(
                f'engine must be "auto" or one of {", ".join(ENGINES)}; got {engine!r}.'
            )
        return _module(engine)
    if paths:
        installed = [name for name in EMBEDDED if find_spec(name) is not None]
        if not installed or find_spec("pyarrow") is None:
            raise MissingDependencyError(
                "files need polars and pyarrow, which are not installed; run: pip install"
                " 'calibrant[frames]'"
            )
        return _module(installed[0])
    for name in (*ENGINES, PARTS):
        if _reads(_module(name), source):
            return _module(name)
    raise InputError(
        "source must be files of Parquet, CSV or JSON lines, or a table of polars, duckdb, pyarrow,"
        f" pandas, dask, pyspark or ray; got {type(source).__name__}."
    )


@contextmanager
def reading(source: Any) -> Iterator[Any]:
    """Turn a library's error about an unreadable file into an InputError that names the file."""
    try:
        yield
    except BaseException as error:
        paths = None if isinstance(error, InputError | MissingDependencyError) else files(source)
        of_library = type(error).__module__.partition(".")[0] in LIBRARIES or isinstance(
            error, OSError | UnicodeError
        )
        if paths is None or not of_library:
            raise
        named = (
            paths[0] if len(paths) == 1 else f"one of {paths[0]} and {len(paths) - 1} more files"
        )
        words = without_secrets(str(error).strip().partition("\n")[0])[:200] or type(error).__name__
        raise InputError(
            f"{named} is damaged, is not a Parquet file, or has other column types than the rest"
            f" ({words}); write it again."
        ) from error


def columns_of(source: Any, module: Any) -> dict[str, str]:
    """Each column's name -> "list" or "other"."""
    # The schema of files can be read without starting a job on a cluster.
    module = _module("pyarrow") if module.CLUSTER and files(source) is not None else module
    with reading(source):
        return module.kinds(opened(source, module))


def table_of(source: Any, engine: str) -> tuple[Any, Any, dict[str, str]]:
    """Return (the source, as paths if it names files; its engine; its ``columns_of``)."""
    source = files(source) or source
    module = choose(source, engine)
    return source, module, columns_of(source, module)


def opened(source: Any, module: Any) -> Any:
    """The source as a table of the engine."""
    paths = files(source)
    if paths is not None:
        unnamed = next((path for path in paths if not _is_utf8(str(path))), None)
        # Text is opened by Python, which reads any name.
        if unnamed is not None and module is not _module(PARTS):
            raise InputError(
                f"{unnamed} has a name that is not UTF-8, which no engine can read; rename it."
            )
        return module.open_files(paths)
    if not _reads(module, source):
        raise InputError(
            f"this engine cannot read a {type(source).__module__}.{type(source).__name__}; use"
            ' engine="auto".'
        )
    return source


def _reads(module: Any, source: Any) -> bool:
    """Whether a table's class, or a base class, comes from one of the engine's libraries.

    No library is imported for this test.
    """
    return any(base.__module__.partition(".")[0] in module.READS for base in type(source).__mro__)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def fold(module: Any, source: Any, kernel: Any) -> "Drawn | GroupState":
    """The kernel's state of the whole source."""
    if module.CLUSTER:
        paths = files(source)
        return (
            module.fold(opened(source, module), kernel)
            if paths is None
            else module.fold_files(paths, kernel)
        )
    state, table = kernel.empty(), opened(source, module)
    known = module.kinds(table)
    missing = [name for name in kernel.layout.needed if name not in known]
    if missing:
        # Files are read one by one, and the names are those of the first.
        raise InputError(
            f"{', '.join(map(str, files(source) or ['the table']))} must have the columns that are"
            f" read; it has no {missing[0]!r}; name files with the same columns."
        )
    try:
        for part in map_ahead(kernel.over, runs(module.batches(table, kernel.layout.needed))):
            state += part
    except InputError:
        _refuse_in_order(module, table, kernel)
        raise
    return state


def _refuse_in_order(module: Any, table: Any, kernel: Any) -> None:
    """Raise the error of the first batch that has one, with its row in the table."""
    start = 0
    for batch in gathered(module.batches(table, kernel.layout.needed, ordered=True)):
        with rows_from(start):
            kernel.over([batch])
        start += batch.num_rows


def _module(name: str) -> Any:
    return importlib.import_module(f"calibrant.tables.engines.{ENGINES.get(name, name)}")
