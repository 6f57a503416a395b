"""Pools of candidates by the evidence of held-out rows, for classes and for forecasts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from calibrant._numerics.pooling import exponential_weights
from calibrant.calibrators.held_out import HeldOut, HeldOutForecasts
from calibrant.calibrators.trust import (
    beside_nothing,
    score_difference,
    trusted_share,
    with_one_row_more,
)

__all__ = [
    "LEAST_WEIGHT",
    "EvidencePool",
    "evidence_pool",
    "forecast_pool",
    "gain_in_errors",
    "table_of",
    "weights_told",
]

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

    @property
    def shares(self) -> np.ndarray:
        """(J,) weight of every candidate."""
        return np.bincount(self.members, self.weights, len(self.losses))


def evidence_pool(
    held: HeldOut, grouped: Sequence[bool], n: float, random_state: int
) -> EvidencePool:
    """Pool candidates, the first of which is no calibration, on rows whose weights sum to ``n``;
    ``grouped`` tells of each whether it uses groups.
    """
    n_candidates = len(grouped)
    losses = np.stack([held.losses(one) for one in np.eye(n_candidates)])
    if n_candidates == 1:
        return EvidencePool([0], np.ones(1), losses, 0.0)
    stack = held.stack()
    effect = _design_effect(held, losses[0], held.losses(stack))
    prior = _prior(np.append(grouped, False))
    pool, n = _pool(held, losses, stack, prior, held.weight / effect, random_state), n / effect
    kept = np.flatnonzero(pool >= LEAST_WEIGHT).tolist()
    pool = np.where(pool >= LEAST_WEIGHT, pool, 0.0) / pool[kept].sum()
    gain, error = score_difference(losses[0], held.losses(pool), held.weight, held.cluster)
    gain, error = with_one_row_more(
        gain, error, held.unknown(np.eye(n_candidates)[0]) - held.unknown(pool), n
    )
    share = trusted_share(gain, error, n, held.telling / effect)
    members, weights = beside_nothing(kept, pool[kept], share, LEAST_WEIGHT)
    return EvidencePool(
        members,
        weights,
        losses,
        gain / error if error > 0.0 else (np.inf if np.isinf(gain) else 0.0),
    )


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


def _pool(
    held: HeldOut,
    losses: np.ndarray,
    stack: np.ndarray,
    prior: np.ndarray,
    weight: np.ndarray,
    random_state: int,
) -> np.ndarray:
    """Return weights of the candidates by evidence, in which a row counts as ``weight`` rows; their
    stack is one more candidate, whose weight they share.
    """
    losses = np.vstack([losses, held.losses(stack)])
    *own, shared = exponential_weights(losses, weight, RATE, random_state, prior=prior)
    return np.array(own) + shared * stack


def table_of(
    names: Sequence[str], pool: EvidencePool, weight: np.ndarray, notes: dict[str, str]
) -> list[dict[str, Any]]:
    """Return a table row for each candidate, and for failed ones (``notes``: the reasons): name,
    score, standard error, weight, note.
    """
    rows = []
    for name, losses, share in zip(names, pool.losses, pool.shares, strict=True):
        _, error = score_difference(pool.losses[0], losses, weight)
        score = float(np.average(losses, weights=weight))
        rows.append(
            {
                "name": name,
                "score": score,
                "standard_error": error,
                "weight": float(share),
                "note": "",
            }
        )
    return rows + [
        {"name": n, "score": float("nan"), "standard_error": float("nan"), "weight": 0.0, "note": t}
        for n, t in notes.items()
    ]


def weights_told(table: Sequence[dict[str, Any]]) -> str:
    """Return the weights of the members of a table, largest first; equal rounded weights are sorted
    by name.

    Examples
    --------
    >>> weights_told(
    ...     [
    ...         {"name": "spline", "weight": 0.2},
    ...         {"name": "beta", "weight": 0.2 + 1e-9},
    ...         {"name": "none", "weight": 0.0},
    ...     ]
    ... )
    'beta 0.20, spline 0.20'
    """
    shares = sorted((-round(row["weight"], 2), row["name"]) for row in table if row["weight"] > 0.0)
    return ", ".join(f"{name} {-share:.2f}" for share, name in shares)


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
    losses = held.own
    if len(losses) == 1:
        return EvidencePool([0], np.ones(1), losses, 0.0)
    sums = losses[1:] @ held.weight / held.nat
    pool = np.append(0.0, np.exp(FORECAST_RATE * (sums.min() - sums)))
    pool = np.where(pool >= LEAST_WEIGHT * pool.sum(), pool, 0.0)
    pool /= pool.sum()
    gain = np.inf
    # A density of 0 at an outcome is certainly wrong.
    if np.isfinite(losses[0]).all():
        crps, nll = (gain_in_errors(held, pool, score) for score in ("crps", "nll"))
        gain = min(0.5 * (crps + nll), crps + MOST_ABOVE_CRPS)
    kept = np.flatnonzero(pool).tolist()
    members, weights = beside_nothing(
        kept, pool[kept], float(special.ndtr(FORECAST_TRUST * gain)), LEAST_WEIGHT
    )
    return EvidencePool(members, weights, losses, gain)


def gain_in_errors(held: HeldOutForecasts, pool: np.ndarray, score: str) -> float:
    """Return the gain of a pool over no calibration in a score, in standard errors of it."""
    nothing, pooled = (
        np.nan_to_num(held.losses(one, score)) for one in (np.eye(len(pool))[0], pool)
    )
    most = MOST_NATS if score == "nll" else np.inf
    gap = np.clip(nothing - pooled, -most, most)
    gain, error = score_difference(gap, np.zeros(len(gap)), held.weight)
    return gain / error if error > 0.0 else np.inf * gain if gain else 0.0
