"""Out-of-fold predictions of candidates, for classes and for forecasts."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import special

from calibrant._numerics.bootstrap import table_codes
from calibrant._numerics.fixed_order import in_pieces, merge_rows, number_rows
from calibrant._numerics.logistic import SINGLE_ENTRIES
from calibrant._numerics.pooling import stacking_weights
from calibrant.core.conformal_forecast import averaged
from calibrant.core.forecast import Forecast
from calibrant.core.forecast_record import ForecastRecord
from calibrant.core.given import Workspace
from calibrant.core.groups import order_of
from calibrant.core.predictions import Predictions
from calibrant.metrics.forecast_scores import (
    continuous_ranked_probability_score,
    negative_log_likelihood,
)

__all__ = [
    "MOST_PIECES",
    "SCORES",
    "HeldOut",
    "HeldOutForecasts",
    "Pieces",
    "canonical",
    "canonical_forecasts",
]

#: Maximum number of copies of a merged row in the folds.
MOST_PIECES = 100
FLOOR = 1e-15
#: Decimals of the log-probabilities by which distinct rows are put in order.
DECIMALS = 8
#: Predictions are kept for all rows up to this number of entries, and for evenly spaced rows
#: beyond.
WHOLE_ENTRIES = 1_000_000


@dataclass(frozen=True)
class Pieces:
    """Distinct rows, split into pieces of about unit weight.

    Attributes
    ----------
    record : Predictions of the distinct rows, with their summed weights.
    row, weight : (m,) the row that each piece belongs to, and the piece's weight.
    given : (n,) the piece that each row passed to the fit belongs to.
    """

    record: Predictions
    row: np.ndarray
    weight: np.ndarray
    given: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """(m,) class position of each piece."""
        assert self.record.labels is not None
        return self.record.labels[self.row]

    @property
    def cluster(self) -> np.ndarray | None:
        """(m,) cluster number of each piece, or None."""
        return None if self.record.cluster is None else self.record.cluster[self.row]

    def outside(self, held: np.ndarray, read: np.ndarray) -> Predictions:
        """Return the record of the pieces of ``read`` outside ``held``, (m,) bool each."""
        fit = read & ~held
        mass = np.bincount(self.row[fit], self.weight[fit], len(self.record))
        fitted = np.flatnonzero(mass > 0.0)
        return self.record.take(fitted).weighted(mass[fitted])

    def inside(self, held: np.ndarray) -> tuple[Predictions, np.ndarray]:
        """Return the record of the pieces ``held``, (m,) bool, and the row of each."""
        rows, place = np.unique(self.row[held], return_inverse=True)
        return self.record.take(rows), place

    def split(self, held: np.ndarray) -> tuple[Predictions, Predictions, np.ndarray]:
        """Return records of the pieces outside and inside ``held``, (m,) bool, and the row of each
        of the latter.
        """
        return self.outside(held, held | ~held), *self.inside(held)


def canonical(record: Predictions) -> Pieces:
    """Merge equal rows (of one cluster) in an order of their own, so that repetition and row order
    change nothing.

    Discrete predictions, as of neighbours and forests, occur with several labels. Each merged row
    is then split over the folds in pieces of about one row: a fit without any hit of a prediction
    would be biased.
    """
    if record.values.size >= SINGLE_ENTRIES and record.kind == "probability":
        record = replace(record, values=record.values.astype(np.float32, copy=False))
    record = replace(record, workspace=Workspace.of_choice())
    apart = (
        record.labels
        if record.cluster is None
        else record.labels + record.n_classes * record.cluster
    )
    if record.X is not None or record.groups is not None:
        # Other inputs distinguish rows with equal predictions: such rows stay separate.
        apart = np.empty(len(record), dtype=np.intp)
        apart[order_of(record)] = np.arange(len(record))
    order, number = number_rows(record.log_probabilities, apart)
    number = _renumbered(record, order[np.diff(number, prepend=-1) > 0])[number]
    order, number = order[np.argsort(number, kind="stable")], np.sort(number)
    each, given = record.weights[order], np.empty(len(order), dtype=np.intp)
    weight = np.bincount(number, weights=each)
    merged = record.take(order[np.diff(number, prepend=-1) > 0]).weighted(weight)
    distinct, _ = merge_rows(merged.log_probabilities, np.zeros(len(merged)), weight)
    row, share = in_pieces(weight, MOST_PIECES if len(distinct) < len(merged) else 1)
    # Rows and pieces lie in one order: a row belongs to the piece that holds its middle.
    given[order] = np.searchsorted(np.cumsum(share), np.cumsum(each) - 0.5 * each)
    return Pieces(merged, row, share, np.minimum(given, len(row) - 1))


def _renumbered(record: Predictions, rows: np.ndarray) -> np.ndarray:
    """(m,) numbers of distinct rows of a record, in the order of the content of their classes and
    their predictions, so that neither the names nor the order of the classes changes a result.
    """
    logs, cluster = record.log_probabilities, record.cluster
    own = np.round(logs[rows, record.strata[rows]], DECIMALS)
    # Of all rows, because the first of equal rows does not have the weight of all.
    keys = np.array([own, record.class_number[rows]])
    order = np.lexsort(keys)
    if (keys[:, order[1:]] == keys[:, order[:-1]]).all(axis=0).any():
        # The content of whole rows costs more, and is needed for ties only.
        last = [] if cluster is None else [cluster[rows]]
        order = np.lexsort([*last, table_codes(np.round(logs[rows], DECIMALS)), *keys])
    out = np.empty(len(rows), dtype=np.intp)
    out[order] = np.arange(len(rows))
    return out


class HeldOut:
    """Summary of the out-of-fold predictions of J candidates.

    Parameters
    ----------
    pieces : Pieces
    n_candidates : J
    objective : "log_loss" or "brier"
    entries : whole predictions are kept for evenly spaced rows of at most so many entries
    """

    def __init__(
        self, pieces: Pieces, n_candidates: int, objective: str, entries: int = WHOLE_ENTRIES
    ) -> None:
        m, n_classes = len(pieces.row), pieces.record.n_classes
        self.weight: np.ndarray = pieces.weight
        self.labels: np.ndarray = pieces.labels
        self.cluster: np.ndarray | None = pieces.cluster
        self.n_classes: int = n_classes
        self.own: np.ndarray = np.ones((n_candidates, m))
        self.overlap: np.ndarray | None = (
            np.ones((n_candidates, n_candidates, m)) if objective == "brier" else None
        )
        self.spaced: np.ndarray = np.zeros(m, dtype=bool)
        self.spaced[:: -(-m * n_classes // entries)] = True
        self.whole: np.ndarray = np.ones((n_candidates, int(self.spaced.sum()), n_classes))
        #: The fold of each piece, and by fold the candidates fitted without it.
        self.folds: np.ndarray = np.zeros(m, dtype=np.intp)
        self.members: list[list[Any]] = []

    def add(self, held: np.ndarray, place: np.ndarray, predictions: Iterable[np.ndarray]) -> None:
        """Store all candidates' predictions, (h, K) each, of a fold: those of the pieces ``held``
        are their rows ``place``.
        """
        labels, spaced = self.labels[held], self.spaced[held]
        whole, before = np.flatnonzero(held[self.spaced]), []
        for j, Q in enumerate(predictions):
            self.own[j, held] = np.maximum(Q[place, labels], FLOOR)
            self.whole[j, whole] = np.maximum(Q[place[spaced]], FLOOR)
            if self.overlap is not None:
                before.append(Q)
                for i, other in enumerate(before):
                    self.overlap[i, j, held] = self.overlap[j, i, held] = np.einsum(
                        "nk,nk->n", other, Q
                    )[place]

    def only(self, kept: list[int]) -> "HeldOut":
        """Return the same for some of the candidates."""
        if len(kept) == len(self.own):
            return self
        out = object.__new__(HeldOut)
        vars(out).update(vars(self), own=self.own[kept], whole=self.whole[kept])
        out.overlap = None if self.overlap is None else self.overlap[np.ix_(kept, kept)]
        out.members = [[fold[j] for j in kept] for fold in self.members]
        return out

    @property
    def telling(self) -> float:
        """Rows of the rarest class, or twice those whose label the first candidate gives less than
        one half, whichever are fewer: few rows tell where a model errs if it hardly ever does.
        """
        rarest = float(np.bincount(self.labels, self.weight, self.n_classes).min())
        return min(rarest, 2.0 * float(self.weight[self.own[0] < 0.5].sum()))

    def stack(self) -> np.ndarray:
        """Return (J,) weights of the mean with the best score."""
        gram = (
            None if self.overlap is None else np.average(self.overlap, axis=2, weights=self.weight)
        )
        return stacking_weights(self.own, gram, self.weight)

    def losses(self, pool: np.ndarray) -> np.ndarray:
        """Return (m,) row scores of the mean with weights (J,)."""
        own = pool @ self.own
        if self.overlap is None:
            return -np.log(own)
        return np.einsum("i,ijm,j->m", pool, self.overlap, pool, optimize=True) - 2.0 * own + 1.0

    def unknown(self, pool: np.ndarray) -> float:
        """Return the score of the mean with weights (J,) for a row with every class
        equally likely.
        """
        mean, weight = np.tensordot(pool, self.whole, axes=1), self.weight[self.spaced]
        if self.overlap is None:
            return -float(np.average(np.log(mean).mean(axis=1), weights=weight))
        return (
            float(np.average(np.einsum("nk,nk->n", mean, mean), weights=weight))
            - 2.0 / self.n_classes
            + 1.0
        )


SCORES: dict[Any, Any] = {
    "nll": negative_log_likelihood,
    "crps": continuous_ranked_probability_score,
}
#: Value of a nat in CRPS, as a share of the mean CRPS. If the std of a normal forecast is wrong by
#: a factor exp(d), the NLL is d^2 nats above its minimum and the CRPS a quarter of d^2 times its
#: own, to second order.
NAT = 0.25
#: Levels at which two forecasts are compared for equality.
COMPARED_AT: np.ndarray = special.ndtri(
    np.array([0.001, 0.01, 0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95, 0.99, 0.999])
)


class HeldOutForecasts:
    """Out-of-fold forecasts of J candidates for m rows.

    Parameters
    ----------
    record : ForecastRecord of the m rows
    folds : (m,) number of each row's fold
    said : J lists of forecasts, one a fold
    objective : "nll" or "crps"
    """

    def __init__(
        self,
        record: ForecastRecord,
        folds: np.ndarray,
        said: Sequence[Sequence[Forecast]],
        objective: Literal["nll", "crps"],
    ) -> None:
        assert record.y is not None
        self.weight: np.ndarray = record.weights
        self.y: np.ndarray = record.y
        self.said: Sequence[Sequence[Forecast]] = said
        self.objective: Literal["nll", "crps"] = objective
        self.rows: list[np.ndarray] = [np.flatnonzero(folds == k) for k in range(len(said[0]))]
        self.own: np.ndarray = np.array(
            [self._losses([one], np.ones(1), objective) for one in said]
        )
        self.nat: float = (
            1.0
            if objective == "nll"
            else NAT * float(np.average(self.own, axis=1, weights=self.weight).min())
        )

    def only(self, kept: np.ndarray) -> "HeldOutForecasts":
        """Return the same for some of the candidates."""
        out = copy(self)
        out.said, out.own = [self.said[j] for j in kept.tolist()], self.own[kept]
        return out

    def _losses(self, said: Any, weights: np.ndarray, score: str) -> np.ndarray:
        out = np.empty(len(self.y))
        for k, rows in enumerate(self.rows):
            forecast = averaged([one[k] for one in said], weights)
            out[rows] = SCORES[score].losses_of(ForecastRecord(forecast, self.y[rows]))
        return out

    def losses(self, pool: np.ndarray, score: str | None = None) -> np.ndarray:
        """Return (m,) row scores of the mean with weights (J,), by default in the objective."""
        score, members = score or self.objective, np.flatnonzero(pool).tolist()
        if len(members) == 1 and score == self.objective:
            return self.own[members[0]]
        return self._losses([self.said[j] for j in members], pool[members], score)


def canonical_forecasts(record: ForecastRecord) -> ForecastRecord:
    """Merge equal rows in an order of their own, so that repetition and row order change nothing.

    Discrete forecasts occur with several outcomes. Each merged row is then split over the folds in
    pieces of about one row: a fit without any row of one outcome would be biased.
    """
    assert record.y is not None
    apart = [] if record.cluster is None else [record.cluster]
    keys = np.column_stack([*apart, record.forecast.at(COMPARED_AT), record.y])
    order = np.lexsort(keys.T[::-1])
    differs = np.diff(keys[order], axis=0) != 0.0
    new = np.append(True, differs.any(axis=1))
    weight = np.bincount(np.cumsum(new) - 1, weights=record.weights[order])
    discrete = (new[1:] & ~differs[:, :-1].any(axis=1)).any()
    pieces = np.clip(np.round(weight), 1, MOST_PIECES if discrete else 1).astype(int)
    merged = replace(record, weight=None).take(np.repeat(order[new], pieces))
    return replace(merged, weight=np.repeat(weight / pieces, pieces))
