"""Scores of a judge for every row and labels of some: how they are read, put in order by their
content, and cross-fitted.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._numerics.bootstrap import numbered_by_content, row_codes, uniform_of_rows
from calibrant.calibrators.maps.isotonic import Isotonic
from calibrant.core.arrays import to_array
from calibrant.core.estimators import require_seed
from calibrant.core.groups import Groups, coded, require_names
from calibrant.core.labels import SoftLabels, label_array
from calibrant.errors import InputError

__all__ = [
    "LEAST",
    "Sample",
    "cross_fitted",
    "fitted_curve",
    "isotonic_of_shares",
    "read_names",
    "read_sample",
]

#: Fewest labels of a rate.
LEAST = 10
#: Folds in which a judge is calibrated.
FOLDS = 5
#: Largest score, whose square is finite.
LARGEST = 1e100


@dataclass(frozen=True)
class Sample:
    """Scores (N,), labels (nan if unknown), probabilities of a label, clusters or None, the bias of
    the position, and a further column or None: lengths, or numbers of models.
    """

    score: np.ndarray
    label: np.ndarray
    chance: np.ndarray
    cluster: np.ndarray | None
    bias: float | None = None
    beside: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.label)

    @property
    def seen(self) -> np.ndarray:
        return np.isfinite(self.label)

    def of(self, rows: np.ndarray) -> "Sample":
        cluster, beside = (
            None if column is None else column[rows] for column in (self.cluster, self.beside)
        )
        return Sample(
            self.score[rows], self.label[rows], self.chance[rows], cluster, self.bias, beside
        )


def read_sample(
    judge: Any,
    labels: Any,
    chance: Any = None,
    cluster: Any = None,
    swapped: Any = None,
    random_state: int = 0,
    length: Any = None,
    unit: str = "cluster",
) -> Sample:
    """The rows in an order that depends on their content alone, so that no result depends on the
    order in which they are passed.
    """
    require_seed("random_state", random_state)
    score = _scores(judge)
    n = len(score)
    label = _labels(labels, n)
    known = ~np.isnan(label)
    pi = np.full(n, known.mean()) if chance is None else _column(chance, "chance", n)
    _refuse(
        ~((pi > 0.0) & (pi <= 1.0)),
        pi,
        "chance",
        "probabilities above 0, up to 1",
        "a row that could not be labelled belongs to no sample",
    )
    index = None if cluster is None else read_names(cluster, unit, n).index
    if index is not None and len(np.unique(index[known])) < 2:
        raise InputError(
            f"{unit} must name two or more with labels; all {known.sum()} labels are in one; label"
            " rows of others."
        )
    score, bias = (score, None) if swapped is None else _both_orders(score, swapped)
    size = None if length is None else _column(length, "length", n)
    if size is not None:
        _refuse(~np.isfinite(size), size, "length", "finite", "measure every answer")
    sample = _in_order(Sample(score, label, pi, index, bias, size))
    return sample if score.ndim == 1 else _pooled(sample, random_state)


def _scores(judge: Any) -> np.ndarray:
    """(N,) or (N, J) finite scores of every row."""
    score = _numbers(judge, "judge")
    if score.ndim not in (1, 2) or not score.size:
        raise InputError(f"judge must be (N,) or (N, J) scores; got shape {score.shape}.")
    if not np.isfinite(score).all():
        raise InputError(
            f"judge must score every row; {(~np.isfinite(score)).sum():,} scores are missing; score"
            " them, or drop those rows by a rule that ignores the labels."
        )
    if np.abs(score).max() > LARGEST:
        raise InputError(
            f"judge must be at most {LARGEST:g} in size; got {np.abs(score).max():g}; rescale it."
        )
    return score


def _labels(labels: Any, n: int) -> np.ndarray:
    """(n,) labels from 0 to 1, nan where there is none; enough of them."""
    label = _numbers(labels, "labels")
    if label.shape != (n,):
        raise InputError(
            f"labels must be {n} numbers, one for each score of judge; got shape {label.shape};"
            " pass nan for a row without a label."
        )
    known = ~np.isnan(label)
    outside = known & ~((label >= 0.0) & (label <= 1.0))
    _refuse(outside, label, "labels", "numbers from 0 to 1", "nan stands for no label")
    if known.sum() < LEAST:
        raise InputError(f"labels must hold {LEAST} labels or more; got {known.sum()}; label more.")
    return label


def _both_orders(score: np.ndarray, swapped: Any) -> tuple[np.ndarray, float]:
    """(mean score of both orders, mean score of the first order less that of the second)."""
    second = _numbers(swapped, "swapped")
    if second.shape != score.shape or not np.isfinite(second).all():
        raise InputError(
            f"swapped must hold a finite score for each of judge, of shape {score.shape}; got"
            f" shape {second.shape} with {int((~np.isfinite(second)).sum()):,} missing."
        )
    for name, one in (("judge", score), ("swapped", second)):
        outside = (one < 0.0) | (one > 1.0)
        if outside.any():
            raise InputError(
                f"{name} must be probabilities from 0 to 1, as swapped is passed; got"
                f" {one[outside][0]:g}; pass the chance that the first answer is better."
            )
    bias = math.fsum((score - second).ravel().tolist()) / score.size
    return 0.5 * (score + second), bias


def _numbers(values: Any, name: str) -> np.ndarray:
    if isinstance(values, SoftLabels):
        raise InputError(
            f"{name} must be one number a row; got SoftLabels; pass the share of right answers"
            " of each row, from 0 to 1."
        )
    return to_array(values, name).astype(np.float64)


def _column(values: Any, name: str, n: int) -> np.ndarray:
    column = _numbers(values, name)
    if column.shape != (n,):
        raise InputError(
            f"{name} must be {n} numbers, one for each score of judge; got shape {column.shape}."
        )
    return column


def _refuse(bad: np.ndarray, values: np.ndarray, name: str, rule: str, hint: str) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{name} must be {rule}; row {row} is {values[row]:g}; {hint}.")


def read_names(values: Any, name: str, n: int) -> Groups:
    """The groups of n rows by the text of their names: 1 and "1" are one."""
    labels = label_array(values, name)
    if labels.shape != (n,):
        raise InputError(
            f"{name} must name each of the {n} rows of judge; got shape {labels.shape}."
        )
    groups = coded(labels, name)
    require_names(groups, name)
    names, place = np.unique([str(one) for one in groups.names.tolist()], return_inverse=True)
    return Groups(names, place[groups.index])


def _in_order(sample: Sample) -> Sample:
    """The rows sorted by their content; clusters are numbered by that of their rows."""
    label = np.where(sample.seen, sample.label, -1.0)
    columns = [sample.chance, label, *np.atleast_2d(sample.score.T)]
    if sample.cluster is not None:
        # Each column has marks of its own, since the code of a row ignores their order.
        marks = [uniform_of_rows(row_codes(one[:, None]), k) for k, one in enumerate(columns)]
        mark = uniform_of_rows(row_codes(np.column_stack(marks)), 0)
        place = numbered_by_content(sample.cluster, mark, np.ones(len(mark)))
        columns.append(place.astype(np.float64))
        sample = replace(sample, cluster=place)
    # The further column comes last: an estimate without it has the same bits.
    beside = [] if sample.beside is None else [sample.beside]
    return sample.of(np.lexsort([*beside, *columns]))


def cross_fitted(sample: Sample, random_state: int, fit: Callable[[Sample], Any]) -> Sample:
    """The sample with scores from ``fit(labelled rows of other folds)(scores)``; folds keep
    clusters whole, and have as many clusters, or rows, with labels.
    """
    seen = sample.seen
    unit = np.arange(len(seen)) if sample.cluster is None else sample.cluster
    labelled = np.bincount(unit, weights=seen) > 0.0
    drawn = np.random.default_rng(random_state).random(len(labelled))
    fold = np.empty(len(labelled), dtype=np.intp)
    n_folds = min(FOLDS, int(labelled.sum()))
    fold[np.lexsort((drawn, ~labelled))] = np.arange(len(labelled)) % n_folds
    score = np.empty(len(seen))
    for k in range(n_folds):
        held = fold[unit] == k
        score[held] = fit(sample.of(seen & ~held))(sample.score[held])
    return replace(sample, score=score)


def fitted_curve(part: Sample) -> Isotonic:
    """Isotonic regression of the labels of a sample on its scores."""
    weight = 1.0 / part.chance
    return isotonic_of_shares(part.score, part.label, weight / weight.mean())


def isotonic_of_shares(score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> Isotonic:
    """Isotonic regression of shares of right answers (n,) on scores."""
    shares = SoftLabels(np.column_stack([1.0 - hit, hit]))
    return Isotonic().fit(score, shares, sample_weight=weight)


def _pooled(sample: Sample, random_state: int) -> Sample:
    """Several judges as one, by a ridge of one label's worth."""

    def fit(part: Sample) -> Any:
        weight = 1.0 / part.chance
        centre, spread = part.score.mean(axis=0), part.score.std(axis=0) + 1e-12
        X = np.column_stack([np.ones(len(part.label)), (part.score - centre) / spread])
        ridge = np.diag(np.append(0.0, np.full(X.shape[1] - 1, weight.mean())))
        slope = np.linalg.solve((X.T * weight) @ X + ridge, (X.T * weight) @ part.label)

        def predict(score: np.ndarray) -> np.ndarray:
            return slope[0] + (score - centre) / spread @ slope[1:]

        return predict

    return cross_fitted(sample, random_state, fit)
