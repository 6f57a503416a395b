"""Out-of-fold forecasts of several candidates, and the scores of any mean of their quantiles."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy import special

from calibrant.forecasts.averaged import averaged
from calibrant.forecasts.forecast import Forecast
from calibrant.forecasts.read import ForecastRecord
from calibrant.metrics.regression.scores import continuous_ranked_probability_score, negative_log_likelihood
from calibrant.select.held_out import MOST_PIECES

__all__ = ["SCORES", "HeldOutForecasts", "canonical_forecasts"]

SCORES: dict[Any, Any] = {"nll": negative_log_likelihood, "crps": continuous_ranked_probability_score}
#: What a nat is worth in CRPS, as a share of the mean CRPS: for a normal forecast whose std is off by a factor exp(d), the NLL is
#: d^2 nats above its minimum and the CRPS a quarter of d^2 times its own, to second order.
NAT = 0.25
#: Where two forecasts are compared to find rows that are equal.
COMPARED_AT: np.ndarray = special.ndtri(np.array([0.001, 0.01, 0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95, 0.99, 0.999]))


class HeldOutForecasts:
    """What J candidates said of m rows out of fold.

    Parameters
    ----------
    record : ForecastRecord of the m rows
    folds : (m,) number of each row's fold
    said : J lists of forecasts, one a fold
    objective : "nll" or "crps"
    """

    def __init__(
        self, record: ForecastRecord, folds: np.ndarray, said: Sequence[Sequence[Forecast]], objective: Literal["nll", "crps"]
    ) -> None:  # fmt: skip
        assert record.y is not None
        self.weight: np.ndarray = record.weights
        self.y: np.ndarray = record.y
        self.said: Sequence[Sequence[Forecast]] = said
        self.objective: Literal["nll", "crps"] = objective
        self.rows: list[np.ndarray] = [np.flatnonzero(folds == k) for k in range(len(said[0]))]
        self.own: np.ndarray = np.array([self._losses([one], np.ones(1), objective) for one in said])
        self.nat: float = 1.0 if objective == "nll" else NAT * float(np.average(self.own, axis=1, weights=self.weight).min())

    def only(self, kept: np.ndarray) -> "HeldOutForecasts":
        """The same for some of the candidates."""
        out = copy(self)
        out.said, out.own = [self.said[j] for j in kept.tolist()], self.own[kept]
        return out

    def _losses(self, said, weights, score):
        out = np.empty(len(self.y))
        for k, rows in enumerate(self.rows):
            forecast = averaged([one[k] for one in said], weights)
            out[rows] = SCORES[score].losses_of(ForecastRecord(forecast, self.y[rows]))
        return out

    def losses(self, pool: np.ndarray) -> np.ndarray:
        """(m,) row scores of the mean with weights (J,)."""
        return self._of(pool, self.objective)

    def crps(self, pool: np.ndarray) -> np.ndarray:
        """(m,) its CRPS, whatever the objective is."""
        return self._of(pool, "crps")

    def _of(self, pool, score):
        members = np.flatnonzero(pool).tolist()
        if len(members) == 1 and score == self.objective:
            return self.own[members[0]]
        return self._losses([self.said[j] for j in members], pool[members], score)


def canonical_forecasts(record: ForecastRecord) -> ForecastRecord:
    """Equal rows merged, in an order of their own, so that repetition and row order change nothing.

    Where forecasts are discrete the same one comes with several outcomes. Each merged row is then taken apart into pieces of about one row,
    which are dealt out over the folds: a fit from which all rows of one outcome were held out would be misled.
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
