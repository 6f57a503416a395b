"""Make one data set of the benchmarks here: download its upstream files and convert them."""

import os
from pathlib import Path

import numpy as np
from benchmarks.data.convert import CONVERSIONS
from benchmarks.data.download import FetchError, download
from benchmarks.data.table import DataSet, contents

__all__ = ["fetch", "folder"]

ADDRESS = "https://raw.githubusercontent.com"


def folder() -> Path:
    """Return the folder of data: ``CALIBRANT_DATA``, by default ``data`` in this folder."""
    return Path(os.environ.get("CALIBRANT_DATA", "data"))


def fetch(data: DataSet, into: Path, address: str = ADDRESS) -> Path:
    """Return the npz file of a data set in the folder ``into``, downloaded where it is absent.

    Upstream files stay in ``into/upstream``, so that a later call goes on where this one stopped.
    """
    file = into / f"{data.name}.npz"
    if file.is_file():
        return _checked(file, data)
    if not data.conversion:
        raise FetchError(
            "this file cannot be downloaded, as it was made by hand from "
            f"github.com/{data.repository} at commit {data.commit}: make it as `by_hand` in "
            f"benchmarks/data/sources.toml says, or copy it to {file}."
        )
    here = into / "upstream" / data.repository / data.commit
    files = {path: here / path for path in data.upstream}
    for path, (sha256, _) in data.upstream.items():
        download(f"{address}/{data.repository}/{data.commit}/{path}", files[path], sha256)
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_name(f"{file.stem}.part.npz")
    np.savez_compressed(made, **CONVERSIONS[data.conversion](files))
    made.replace(file)
    return _checked(file, data)


def _checked(file: Path, data: DataSet) -> Path:
    found = contents(file)
    if found != data.contents:
        raise FetchError(
            f"{file} holds arrays with the digest {found}, not {data.contents} as in the table: "
            "move it away and fetch the data set again."
        )
    return file
