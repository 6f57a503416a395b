"""Evidence of every automatic choice from rows held out: pools of candidates, tables and
sentences, and predictions of the rows of a fit out of its own folds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from scipy import special

from calibrant._numerics.logistic import softmax
from calibrant._numerics.pooling import exponential_weights
from calibrant.calibrators.candidates import ONE_CLASS
from calibrant.calibrators.held_out import (
    FLOOR,
    WHOLE_ENTRIES,
    HeldOut,
    HeldOutForecasts,
    Pieces,
    fitted,
    tried,
)
from calibrant.calibrators.trust import (
    beside_nothing,
    score_difference,
    trusted_share,
    with_one_row_more,
)
from calibrant.core.folds import folds_of
from calibrant.core.given import Workspace
from calibrant.core.predictions import Predictions

__all__ = [
    "LEAST_WEIGHT",
    "PAIRWISE_ROWS",
    "Choice",
    "EvidencePool",
    "FoldFits",
    "choice_told",
    "evidence_pool",
    "forecast_pool",
    "gain_in_errors",
    "learned",
    "table_of",
]

# -- Pools -----------------------------------------------------------------------------------------

#: Members below this weight are left out of the average.
LEAST_WEIGHT = 0.01
#: The log loss and the Brier score are mixable at a learning rate of 1; this is half of it, because
#: candidates fitted on the same rows have correlated errors.
RATE = 0.5
#: Prior weight of no calibration; the other candidates share the rest.
PRIOR_OF_NOTHING = 0.5
#: Prior weight of the candidates that use groups, if there are any; the others keep the rest in
#: their proportions.
PRIOR_OF_GROUPS = 0.5


@dataclass(frozen=True)
class EvidencePool:
    """Averaged candidates with their weights, the row scores (J, m) of all candidates, and the
    pool's gain in standard errors.
    """

    members: list[int]
    weights: np.ndarray
    losses: np.ndarray
    gain_in_errors: float

    @classmethod
    def of_nothing(cls, losses: np.ndarray) -> "EvidencePool":
        """Return the pool of no calibration alone."""
        return cls([0], np.ones(1), losses, 0.0)

    @classmethod
    def in_part(
        cls, pool: np.ndarray, share: float, losses: np.ndarray, gain: float
    ) -> "EvidencePool":
        """Return the pool with weights (J,), of which only ``share`` is used."""
        chosen = np.flatnonzero(pool).tolist()
        return cls(*beside_nothing(chosen, pool[chosen], share, LEAST_WEIGHT), losses, gain)

    @property
    def shares(self) -> np.ndarray:
        """(J,) weight of every candidate."""
        return np.bincount(self.members, self.weights, len(self.losses))


def evidence_pool(held: HeldOut, n: float, random_state: int) -> EvidencePool:
    """Pool candidates, the first of which is no calibration, on rows whose weights sum to ``n``."""
    grouped = held.grouped
    identity = np.eye(len(grouped))
    losses = np.stack([held.losses(one) for one in identity])
    if len(losses) == 1:
        return EvidencePool.of_nothing(losses)
    stack = held.stack()
    stacked = held.losses(stack)
    effect = _design_effect(held, losses[0], stacked)
    # The stack is one more candidate, whose weight its members share.
    *weights, shared = exponential_weights(
        np.vstack([losses, stacked]),
        held.weight / effect,
        RATE,
        random_state,
        prior=_prior(np.append(grouped, False)),
    )
    pool, n = np.array(weights) + shared * stack, n / effect
    pool = np.where(pool >= LEAST_WEIGHT, pool, 0.0) / pool[pool >= LEAST_WEIGHT].sum()
    gain, error = score_difference(losses[0], held.losses(pool), held.weight, held.cluster)
    unknown = held.unknown(identity[0]) - held.unknown(pool)
    gain, error = with_one_row_more(gain, error, unknown, n)
    share = trusted_share(gain, error, n, held.telling / effect)
    return EvidencePool.in_part(pool, share, losses, _in_errors(gain, error))


def _in_errors(gain: float, error: float) -> float:
    return gain / error if error > 0.0 else np.inf * gain if gain else 0.0


def _design_effect(held: HeldOut, before: np.ndarray, after: np.ndarray) -> float:
    """Return the number of clustered rows that carry the evidence of one independent row, at least
    1: the ratio of the variances of a gain.
    """
    if held.cluster is None:
        return 1.0
    _, clustered = score_difference(before, after, held.weight, held.cluster)
    _, single = score_difference(before, after, held.weight)
    return max((clustered / single) ** 2, 1.0) if single > 0.0 else 1.0


def _prior(grouped: np.ndarray) -> np.ndarray:
    """Return prior weights of the candidates and, at the end, of their stack."""
    free = np.full(len(grouped), (1.0 - PRIOR_OF_NOTHING) / (len(grouped) - 1.0))
    free[0] = PRIOR_OF_NOTHING
    if not grouped.any():
        return free
    free = np.where(grouped, 0.0, free)
    return np.where(
        grouped, PRIOR_OF_GROUPS / grouped.sum(), (1.0 - PRIOR_OF_GROUPS) * free / free.sum()
    )


#: Rate at which weights fall with the sum of the scores, in nats: of 1/4, 1/2 and 1 the best on the
#: development sets of the regression arena.
FORECAST_RATE = 0.25
#: Share of the mean gain in errors that counts. Of 0.3, 0.4, 0.5, 0.6, 1 and 2 the highest mean win
#: rate in five scores on the choosing half of the regression arena and its simulations, 564 runs;
#: 2 % of them were more than 0.5 % worse than no calibration in CRPS.
FORECAST_TRUST = 0.5
#: A row's gain in log loss counts up to this many nats: single outliers would dominate it. Of 0.5,
#: 1, 2, 4 and no limit, 2 and 4 are the best there by a little.
MOST_NATS = 2.0
#: The gain counts as at most this many errors above that in CRPS, so that no gain in log loss
#: outweighs a clear loss in CRPS. The choosing half does not distinguish 2 from no limit.
MOST_ABOVE_CRPS = 2.0


def forecast_pool(held: HeldOutForecasts) -> EvidencePool:
    """Pool candidates that change little on few rows, so that the weights need not ensure it.

    Their scores determine the weights. The pool's share is the normal probability of half of its
    mean gain over no calibration, in CRPS and in log loss, each in its standard errors, and at most
    2 above that in CRPS. This uses both with any objective, because the CRPS hardly shows the
    tails.
    """
    losses = held.scores
    if len(losses) == 1:
        return EvidencePool.of_nothing(losses)
    sums = losses[1:] @ held.weight / held.nat
    pool = np.append(0.0, np.exp(FORECAST_RATE * (sums.min() - sums)))
    pool = np.where(pool >= LEAST_WEIGHT * pool.sum(), pool, 0.0)
    pool /= pool.sum()
    gain = np.inf
    # A density of 0 at an outcome is certainly wrong.
    if np.isfinite(losses[0]).all():
        crps, nll = (gain_in_errors(held, pool, score) for score in ("crps", "nll"))
        gain = min(0.5 * (crps + nll), crps + MOST_ABOVE_CRPS)
    share = float(special.ndtr(FORECAST_TRUST * gain))
    return EvidencePool.in_part(pool, share, losses, gain)


def gain_in_errors(held: HeldOutForecasts, pool: np.ndarray, score: str) -> float:
    """Return the gain of a pool over no calibration in a score, in standard errors of it."""
    nothing, pooled = (
        np.nan_to_num(held.losses(one, score)) for one in (np.eye(len(pool))[0], pool)
    )
    most = MOST_NATS if score == "nll" else np.inf
    gap = np.clip(nothing - pooled, -most, most)
    return _in_errors(*score_difference(gap, np.zeros(len(gap)), held.weight))


# -- What is learned and told ----------------------------------------------------------------------


def learned(
    pool: EvidencePool,
    held: HeldOut | HeldOutForecasts,
    names: Sequence[str] = (),
    notes: dict[str, str] | None = None,
    why: str = "",
) -> dict[str, Any]:
    """Return what a choice learns beside its members, by attribute: of the candidates ``names``,
    or, with the reason ``why``, of no choice at all.
    """
    why = why or ("no evidence" if pool.members == [0] else "")
    return {
        "weights_": pool.weights,
        "table_": table_of(names, pool, held.weight, notes or {}) if names else [],
        "score_": float(np.average(held.losses(pool.shares), weights=held.weight)),
        "uncalibrated_score_": float(np.average(pool.losses[0], weights=held.weight)),
        "gain_in_errors_": pool.gain_in_errors,
        "status_": f"identity: {why}" if why else "pooled",
    }


def table_of(
    names: Sequence[str], pool: EvidencePool, weight: np.ndarray, notes: dict[str, str]
) -> list[dict[str, Any]]:
    """Return a table row for each candidate, and for failed ones (``notes``: the reasons): name,
    score, standard error, weight, note.
    """
    columns, nan = ("name", "score", "standard_error", "weight", "note"), float("nan")
    rows = [
        (
            name,
            float(np.average(losses, weights=weight)),
            score_difference(pool.losses[0], losses, weight)[1],
            float(share),
            "",
        )
        for name, losses, share in zip(names, pool.losses, pool.shares, strict=True)
    ]
    rows += [(name, nan, nan, 0.0, note) for name, note in notes.items()]
    return [dict(zip(columns, row, strict=True)) for row in rows]


def choice_told(
    rows: str, table: Sequence[dict[str, Any]], gain: float, why: str = "", scores: str = ""
) -> str:
    """Return a sentence of the rows and the weights of a table's members, largest first (equal
    rounded ones by name), with the ``scores`` and the gain in standard errors; or of the reason
    ``why`` nothing changes.

    Examples
    --------
    >>> table = [
    ...     {"name": "spline", "weight": 0.2},
    ...     {"name": "beta", "weight": 0.2 + 1e-9},
    ...     {"name": "none", "weight": 0.0},
    ... ]
    >>> choice_told("60 rows", table, 2.0)
    '60 rows: beta 0.20, spline 0.20; improvement over no calibration: 2.0 standard errors.'
    >>> choice_told("9 rows", [], 0.0, "too few rows")
    '9 rows: kept as is (too few rows).'
    """
    if why:
        return f"{rows}: kept as is ({why})."
    shares = sorted((-round(row["weight"], 2), row["name"]) for row in table if row["weight"] > 0.0)
    weights = ", ".join(f"{name} {-share:.2f}" for share, name in shares)
    return (
        f"{rows}: {weights}; {scores}improvement over no calibration: {gain:.1f} standard errors."
    )


# -- Out of the folds of the fit itself ------------------------------------------------------------

#: From this number of rows on, fits without two folds are extrapolated from those without one.
PAIRWISE_ROWS = 2_000
#: Before the halves, candidates are left out whose total loss exceeds the least by more nats. Their
#: weight would be below the least of a member. Among 2,000 rows this bias would count.
NATS = 10.0
#: Weights of the candidates, and the candidates fitted.
Choice = tuple[np.ndarray, list[Any]]


@dataclass(frozen=True)
class FoldFits:
    """Fit of an automatic choice in its folds.

    Attributes
    ----------
    pieces : Pieces
    held_out : HeldOut of the candidates that succeeded, with the number of each piece's fold
    random_state : of the choice
    """

    pieces: Pieces
    held_out: HeldOut
    random_state: int

    @property
    def kind(self) -> str:
        """Origin of a choice without a fold: "pairs", "extrapolated", or "halves" if not all rows
        are held out.
        """
        if len(self.held_out.members) <= self.held_out.folds.max():
            return "halves"
        return "pairs" if len(self.pieces.row) < PAIRWISE_ROWS else "extrapolated"

    def predictions(self, record: Predictions) -> tuple[np.ndarray, np.ndarray, str] | None:
        """Return out-of-fold probabilities (n, K) of the rows of the fit, their folds (n,), and the
        kind of choice; None with too few folds, or if rows with weights were split.
        """
        split = len(self.pieces.row) > len(self.pieces.record) and record.weight is not None
        if split or self.held_out.folds.max() < (3 if self.kind == "halves" else 2):
            return None
        folds, choices = self.choices(self.kind)
        folds, parts, rows = folds[self.pieces.piece], list[Any](), list[np.ndarray]()
        for k, (weights, members) in enumerate(choices):
            rows.append(np.flatnonzero(folds == k))
            part = record.take(rows[-1])
            parts.append(
                sum(weights[j] * members[j].predict_record(part) for j in np.flatnonzero(weights))
            )
        return record.gathered(parts, rows), folds, self.kind

    def choices(self, kind: str) -> tuple[np.ndarray, list[Choice]]:
        """Return the fold of each piece (m,), and for each fold a choice without its labels.

        Its weights come from losses of other folds, under fits without these and without the fold.
        A fit that has seen the fold would favour the candidates that happen to suit it.
        """
        return getattr(self, f"_{kind}")()

    def _weights(self, losses: HeldOut) -> np.ndarray:
        return evidence_pool(losses, float(losses.weight.sum()), self.random_state).shares

    def _losses(self) -> list[HeldOut]:
        """Return for each fold a summary without losses yet, in which the fold has no weight."""
        held = self.held_out
        n_folds, out = len(held.members), []
        for k in range(n_folds):
            each = WHOLE_ENTRIES // n_folds
            out.append(HeldOut(self.pieces, held.candidates, held.objective, each))
            out[k].weight = np.where(held.folds == k, 0.0, held.weight)
        return out

    def _pairs(self) -> tuple[np.ndarray, list[Choice]]:
        """Fit the candidates without each pair of folds and without each fold.

        These fits start anew. A start at the fit of all rows, with its penalty, has seen the fold.
        """
        folds, losses, members = self.held_out.folds, self._losses(), list[list[Any]]()
        candidates = self.held_out.candidates
        for i, j in combinations_with_replacement(range(len(losses)), 2):
            out = (folds == i) | (folds == j)
            fit = replace(self.pieces.outside(out), workspace=Workspace.of_choice())
            named, _ = fitted(candidates, fit)
            ready = [named.get(one.name, named[candidates[0].name]) for one in candidates]
            if i == j:
                members.append(ready)
                continue
            record, place = self.pieces.inside(out)
            predictions = [one.predict_record(record) for one in ready]
            for scored, unseen in ((i, j), (j, i)):
                losses[unseen].add(folds == scored, place[folds[out] == scored], predictions)
        return folds, [self._of_classes(*one) for one in zip(losses, members, strict=True)]

    def _of_classes(self, losses: HeldOut, members: list[Any]) -> Choice:
        """Return the choice from these losses; if their rows have one class, by its candidates."""
        suitable = list(range(len(members)))
        if len(np.unique(losses.labels[losses.weight > 0.0])) == 1:
            names = [one.name for one in losses.candidates]
            suitable = [j for j in suitable if j == 0 or names[j] in ONE_CLASS]
        return self._weights(losses.only(suitable)), [members[j] for j in suitable]

    def _extrapolated(self) -> tuple[np.ndarray, list[Choice]]:
        r"""Extrapolate the log-probabilities without two of K folds from those without one.

        .. math:: f_{-ij} = \frac{(K - 1) (f_{-i} + f_{-j}) - \sum_l f_{-l}}{K - 2} + c

        This is exact where every fold adds its own share to f, as in a Newton step.
        """
        folds, fits, losses = self.held_out.folds, self.held_out.members, self._losses()
        n = len(fits)
        for i in range(n):
            record, place = self.pieces.inside(folds == i)
            logs = [
                [np.log(np.maximum(one.predict_record(record), FLOOR)) for one in members]
                for members in fits
            ]
            starts = [(n - 1) * each[i] - sum(each) for each in zip(*logs, strict=True)]
            for j in {*range(n)} - {i}:
                both = zip(starts, logs[j], strict=True)
                predictions = (softmax((a + (n - 1) * b) / (n - 2)) for a, b in both)
                losses[j].add(folds == i, place, predictions)
        return folds, [(self._weights(one), fits[k]) for k, one in enumerate(losses)]

    def _halves(self) -> tuple[np.ndarray, list[Choice]]:
        """Choose on each half of the rows for the other. About as many rows are held out as in the
        fit, and at most four times as many are fitted.
        """
        pieces, held, choices = self.pieces, self.held_out, list[Choice]()
        n_parts = 2 * max(5, len(pieces.row) // (2 * len(held.weight)))
        folds = folds_of(pieces.labels, pieces.cluster, n_parts, self.random_state)
        part, half = np.divmod(folds, 2)
        # Candidates without a weight are not fitted.
        sums = np.array([held.losses(one) @ held.weight for one in np.eye(len(held.candidates))])
        contenders = [0, *(1 + np.flatnonzero(sums[1:] <= sums.min() + NATS)).tolist()]
        candidates = [held.candidates[j] for j in contenders]
        for k in (0, 1):
            read = np.where((half == k) & (part < 5), np.minimum(part, 1), -1)
            losses, _ = tried(candidates, pieces, read, held.objective, n_scored=1)
            choices.append((self._weights(losses), losses.members[0]))
        return 1 - half, choices
