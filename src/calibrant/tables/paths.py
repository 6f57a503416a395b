"""Files of a table, of a path, a folder or a pattern, in the order of their names, and the order of
names with numbers in them.
"""

import re
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from calibrant.core.stores import Address, located
from calibrant.errors import InputError

__all__ = ["ENDINGS", "STDIN", "is_pattern", "natural_order", "paths_of"]


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
        return [place]
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
