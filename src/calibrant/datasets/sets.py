"""Real data: sets bundled with scikit-learn, and predictions stored as npz files in the folder that
CALIBRANT_DATA names.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from sklearn import (  # pyright: ignore[reportMissingTypeStubs]
    datasets,  # pyright: ignore[reportUnknownVariableType]
    model_selection,  # pyright: ignore[reportUnknownVariableType]
)

from calibrant.errors import InputError

_bundled, _split = cast(Any, datasets), cast(Any, model_selection).train_test_split
__all__ = ["BUNDLED", "Dataset", "breast_cancer", "data_folder", "digits", "stored", "three_parts"]


@dataclass(frozen=True)
class Dataset:
    """Data set: features (n, d), labels (n,) as positions in ``classes``, and a name.

    See Also
    --------
    datasets.breast_cancer, datasets.digits : return one.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.y)


def digits() -> Dataset:
    """Load handwritten digits: 1,797 images of 8 x 8, 10 classes.

    See Also
    --------
    datasets.breast_cancer : data with two classes.
    datasets.three_parts : rows for training, calibration and test.

    Examples
    --------
    >>> len(digits()), digits().X.shape[1]
    (1797, 64)
    """
    data = _bundled.load_digits()
    return Dataset(
        "digits", data.data / 16.0, data.target, np.array([str(c) for c in data.target_names])
    )


def breast_cancer() -> Dataset:
    """Load breast cancer (Wisconsin): 569 rows of 30 features, malignant or benign.

    See Also
    --------
    datasets.digits : data with ten classes.
    datasets.three_parts : rows for training, calibration and test.

    Examples
    --------
    >>> breast_cancer().classes.tolist()
    ['malignant', 'benign']
    """
    data = _bundled.load_breast_cancer()
    return Dataset("breast cancer", data.data, data.target, data.target_names.astype(str))


#: All data sets of this file, by name.
BUNDLED = {"digits": digits, "breast-cancer": breast_cancer}


def three_parts(data: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split rows into (train, calibrate, test): row numbers of 40, 30 and 30 %, stratified by
    class.

    See Also
    --------
    datasets.breast_cancer, datasets.digits : data it can split.

    Examples
    --------
    >>> [len(rows) for rows in three_parts(breast_cancer())]
    [227, 171, 171]
    """
    rows = np.arange(len(data))
    first, remainder = _split(rows, train_size=0.4, random_state=0, stratify=data.y)
    second, third = _split(remainder, train_size=0.5, random_state=0, stratify=data.y[remainder])
    return first, second, third


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
