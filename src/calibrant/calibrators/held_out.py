"""Candidates fitted in folds, and their out-of-fold predictions, for every automatic choice."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import special

from calibrant._numerics.bootstrap import table_codes
from calibrant._numerics.fixed_order import in_pieces, merge_rows, number_rows
from calibrant._numerics.logistic import SINGLE_ENTRIES
from calibrant._numerics.pooling import stacking_weights
from calibrant.calibrators.candidates import Candidate
from calibrant.core.conformal_forecast import averaged
from calibrant.core.folds import fit_clone
from calibrant.core.forecast import Forecast
from calibrant.core.forecast_record import ForecastRecord
from calibrant.core.given import Workspace
from calibrant.core.groups import order_of
from calibrant.core.predictions import Predictions
from calibrant.errors import CalibrationWarning, InputError
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
    "fitted",
    "tried",
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
    piece : (n,) the piece that each row passed to the fit belongs to.
    """

    record: Predictions
    row: np.ndarray
    weight: np.ndarray
    piece: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """(m,) class position of each piece."""
        assert self.record.labels is not None
        return self.record.labels[self.row]

    @property
    def cluster(self) -> np.ndarray | None:
        """(m,) cluster number of each piece, or None."""
        return None if self.record.cluster is None else self.record.cluster[self.row]

    def outside(self, left_out: np.ndarray, read: Any = True) -> Predictions:
        """Return the record of the pieces of ``read`` outside ``left_out``, (m,) bool each."""
        fit = read & ~left_out
        mass = np.bincount(self.row[fit], self.weight[fit], len(self.record))
        fitted = np.flatnonzero(mass > 0.0)
        return self.record.take(fitted).weighted(mass[fitted])

    def inside(self, some: np.ndarray) -> tuple[Predictions, np.ndarray]:
        """Return the record of the pieces ``some``, (m,) bool, and the row of each."""
        rows, place = np.unique(self.row[some], return_inverse=True)
        return self.record.take(rows), place


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
    each, piece = record.weights[order], np.empty(len(order), dtype=np.intp)
    weight = np.bincount(number, weights=each)
    merged = record.take(order[np.diff(number, prepend=-1) > 0]).weighted(weight)
    distinct, _ = merge_rows(merged.log_probabilities, np.zeros(len(merged)), weight)
    row, share = in_pieces(weight, MOST_PIECES if len(distinct) < len(merged) else 1)
    # Rows and pieces lie in one order: a row belongs to the piece that holds its middle.
    piece[order] = np.searchsorted(np.cumsum(share), np.cumsum(each) - 0.5 * each)
    return Pieces(merged, row, share, np.minimum(piece, len(row) - 1))


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
    """Summary of the out-of-fold predictions of J candidates for classes.

    Parameters
    ----------
    pieces : Pieces
    candidates : the J candidates, the first of which is no calibration
    objective : "log_loss" or "brier"
    entries : whole predictions are kept for evenly spaced rows of at most so many entries
    """

    def __init__(
        self,
        pieces: Pieces,
        candidates: Sequence[Candidate],
        objective: str,
        entries: int = WHOLE_ENTRIES,
    ) -> None:
        J, m, n_classes = len(candidates), len(pieces.row), pieces.record.n_classes
        self.candidates: list[Candidate] = [*candidates]
        self.weight: np.ndarray = pieces.weight
        self.labels: np.ndarray = pieces.labels
        self.cluster: np.ndarray | None = pieces.cluster
        self.n_classes: int = n_classes
        self.objective: str = objective
        self.likelihood: np.ndarray = np.ones((J, m))
        self.overlap: np.ndarray | None = np.ones((J, J, m)) if objective == "brier" else None
        self.spaced: np.ndarray = np.arange(m) % -(-m * n_classes // entries) == 0
        self.whole: np.ndarray = np.ones((J, int(self.spaced.sum()), n_classes))
        #: The fold of each piece, and by fold the candidates fitted without it.
        self.folds: np.ndarray = np.zeros(m, dtype=np.intp)
        self.members: list[list[Any]] = []

    def add(self, rows: np.ndarray, place: np.ndarray, predictions: Iterable[np.ndarray]) -> None:
        """Store all candidates' predictions, (h, K) each, of a fold: those of the pieces ``rows``
        are their rows ``place``.
        """
        labels, spaced = self.labels[rows], self.spaced[rows]
        whole, before = np.flatnonzero(rows[self.spaced]), []
        for j, Q in enumerate(predictions):
            self.likelihood[j, rows] = np.maximum(Q[place, labels], FLOOR)
            self.whole[j, whole] = np.maximum(Q[place[spaced]], FLOOR)
            if self.overlap is not None:
                before.append(Q)
                for i, other in enumerate(before):
                    both = np.einsum("nk,nk->n", other, Q)[place]
                    self.overlap[i, j, rows] = self.overlap[j, i, rows] = both

    def only(self, chosen: list[int]) -> "HeldOut":
        """Return the same for some of the candidates."""
        if len(chosen) == len(self.candidates):
            return self
        out = copy(self)
        out.candidates = [self.candidates[j] for j in chosen]
        out.likelihood, out.whole = self.likelihood[chosen], self.whole[chosen]
        out.overlap = None if self.overlap is None else self.overlap[np.ix_(chosen, chosen)]
        out.members = [[fold[j] for j in chosen] for fold in self.members]
        return out

    @property
    def grouped(self) -> list[bool]:
        """(J,) whether each candidate corrects groups."""
        return [one.tags.uses_groups for one in self.candidates]

    @property
    def telling(self) -> float:
        """Rows of the rarest class, or twice those whose label the first candidate gives less than
        one half, whichever are fewer: few rows tell where a model errs if it hardly ever does.
        """
        rarest = float(np.bincount(self.labels, self.weight, self.n_classes).min())
        return min(rarest, 2.0 * float(self.weight[self.likelihood[0] < 0.5].sum()))

    def stack(self) -> np.ndarray:
        """Return (J,) weights of the mean with the best score."""
        gram = (
            None if self.overlap is None else np.average(self.overlap, axis=2, weights=self.weight)
        )
        return stacking_weights(self.likelihood, gram, self.weight)

    def losses(self, pool: np.ndarray) -> np.ndarray:
        """Return (m,) row scores of the mean with weights (J,)."""
        likelihood = pool @ self.likelihood
        if self.overlap is None:
            return -np.log(likelihood)
        squares = np.einsum("i,ijm,j->m", pool, self.overlap, pool, optimize=True)
        return squares - 2.0 * likelihood + 1.0

    def unknown(self, pool: np.ndarray) -> float:
        """Return the score of the mean with weights (J,) for a row with every class
        equally likely.
        """
        mean, weight = np.tensordot(pool, self.whole, axes=1), self.weight[self.spaced]
        if self.overlap is None:
            return -float(np.average(np.log(mean).mean(axis=1), weights=weight))
        squares = np.average(np.einsum("nk,nk->n", mean, mean), weights=weight)
        return float(squares) - 2.0 / self.n_classes + 1.0


def fitted(candidates: Iterable[Candidate], record: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the candidates fitted on a record by name, and the failures' reasons by name."""
    members, notes = {}, {}
    for candidate in candidates:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)
                members[candidate.name] = fit_clone(candidate.make(), record)
        except (InputError, np.linalg.LinAlgError) as error:
            notes[candidate.name] = str(error)
    return members, notes


def tried(
    candidates: Sequence[Candidate],
    pieces: Pieces,
    folds: np.ndarray,
    objective: str,
    progress: Callable[[str], Any] = str,
    n_scored: int | None = None,
) -> tuple[HeldOut, dict[str, str]]:
    """Return the summary of the candidates' out-of-fold predictions, and notes; ``folds`` is the
    fold number of each piece, (m,), or -1 for pieces that no fit reads.

    The first candidate cannot fail; another that fails, on all rows or in a fold, is left out with
    a note. If only the first ``n_scored`` folds are predicted, none is fitted on all rows.
    """
    n_folds = int(1 + folds.max())
    n_scored = n_scored or n_folds
    scored = (folds >= 0) & (folds < n_scored)
    # With few folds predicted, a fit on all rows beside those of the folds would cost as much.
    whole = n_scored == n_folds
    first = pieces.record if whole else pieces.outside(folds == 0, folds >= 0)
    members, notes = fitted(candidates, first)
    del first
    candidates = [one for one in candidates if one.name in members]
    evidence = replace(pieces, row=pieces.row[scored], weight=pieces.weight[scored])
    held_out = HeldOut(evidence, candidates, objective)
    for k in range(n_scored):
        again, failures = members, {}
        if whole or k > 0:
            again, failures = fitted(candidates, pieces.outside(folds == k, folds >= 0))
        notes.update(failures)
        record, place = pieces.inside(folds == k)
        # A failed one has the raw predictions as placeholders, which are dropped below.
        ready = [again.get(one.name, members[candidates[0].name]) for one in candidates]
        held_out.add(folds[scored] == k, place, (one.predict_record(record) for one in ready))
        held_out.members.append(ready)
        progress(f"fold {k + 1} of {n_scored}")
    good = [j for j, one in enumerate(candidates) if one.name not in notes]
    return held_out.only(good), notes


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
    forecasts : J lists of forecasts, one a fold
    objective : "nll" or "crps"
    """

    def __init__(
        self,
        record: ForecastRecord,
        folds: np.ndarray,
        forecasts: Sequence[Sequence[Forecast]],
        objective: Literal["nll", "crps"],
    ) -> None:
        assert record.y is not None
        self.weight: np.ndarray = record.weights
        self.y: np.ndarray = record.y
        self.forecasts: Sequence[Sequence[Forecast]] = forecasts
        self.objective: Literal["nll", "crps"] = objective
        self.rows: list[np.ndarray] = [np.flatnonzero(folds == k) for k in range(len(forecasts[0]))]
        self.scores: np.ndarray = np.array(
            [self._losses([one], np.ones(1), objective) for one in forecasts]
        )

    @property
    def nat(self) -> float:
        """Value of a nat in the objective."""
        means = np.average(self.scores, axis=1, weights=self.weight)
        return 1.0 if self.objective == "nll" else NAT * float(means.min())

    def only(self, chosen: list[int]) -> "HeldOutForecasts":
        """Return the same for some of the candidates."""
        out = copy(self)
        out.forecasts, out.scores = [self.forecasts[j] for j in chosen], self.scores[chosen]
        return out

    def _losses(self, forecasts: Any, weights: np.ndarray, score: str) -> np.ndarray:
        out = np.empty(len(self.y))
        for k, rows in enumerate(self.rows):
            forecast = averaged([one[k] for one in forecasts], weights)
            out[rows] = SCORES[score].losses_of(ForecastRecord(forecast, self.y[rows]))
        return out

    def losses(self, pool: np.ndarray, score: str | None = None) -> np.ndarray:
        """Return (m,) row scores of the mean with weights (J,), by default in the objective."""
        score, members = score or self.objective, np.flatnonzero(pool).tolist()
        if len(members) == 1 and score == self.objective:
            return self.scores[members[0]]
        return self._losses([self.forecasts[j] for j in members], pool[members], score)


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
