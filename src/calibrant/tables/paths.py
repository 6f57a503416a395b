"""Files of a table, of a path, a folder or a pattern, in the order of their names, and the order of
names with numbers in them.
"""

import atexit
import gzip
import re
import sys
import zlib
from contextlib import suppress
from glob import glob, has_magic
from pathlib import Path
from shutil import copyfileobj, rmtree
from tempfile import mkdtemp
from typing import Any
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile, is_zipfile

from calibrant.core.stores import Address, located
from calibrant.errors import InputError

__all__ = [
    "ENDINGS",
    "STDIN",
    "folder_values",
    "is_pattern",
    "natural_order",
    "paths_of",
    "title_of",
]


def natural_order(name: Any) -> tuple[Any, ...]:
    """Key that sorts names of files and versions by the numbers in them.

    Examples
    --------
    >>> sorted(["day10.csv", "day2.csv", "day1.csv"], key=natural_order)
    ['day1.csv', 'day2.csv', 'day10.csv']
    """
    parts = re.split("([0-9]+)", str(name))
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], str(name)


#: The path that stands for standard input.
STDIN = Path("-")
#: How errors name it, what is read of it, and first bytes of each kind, because it has no name;
#: other text is CSV.
NAMED, READ = "standard input", dict[str, Any]()
BEGINNINGS = {b"PAR1": ".parquet", b"PK": ".npz", b"\x93NUMPY": ".npy", b"{": ".jsonl"}
#: The first fields of a log of Inspect, and members of its archive, of which an npz has none.
LOG, LOG_MEMBERS = (
    re.compile(rb'\{\s*"version"\s*:\s*\d+\s*,\s*"status"'),
    ("header.json", "_journal/"),
)
#: Endings of the files of a table; text may be compressed, with a further .gz.
ENDINGS = (".npz", ".npy", ".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".eval", ".json")


def paths_of(path: str | Path | Address | list[Any]) -> list[Any]:
    """Return the files of a table, sorted by name and its numbers; those of a folder are of one
    kind. A list is returned as it is.
    """
    if isinstance(path, list):
        return path
    place = located(path)
    if place == STDIN:
        return [standard_input()]
    if isinstance(place, Address):
        found = sorted(place.files(ENDINGS), key=natural_order)
    else:
        matches = map(Path, glob(str(place), recursive=True)) if is_pattern(place) else [place]
        # ** matches a folder and what is in it.
        files = {p for match in matches for p in (_inside(match) if match.is_dir() else [match])}
        found = sorted(files, key=natural_order)
    if not found:
        raise InputError(f"{place} must hold files that end in {', '.join(ENDINGS)}; it has none.")
    return found


def standard_input() -> Path:
    """The file of a temporary folder to which standard input is written, once; its ending is that
    of the first bytes.
    """
    stream = sys.stdin.buffer
    if READ.get("stream") is not stream:
        _forget()
        READ["stream"] = stream
        READ["folder"] = folder = Path(mkdtemp(prefix="calibrant-"))
        atexit.register(_forget)
        written = folder / "table"
        with written.open("wb") as file:
            copyfileobj(stream, file)
        READ["file"] = written.rename(folder / f"{NAMED}{_ending(written)}")
    return READ["file"]


#: The folder of missing values.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def folder_values(path: Any) -> dict[str, str | None]:
    """The values of the columns that the folders ``name=value`` above a file name.

    Examples
    --------
    >>> folder_values("logs/model=a%20b/day=2026-03-01/0.csv")
    {'model': 'a b', 'day': '2026-03-01'}
    """
    folders = (part.partition("=") for part in str(path).replace("\\", "/").split("/")[:-1])
    values = {name: unquote(text) for name, mark, text in folders if name and mark}
    return {name: None if text == NO_VALUE else text for name, text in values.items()}


def title_of(path: Any) -> str:
    """The name of a table, for a title."""
    return NAMED if path in (STDIN, READ.get("file")) else path.name


def _forget() -> None:
    if "folder" in READ:
        rmtree(READ["folder"], ignore_errors=True)
    READ.clear()


def _ending(path: Path) -> str:
    with path.open("rb") as file:
        first = file.read(100)
    packed = first.startswith(b"\x1f\x8b")
    if packed:
        with suppress(OSError, EOFError, zlib.error), gzip.open(path) as file:
            first = file.read(100)
    first = first.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    found = (ending for begins, ending in BEGINNINGS.items() if first.startswith(begins))
    if not packed and LOG.match(first):
        return ".json"
    ending = next(found, ".csv")
    if ending == ".npz" and not packed and is_zipfile(path):
        # A damaged archive is refused where it is read.
        with suppress(BadZipFile), ZipFile(path) as archive:
            if any(name.startswith(LOG_MEMBERS) for name in archive.namelist()):
                return ".eval"
    return f"{ending}{'.gz' * packed}"


def is_pattern(path: str | Path) -> bool:
    """Whether a path is a pattern; the name of an existing file is none, even if it looks like
    one.
    """
    return has_magic(str(path)) and not Path(path).exists()


def _inside(folder: Path) -> list[Path]:
    """Return the tables in a folder and its subfolders; names that begin with a dot or an
    underscore are other programs' notes, and so is .json beside other tables.
    """
    files = (file for file in sorted(folder.rglob("*"), key=natural_order) if file.is_file())
    found = [
        file
        for file in files
        if not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
        and Path(file.name.lower().removesuffix(".gz")).suffix in ENDINGS
    ]
    return [one for one in found if not one.name.lower().endswith((".json", ".json.gz"))] or found
