"""Features and labels of the data sets that models are trained on, from scikit-learn and the folder
that CALIBRANT_DATA names.

Each function gives (X_train, y_train, X_pool, y_pool), or (X, y) where the pool is predicted out of
fold because there is little of it. Labels are 0..K-1. The pool is what calibration and test rows
are drawn from.
"""

import io
import os
from pathlib import Path

import numpy as np
from sklearn import datasets as bundled

DATA = Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))
#: KITTI's classes that both its train and its test rows have.
KITTI_CLASSES = (0, 1, 3, 5, 7)


def digits():
    """1,797 small digits, 10 classes."""
    return bundled.load_digits(return_X_y=True)


def breast_cancer():
    """569 tumours, 2 classes."""
    return bundled.load_breast_cancer(return_X_y=True)


def kitti(multiclass):
    """KITTI objects: object or background, or the five classes that both parts have; 4,000 rows
    to train.
    """
    with np.load(DATA / "kitti.npz") as z:
        parts = [(z["X_train"], z["y_train"]), (z["X_test"], z["y_test"])]
    out = []
    for X, y in parts:
        kept = np.isin(y, KITTI_CLASSES) if multiclass else np.ones(len(y), dtype=bool)
        out += [
            X[kept],
            np.searchsorted(KITTI_CLASSES, y[kept]) if multiclass else (y > 0).astype(int),
        ]
    rows = np.random.default_rng(0).permutation(len(out[1]))[:4_000]
    return out[0][rows], out[1][rows], out[2], out[3]


def mnist():
    """MNIST: 3,000 images to train, its own 10,000 test images as the pool."""
    with np.load(DATA / "mnist.npz") as z:
        X, y = z["images"], z["labels"].astype(int)
    rows = np.random.default_rng(0).permutation(60_000)[:3_000]
    # Every second pixel: the models are to be fast, not good.
    return _flat(X[rows, ::2, ::2]), y[rows], _flat(X[60_000:, ::2, ::2]), y[60_000:]


def gtsrb():
    """German traffic signs, 43 classes: 4,000 train images, 8,000 of the test images as the pool
    (they share no sign track).
    """
    from PIL import Image

    with np.load(DATA / "gtsrb_jpeg.npz") as z:
        raw, offsets, labels, n = (
            z["jpeg"].tobytes(),
            z["offsets"],
            z["labels"].astype(int),
            int(z["n_train"]),
        )
    rng = np.random.default_rng(0)
    train, pool = rng.permutation(n)[:4_000], n + rng.permutation(len(labels) - n)[:8_000]

    def pixels(rows):
        images = [
            np.asarray(
                Image.open(io.BytesIO(raw[offsets[i] : offsets[i + 1]]))
                .convert("L")
                .resize((12, 12))
            )
            for i in rows
        ]
        return _flat(np.stack(images))

    return pixels(train), labels[train], pixels(pool), labels[pool]


def uci(name, n_classes):
    """A UCI regression set, its target cut into classes at quantiles."""
    with np.load(DATA / "uci" / f"{name}.npz") as z:
        X, target = z["X"], z["y"].ravel()
    cuts = np.quantile(target, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, target, side="right")


def _flat(images):
    return images.reshape(len(images), -1).astype(np.float64) / 255.0
