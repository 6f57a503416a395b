"""Tables and models on which wrappers of a model are compared."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calibrant import datasets

__all__ = ["MODELS", "SETS", "Table"]

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Table:
    """Rows to train on, how to get all rows, and whether the defaults were chosen on them."""

    name: str
    train: int
    read: Callable[[], Rows]
    chose: bool = False


def _made(**options: Any) -> Callable[[], Rows]:
    return lambda: sklearn_datasets.make_classification(
        **{"n_samples": 6000, "random_state": 11, **options}
    )


def _bundled(load: Callable[[], Any]) -> Callable[[], Rows]:
    def read() -> Rows:
        data = load()
        return data.X if hasattr(data, "X") else data.data, data.y if hasattr(
            data, "y"
        ) else data.target

    return read


def _credit(seed: int = 0, n: int = 8000) -> Rows:
    """A fifth of the rows fail; amounts with long tails, steps and interactions, and much noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    X[:, :4] = np.exp(X[:, :4])
    late = rng.poisson(0.5, n)
    logit = (
        -2.0
        + 0.9 * np.minimum(late, 3)
        - 0.5 * np.log(X[:, 0])
        + 0.6 * (X[:, 4] > 0.5) * X[:, 5]
        + 0.4 * np.tanh(X[:, 6] * X[:, 7])
    )
    return np.column_stack([X, late]), (rng.random(n) < 1.0 / (1.0 + np.exp(-logit))).astype(int)


def _rings(n: int = 6000) -> Rows:
    """Three classes by the distance from the middle, and one label in seven drawn at random."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 6))
    y = np.searchsorted([3.5, 6.5], (X**2).sum(axis=1))
    return X, np.where(rng.random(n) < 0.15, rng.integers(0, 3, n), y)


def _additive(n: int = 6000) -> Rows:
    """Two classes whose log-odds are a sum of smooth functions, and features that say nothing."""
    rng = np.random.default_rng(6)
    X = rng.uniform(-2.0, 2.0, size=(n, 12))
    logit = 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1] ** 2 - 1.3 + X[:, 2] * (X[:, 3] > 0.0)
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-logit))).astype(int)


def _groups(name: str, first: str = "g_") -> Callable[[], Rows]:
    """Numbers and columns of groups, one column for each level; raises FileNotFoundError where
    the file is not there.
    """

    def read() -> Rows:
        data = np.load(
            Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))
            / "stage2"
            / f"groups_{name}.npz"
        )
        columns = [data["features"].astype(np.float64)]
        for key in [k for k in data.files if k.startswith(first) or k in ("sex", "charge_degree")]:
            columns.append((data[key][:, None] == np.unique(data[key])).astype(np.float64))
        X = np.nan_to_num(np.column_stack(columns))
        return X, data["label"].astype(int)

    return read


#: The defaults of ``CalibratedClassifier`` were chosen on those marked, and judged on the others.
SETS = [
    Table("breast cancer", 300, _bundled(datasets.breast_cancer), chose=True),
    Table("wine", 90, _bundled(sklearn_datasets.load_wine), chose=True),
    Table(
        "made, 2 noisy classes", 800, _made(n_features=12, n_informative=6, flip_y=0.25), chose=True
    ),
    Table(
        "made, 4 classes",
        1000,
        _made(n_features=10, n_informative=6, n_classes=4, class_sep=0.8),
        chose=True,
    ),
    Table("made, additive", 1000, _additive, chose=True),
    Table(
        "made, rare event",
        1500,
        _made(n_features=10, n_informative=5, weights=[0.93], flip_y=0.03),
        chose=True,
    ),
    Table("bank", 1000, _groups("bank"), chose=True),
    Table("iris", 90, _bundled(sklearn_datasets.load_iris)),
    Table("digits", 700, _bundled(datasets.digits)),
    Table("made, credit", 2000, _credit),
    Table("made, rings", 600, _rings),
    Table(
        "made, 2 clear classes",
        300,
        _made(n_features=20, n_informative=10, class_sep=1.2, random_state=12),
    ),
    Table("adult", 1000, _groups("adult")),
    Table("law school", 1500, _groups("law_school")),
    Table("compas", 800, _groups("compas")),
]

#: Kind of model -> a new one.
MODELS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    "naive Bayes": GaussianNB,
    "random forest": lambda: RandomForestClassifier(50, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(50, random_state=0),
    "hist boosting": lambda: HistGradientBoostingClassifier(max_iter=60, random_state=0),
    "gradient boosting": lambda: GradientBoostingClassifier(n_estimators=60, random_state=0),
    "SVC": lambda: make_pipeline(StandardScaler(), SVC()),
    "LinearSVC": lambda: make_pipeline(StandardScaler(), LinearSVC()),
    "kNN": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
    "MLP": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((30,), max_iter=60, random_state=0)
    ),
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
}
