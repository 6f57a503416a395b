"""CSV files as one Arrow table, so that they are counted by slice as Parquet files are."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calibrant._support.extras import import_extra
from calibrant.cli.sources import open_source
from calibrant.cli.wording import abridged
from calibrant.errors import InputError

__all__ = ["table_of"]

WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
#: A code such as 007 is no number.
CODE = re.compile(r"[+-]?0\d+")


def table_of(paths: Sequence[str], time: str | None = None) -> Any:
    """The table that these files are; Parquet files stay paths, which an engine reads in parts."""
    csv = [path for path in paths if Path(path).suffix.lower() == ".csv"]
    other = [path for path in paths if Path(path).suffix.lower() in (".npz", ".npy")]
    if other or 0 < len(csv) < len(paths):
        odd = (other or csv)[0]
        raise InputError(f"slices are counted from files that are all Parquet or all CSV; {odd} is not as the others; convert it first.")
    if not csv:
        return paths
    texts = [open_source(path).content for path in paths]
    names = list(texts[0])
    differs = next((path for path, content in zip(paths, texts, strict=True) if set(content) != set(names)), None)
    if differs is not None:
        raise InputError(f"{differs} must have the columns of {paths[0]}, which are {', '.join(names[:12])}; name files of one kind.")
    columns = {name: [value for content in texts for value in content[name]] for name in names}
    return _arrow().table({name: _times(values, name) if name == time else _typed(values) for name, values in columns.items()})


def _arrow():
    return import_extra("pyarrow", "counting CSV files by slice", "cli")


def _typed(values):
    """Whole numbers, numbers, or text; an empty value is missing."""
    arrow = _arrow()
    present = {value for value in values if value.strip()}
    kind = next((kind for kind, fits in ((int, WHOLE.fullmatch), (float, _is_number)) if all(map(fits, present))), str)
    kinds = {int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
    return arrow.array([kind(value) if value in present else None for value in values], kinds[kind])


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return not CODE.fullmatch(text.strip())


def _times(values, name):
    arrow = _arrow()
    texts = arrow.array([value.strip() or None for value in values], arrow.string())
    for zone in (None, "UTC"):
        try:
            return texts.cast(arrow.timestamp("us", zone))
        except arrow.lib.ArrowInvalid:
            continue
    bad = next((i for i, value in enumerate(values) if not re.match(r"\d{4}-\d\d-\d\d", value.strip())), 0)
    raise InputError(f"--time must name a column of times such as 2026-03-01 12:00:00; row {bad} of {name!r} is {abridged(values[bad])}.")
