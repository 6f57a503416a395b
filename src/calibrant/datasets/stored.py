"""Stored predictions: npz files in the folder named by CALIBRANT_DATA."""

import os
from pathlib import Path

import numpy as np

from calibrant.errors import InputError

__all__ = ["data_folder", "stored"]


def data_folder() -> Path:
    """Return the folder of stored data: the environment variable CALIBRANT_DATA, by default
    ``../shared/data``.
    """
    return Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))


def stored(name: str) -> dict[str, np.ndarray]:
    """Load the arrays of one stored file.

    Parameters
    ----------
    name : str
        Path inside the folder, with or without ``.npz``, such as
        ``"network_outputs/wideresnet-16-4-cifar10"``.

    Returns
    -------
    dict of str to array

    Raises
    ------
    InputError
        When the file does not exist; the message names the folder and the variable.
    """
    folder = data_folder()
    path = folder / (name if name.endswith(".npz") else f"{name}.npz")
    if not path.is_file():
        raise InputError(
            f"{path} does not exist; CALIBRANT_DATA must name the folder of stored data and is"
            f" {os.environ.get('CALIBRANT_DATA', 'not set')!r}; set it, or leave this data set"
            " out."
        )
    with np.load(path, allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}
