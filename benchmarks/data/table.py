"""The table of data sets (``sources.toml``), read as records."""

import hashlib
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

__all__ = ["DataSet", "contents", "data_sets"]

TABLE = Path(__file__).with_name("sources.toml")


@dataclass(frozen=True)
class DataSet:
    """One npz file: its source, the licence that the source states, and digests.

    A set has either ``conversion``, the key of a function in ``convert.py`` that makes the file
    of ``upstream`` (path in the repository -> SHA-256 and bytes), or ``by_hand``, which says how
    the file was made where no function does it.
    """

    name: str
    repository: str
    commit: str
    licence: str
    bytes: int
    sha256: str
    contents: str
    citation: str = ""
    conversion: str = ""
    by_hand: str = ""
    upstream: dict[str, tuple[str, int]] = field(default_factory=dict)


def data_sets() -> dict[str, DataSet]:
    """Return the data sets by name, such as ``"uci/yacht"``."""
    read = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {name: DataSet(name, **facts) for name, facts in read.items()}


def contents(file: str | Path) -> str:
    """Return a SHA-256 of the arrays in an npz file: names, types, shapes and values."""
    digest = hashlib.sha256()
    with np.load(file, allow_pickle=False) as arrays:
        for name in sorted(arrays.files):
            array = np.ascontiguousarray(arrays[name])
            digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()
