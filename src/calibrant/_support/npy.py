"""Reading an npy stream that may not be what it says."""

import math
from typing import Any

import numpy as np

__all__ = ["read_npy"]


def read_npy(file: Any, size: int, kinds: str | None = None) -> np.ndarray:
    """The array of a stream of ``size`` bytes, once its header asks for just the bytes that follow it: no memory is taken before.

    Parameters
    ----------
    file : binary file that can be rewound
    size : int
    kinds : str, optional
        Letters of the kinds of dtype that are taken; default all but objects, which only a pickle holds.

    Raises
    ------
    ValueError
    """
    version = np.lib.format.read_magic(file)
    # Version 3 differs from 2 in the encoding of names alone.
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(file)
    asked, there = math.prod(shape) * dtype.itemsize, size - file.tell()
    if dtype.hasobject or (kinds is not None and dtype.kind not in kinds):
        raise ValueError(f"it holds {dtype} where plain numbers or text must be")
    if asked != there:
        raise ValueError(f"its header says shape {shape}, {asked:,} bytes, and {there:,} are there")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)
