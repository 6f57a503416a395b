"""The paper's data, pooled and split 60/20/20 as its code does: MNIST, CIFAR-10, GTSRB (by
track), or any npz of images; and tables.
"""

import io
import os
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from benchmarks.arena import datasets as tables
from sklearn.model_selection import GroupShuffleSplit, train_test_split

DATA = Path(
    os.environ.get("CALIBRANT_DATA", Path(__file__).resolve().parents[4] / "shared" / "data")
)
FILES = {
    "mnist": "mnist.npz",
    "cifar10": "cifar10_jpeg.npz",
    "gtsrb": "gtsrb_jpeg.npz",
    "fashion": "fashion_mnist.npz",
    "kitti": "kitti.npz",
}
IMAGES = ("mnist", "cifar10", "gtsrb")
#: Not among the data of ``benchmarks.data``: run where the file has been put beside the others.
OPTIONAL = ("fashion",)
#: UCI sets, and into how many classes their targets are cut, at quantiles.
UCI = {"power-plant": 5, "kin8nm": 5, "concrete": 3, "energy": 3, "yacht": 3}
TABLES = ("kitti", *UCI)
#: Every file of stage2/ that has raw ``features`` and an integer ``label``. None took part in the
#: development of separation; ``unseen.py`` judges it on them.
UNSEEN = ("drift_elec2", "groups_adult", "groups_bank", "groups_compas", "groups_law_school")


@dataclass(frozen=True)
class Split:
    """Rows of train, validation and test: features (n, d), images' shape or None, labels 0..K-1."""

    X: dict
    y: dict
    shape: tuple | None
    n_classes: int


@lru_cache(maxsize=1)
def load(name):
    """(X (n, d), y (n,) positions, shape of one image or None, groups or None) of IMAGES, TABLES,
    UNSEEN or the path of an npz file.
    """
    if name in UCI:
        return *tables.uci(name, UCI[name]), None, None
    if name in UNSEEN:
        with np.load(DATA / "stage2" / f"{name}.npz") as archive:
            return archive["features"].astype(float), archive["label"].astype(int), None, None
    path = DATA / FILES.get(name, name)
    path = path if path.exists() else Path(name)
    if not path.exists():
        raise SystemExit(
            f"{path} is not there; set CALIBRANT_DATA to the folder that holds it, or name an npz"
            " with images and labels."
        )
    with np.load(path) as archive:
        if name == "kitti":
            return _kitti(archive)
        groups = None
        if "jpeg" in archive:
            images, labels = _decoded(archive), archive["labels"].astype(np.int64)
            if "track" in archive:
                # Frames of one track are nearly one image; the official test part has no tracks and
                # stays out.
                n = int(archive["n_train"])
                images, labels = images[:n], labels[:n]
                groups = labels * 100_000 + archive["track"][:n]
        else:
            images, labels = archive["images"], archive["labels"]
    _, labels = np.unique(labels, return_inverse=True)
    return images.reshape(len(images), -1), labels, images.shape[1:], groups


def _decoded(archive):
    from PIL import Image

    data, offsets = archive["jpeg"].tobytes(), archive["offsets"]
    pictures = (Image.open(io.BytesIO(data[a:b])).convert("RGB") for a, b in pairwise(offsets))
    return np.stack([np.asarray(picture) for picture in pictures])


def _kitti(archive):
    X = np.concatenate([archive["X_train"], archive["X_test"]])
    y = np.concatenate([archive["y_train"], archive["y_test"]])
    kept = np.isin(y, tables.KITTI_CLASSES)
    _, labels = np.unique(y[kept], return_inverse=True)
    return X[kept], labels, None, None


def split(name, seed, rows=None, by_frame=False):
    """The ``seed``-th shuffle: 20 % test, then a quarter of the rest validation, as the authors
    draw them; GTSRB by whole tracks, unless
    ``by_frame``."""
    X, y, shape, groups = load(name)
    index = (
        np.arange(len(y))
        if rows is None
        else np.random.default_rng(seed).permutation(len(y))[:rows]
    )
    if groups is None or by_frame:
        rest, test = train_test_split(index, test_size=0.2, random_state=seed)
        train, validation = train_test_split(rest, test_size=0.25, random_state=seed)
    else:
        rest, test = _by_group(index, groups, 0.2, seed)
        train, validation = _by_group(rest, groups, 0.25, seed)
    parts = {"train": train, "validation": validation, "test": test}
    return Split(
        {k: X[v] for k, v in parts.items()},
        {k: y[v] for k, v in parts.items()},
        shape,
        int(y.max()) + 1,
    )


def _by_group(index, groups, share, seed):
    a, b = next(
        GroupShuffleSplit(1, test_size=share, random_state=seed).split(index, groups=groups[index])
    )
    return index[a], index[b]
