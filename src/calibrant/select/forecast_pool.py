"""Weights of calibrators of forecasts that shrink by themselves, by their out-of-fold scores, doing nothing beside them."""

import numpy as np
from scipy import special

from calibrant.select.evidence import score_difference
from calibrant.select.evidence_pool import LEAST_WEIGHT, EvidencePool
from calibrant.select.held_out_forecasts import HeldOutForecasts
from calibrant.select.trust import beside_nothing

__all__ = ["forecast_pool"]

#: How fast weights fall with the sum of the scores, in nats: of 1/4, 1/2 and 1 the best on the regression arena's sets to choose by.
RATE = 0.25


def forecast_pool(held: HeldOutForecasts) -> EvidencePool:
    """The pool of candidates that leave forecasts as they are where rows are few, so that weights need not see to it.

    They are weighed by their scores, and the whole has the weight of how probable it is that it is better than doing nothing: the normal
    probability of its gain in CRPS over its standard error. The CRPS decides that whatever the score, as a few rows far out, which the
    log loss heeds, tell little of the others.
    """
    losses = held.own
    if len(losses) == 1:
        return EvidencePool([0], np.ones(1), losses, 0.0)
    sums = losses[1:] @ held.weight / held.nat
    pool = np.append(0.0, np.exp(RATE * (sums.min() - sums)))
    pool = np.where(pool >= LEAST_WEIGHT * pool.sum(), pool, 0.0)
    pool /= pool.sum()
    gain, error = np.inf, 0.0
    # A density of 0 where an outcome was is wrong for sure.
    if np.isfinite(losses[0]).all():
        gain, error = score_difference(held.crps(np.eye(len(pool))[0]), held.crps(pool), held.weight)
    gain_in_errors = gain / error if error > 0.0 else np.inf * gain if gain else 0.0
    kept = np.flatnonzero(pool).tolist()
    members, weights = beside_nothing(kept, pool[kept], float(special.ndtr(gain_in_errors)), LEAST_WEIGHT)
    return EvidencePool(members, weights, losses, float(gain_in_errors))
