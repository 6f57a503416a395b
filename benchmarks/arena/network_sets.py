"""Networks of 43 to 430 classes trained here, on images side by side from CALIBRANT_DATA.

A class is a digit of MNIST, a traffic sign, an object of CIFAR-10, or several of them in a row, so
that many classes take little time. The models are multinomial logistic regressions and networks of
one hidden layer, well trained, stopped early or overfitted by their rows and steps. The names'
hashes put half of the tasks into each half of the arena; the images of one half are in no task of
the other.
"""

import hashlib
import io
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from benchmarks.arena import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

__all__ = ["POOL", "SIZES", "TASKS", "Task", "load", "model", "names"]

#: Rows to fit and test calibrators on.
POOL = 8_000
SIZES = (250, 1_000, 4_000)
HALVES = ("tables", "fresh")
#: Neighbouring images may be of one sign, so so many in a row stay in one half.
BLOCK = 30


@dataclass(frozen=True)
class Task:
    """What stands side by side, training rows, units of the hidden layer (0: logistic) and steps
    over the rows. A source is its name and, where fewer classes are used, how many.
    """

    sources: tuple[tuple[str, int], ...]
    rows: int
    units: int
    steps: int


DIGIT, SIGN, OBJECT = ("mnist", 10), ("gtsrb_jpeg", 43), ("cifar10_jpeg", 10)
TASKS = {
    "signs-logistic": Task((SIGN,), 6_000, 0, 15),
    "signs-overfitted": Task((SIGN,), 3_000, 64, 60),
    "two-digits": Task((DIGIT, DIGIT), 20_000, 128, 8),
    "two-digits-overfitted": Task((DIGIT, DIGIT), 4_000, 256, 60),
    "two-objects": Task((OBJECT, OBJECT), 10_000, 64, 10),
    "two-objects-overfitted": Task((OBJECT, OBJECT), 5_000, 128, 40),
    "digit-object": Task((DIGIT, OBJECT), 12_000, 96, 15),
    "digit-sign": Task((DIGIT, SIGN), 20_000, 128, 10),
    "digit-sign-logistic": Task((DIGIT, SIGN), 10_000, 0, 20),
    "object-sign-early": Task((OBJECT, SIGN), 20_000, 128, 4),
    "three-digits": Task((("mnist", 7),) * 3, 20_000, 128, 12),
    "two-signs": Task((("gtsrb_jpeg", 20),) * 2, 20_000, 128, 15),
}


def names(half: str) -> list[str]:
    """The tasks of a half: every second one in the order of the names' hashes. None where the
    images are not there.
    """
    files = {source for task in TASKS.values() for source, _ in task.sources}
    if not all((datasets.DATA / f"{file}.npz").exists() for file in files):
        return []
    order = sorted(TASKS, key=lambda name: hashlib.sha1(name.encode()).hexdigest())
    return order[HALVES.index(half) :: 2]


def model(name: str) -> Any:
    """A new model of a task."""
    task = TASKS[name]
    if not task.units:
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=task.steps))
    network = MLPClassifier((task.units,), alpha=1e-5, max_iter=task.steps, random_state=0)
    return make_pipeline(StandardScaler(), network)


def load(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(X_train, y_train, X_pool, y_pool) of a task. Classes without a training row are left out,
    as a model has no probability for them.
    """
    task, half = TASKS[name], next(k for k, half in enumerate(HALVES) if name in names(half))
    rng = np.random.default_rng(int(hashlib.sha1(name.encode()).hexdigest()[:8], 16))
    X_train, y_train = _side_by_side(task.sources, True, half, task.rows, rng)
    X, y = _side_by_side(task.sources, False, half, POOL + POOL // 4, rng)
    trained = np.unique(y_train)
    kept = np.flatnonzero(np.isin(y, trained))[:POOL]
    return X_train, np.searchsorted(trained, y_train), X[kept], np.searchsorted(trained, y[kept])


def _side_by_side(
    sources: tuple[tuple[str, int], ...],
    training: bool,
    half: int,
    n: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """n rows of an image of each source, drawn with replacement, and the number of their
    classes.
    """
    columns, y = [], np.zeros(n, dtype=int)
    for source, n_classes in sources:
        labels, first_of_pool = _labels(source)
        index = np.arange(len(labels))
        own = (index < first_of_pool) == training
        allowed = index[own & (index // BLOCK % len(HALVES) == half) & (labels < n_classes)]
        rows = rng.choice(allowed, n)
        columns.append(_pixels(source, rows))
        y = y * n_classes + labels[rows]
    return np.hstack(columns), y


@cache
def _labels(source: str) -> tuple[np.ndarray, int]:
    """Labels of all images, and where those begin that models are not trained on."""
    with np.load(datasets.DATA / f"{source}.npz") as z:
        labels = z["labels"].astype(int)
        return labels, int(z["n_train"]) if "n_train" in z else len(labels) * 6 // 7


def _pixels(source: str, rows: np.ndarray) -> np.ndarray:
    """Images as rows of 196 grey values in [0, 1] for digits, 144 for signs, 192 colours for
    objects.
    """
    with np.load(datasets.DATA / f"{source}.npz") as z:
        if "images" in z:
            return z["images"][rows][:, ::2, ::2].reshape(len(rows), -1) / 255.0
        raw, offsets = z["jpeg"].tobytes(), z["offsets"]
    kind, side = ("L", 12) if source.startswith("gtsrb") else ("RGB", 8)
    different, back = np.unique(rows, return_inverse=True)
    pixels = [_image(raw[offsets[i] : offsets[i + 1]], kind, side) for i in different]
    return np.stack(pixels)[back] / 255.0


def _image(jpeg: bytes, kind: str, side: int) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(jpeg)).convert(kind).resize((side, side))).ravel()
