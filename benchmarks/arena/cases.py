"""The cases: stored outputs, and models trained here. A data set or a model is one line."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.arena import class_sets, datasets, network_sets, outputs, table_sets, tabular
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

SIZES = (100, 250, 1_000, 4_000)
#: Of the tabular sets, most of which are small.
TABULAR_SIZES = (100, 250, 1_000)
STORED_FOLDERS = ("network_outputs", "classifier_outputs")

#: name -> (makes the data, rows in the pool).
DATASETS = {
    "breast-cancer": (datasets.breast_cancer, 569),
    "digits": (datasets.digits, 1_797),
    "kitti-binary": (partial(datasets.kitti, multiclass=False), 9_090),
    "kitti-5": (partial(datasets.kitti, multiclass=True), 9_000),
    "mnist": (datasets.mnist, 10_000),
    "gtsrb": (datasets.gtsrb, 8_000),
    "kin8nm-2": (partial(datasets.uci, "kin8nm", 2), 8_192),
    "kin8nm-3": (partial(datasets.uci, "kin8nm", 3), 8_192),
    "kin8nm-5": (partial(datasets.uci, "kin8nm", 5), 8_192),
    "power-plant-2": (partial(datasets.uci, "power-plant", 2), 9_568),
    "power-plant-3": (partial(datasets.uci, "power-plant", 3), 9_568),
    "power-plant-5": (partial(datasets.uci, "power-plant", 5), 9_568),
}
#: The models, made for speed; SVM's margins are read as logits, one against the rest.
MODELS = {
    "random-forest": lambda: RandomForestClassifier(100, random_state=0),
    "extra-trees": lambda: ExtraTreesClassifier(100, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(
        max_iter=40, early_stopping=False, random_state=0
    ),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
    "mlp": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((100,), max_iter=60, random_state=0)
    ),
    "naive-bayes": lambda: make_pipeline(StandardScaler(), GaussianNB(var_smoothing=1e-3)),
    "k-nn": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    "svm": lambda: make_pipeline(StandardScaler(), SVC(C=1.0)),
}


@dataclass(frozen=True)
class Case:
    """One (data set, model). ``source`` is an npz file, an ``Output``, or the (data, model) that
    makes the predictions, each by its name here or as a function.
    """

    name: str
    group: str
    source: Any
    rows: int
    allowed: tuple[int, ...] = SIZES

    @property
    def sizes(self):
        """Calibration sizes that half the rows allow; all of the half where that is less than
        the smallest.
        """
        return tuple(size for size in self.allowed if size <= self.rows // 2) or (self.rows // 2,)


@dataclass(frozen=True)
class Run:
    """One case at one calibration size with one seed: what every calibrator is fitted on and
    tested on.
    """

    case: Case
    size: int
    seed: int

    @property
    def name(self):
        """Folder-safe and unique."""
        return f"{self.case.name}~{self.size}~{self.seed}"


def in_folder(folder, group=None):
    """A case for each npz file in a folder that holds ``probabilities`` and ``labels``."""
    import numpy as np

    cases = []
    for path in sorted(Path(folder).glob("*.npz")):
        with np.load(path, allow_pickle=False) as z:
            if {"probabilities", "labels"} <= set(z.files):
                cases.append(Case(path.stem, group or Path(folder).name, path, len(z["labels"])))
    return cases


def stored():
    """The stored outputs of other people's networks and classifiers; none where the folder is
    absent.
    """
    return [case for folder in STORED_FOLDERS for case in in_folder(datasets.DATA / folder)]


def trained():
    """Every model on every data set, in the order data sets, models."""
    return [
        Case(f"{data}+{model}", data, (data, model), rows)
        for data, (_, rows) in DATASETS.items()
        for model in MODELS
    ]


def tabular_cases(set_aside=None):
    """Two models on every tabular set that is there, both by its name; ``set_aside`` keeps one
    half (True: the one that is judged once).
    """
    sets = [
        name
        for name in tabular.names()
        if set_aside is None or tabular.set_aside(name) == set_aside
    ]
    return [
        Case(f"tabular-{name}+{model}", name, (name, model), tabular.rows_of(name), TABULAR_SIZES)
        for name in sets
        for model in (
            list(MODELS)[(tabular.drawn(name, 1) + step) % len(MODELS)] for step in (0, 3)
        )
    ]


def class_cases():
    """A model, by the set's name, on every tabular set of more than two classes."""
    sets = [
        (name, list(MODELS)[tabular.drawn(name, 1) % len(MODELS)]) for name in class_sets.names()
    ]
    return [
        Case(
            f"classes-{name}+{model}", name, (name, model), class_sets.rows_of(name), TABULAR_SIZES
        )
        for name, model in sets
    ]


def table_cases(half):
    """Two models on every table of two classes of a half, one on every other, by the name."""
    return [
        Case(
            f"{half}-{table_sets.kind(name)}-{name}+{model}",
            name,
            (partial(table_sets.load, name), model),
            table_sets.rows_of(name),
        )
        for name in table_sets.names(half)
        for model in (
            list(MODELS)[(tabular.drawn(name, 1) + step) % len(MODELS)]
            for step in ((0, 3) if table_sets.kind(name) == "two" else (0,))
        )
    ]


def network_cases(half):
    """The networks of many classes of a half."""
    return [
        Case(
            f"{half}-network-{name}",
            name,
            (partial(network_sets.load, name), partial(network_sets.model, name)),
            network_sets.POOL,
            network_sets.SIZES,
        )
        for name in network_sets.names(half)
    ]


def drawn_runs(half, seeds=1):
    """Runs of a half of the tables of Rdatasets, then of the networks trained here."""
    return of_cases(table_cases(half) + network_cases(half), seeds)


def output_cases():
    """The stored outputs of larger models."""
    return [
        Case(
            name,
            name,
            outputs.OUTPUTS[name],
            outputs.OUTPUTS[name].rows,
            outputs.OUTPUTS[name].sizes,
        )
        for name in outputs.there()
    ]


def grid(full=False, seeds=None):
    """The runs: by default one seed and at most 150 runs, with ``full`` everything and 5 seeds.

    The default takes stored outputs at every size, and of each data set every second model, the odd
    and the even ones by turns, each at two calibration sizes, the sizes by turns. Seeds vary
    slowest, so that a run cut short has whole seeds first.
    """
    if full:
        pairs = [(case, size) for case in stored() + trained() for size in case.sizes]
    else:
        pairs = [(case, size) for case in stored() for size in case.sizes]
        for d, data in enumerate(DATASETS):
            own = [case for case in trained() if case.group == data]
            for m in range(d % 2, len(own), 2):
                sizes, first = own[m].sizes, d + m // 2
                pairs += [
                    (own[m], size)
                    for size in sorted({sizes[first % len(sizes)], sizes[(first + 2) % len(sizes)]})
                ]
    return [
        Run(case, size, seed) for seed in range(seeds or (5 if full else 1)) for case, size in pairs
    ]


def runs_of(folder, seeds=2):
    """Runs for a folder of npz files, at every size that the rows allow."""
    return of_cases(in_folder(folder), seeds)


def tabular_runs(set_aside, seeds=1):
    """Runs of one half of the tabular sets, at every size that the rows allow, 100 among them."""
    return of_cases(tabular_cases(set_aside), seeds)


def of_cases(found, seeds=1):
    """Runs of cases at every size that their rows allow."""
    return [Run(case, size, seed) for seed in range(seeds) for case in found for size in case.sizes]


#: What ``--part`` names: (runs of so many seeds).
PARTS = {
    "choose": partial(tabular_runs, False),
    "aside": partial(tabular_runs, True),
    "classes": lambda seeds=1: of_cases(class_cases(), seeds),
    "outputs": lambda seeds=1: of_cases(output_cases(), seeds),
    "tables": partial(drawn_runs, "tables"),
    "fresh": partial(drawn_runs, "fresh"),
}
#: The parts that the page is made of: nothing, or nearly nothing, was chosen on them.
JUDGED = ("aside", "classes", "outputs", "fresh")
PARTS["judged"] = lambda seeds=1: [run for part in JUDGED for run in PARTS[part](seeds=seeds)]
