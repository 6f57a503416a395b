"""Which files a name on the command line stands for: a file, a folder, a pattern, or standard input."""

from glob import glob, has_magic
from pathlib import Path
from typing import Any

import click

from calibrant.errors import InputError

__all__ = ["ENDINGS", "STDIN", "TablePath", "paths_of"]

#: The path that stands for standard input.
STDIN = Path("-")
#: Kinds of files that a table may be; text may be compressed, with .gz behind it.
ENDINGS = (".npz", ".npy", ".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")


class TablePath(click.Path):
    """A table of predictions: a file that is there, a folder of files of one kind, or a pattern that some files match."""

    def __init__(self) -> None:
        super().__init__(exists=True, allow_dash=True, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The path, checked; a pattern stays as it is written."""
        if _is_pattern(value):
            if not glob(str(value), recursive=True):
                self.fail(f"no file matches {str(value)!r}.", param, ctx)
            return Path(value)
        return super().convert(value, param, ctx)


def paths_of(path: str | Path) -> list[Path]:
    """The files that the name of a table stands for, in the order of their names; those of a folder are of one kind."""
    path = Path(path)
    if path == STDIN:
        return [path]
    matches = sorted(map(Path, glob(str(path), recursive=True))) if _is_pattern(path) else [path]
    found = [file for match in matches for file in (_inside(match) if match.is_dir() else [match])]
    if not found:
        raise InputError(f"{path} must hold files that end in {', '.join(ENDINGS)}; there is none.")
    return found


def _is_pattern(path: str | Path) -> bool:
    # A file that exists is meant as it is written, though its name may look like a pattern.
    return has_magic(str(path)) and not Path(path).exists()


def _inside(folder: Path) -> list[Path]:
    """The tables in a folder and the folders below it; names that begin with a point or an underscore are other programs' notes."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return [
        file for file in files
        if not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
        and Path(file.name.lower().removesuffix(".gz")).suffix in ENDINGS
    ]  # fmt: skip
