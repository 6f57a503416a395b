"""Errors of regression that are a mean absolute gap over bins: one template, its interval freed of the bias that noise adds."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.clusters import expanded_level
from calibrant._kernels.debias import binned_errors, gap_limits
from calibrant.contracts.interval import Interval
from calibrant.contracts.regression_metric import RegressionMetric

__all__ = ["GapMetric"]


@dataclass(frozen=True, repr=False)
class GapMetric(RegressionMetric):
    """Template: a metric writes ``_sums`` (rows summed by bin), ``_gaps`` (sums to the gaps that are averaged) and ``_draws``.

    Its interval does not centre on the biased number: it asks which errors, with this sample's noise added, would show as the one seen.
    """

    estimand: ClassVar[str] = "error at these levels and bins on ever more rows: without the noise that the number itself carries"
    clustered: ClassVar[bool] = False
    #: Whether what is summed has no bound, so that noise grows with the error: the high end is then
    #: at least that of the errors that the gaps seen show with the noise added.
    long_tails: ClassVar[bool] = False

    @abstractmethod
    def _sums(self, record, index, n_groups) -> np.ndarray:
        """Sums of the rows by their bin ``index``, (n_groups, ...)."""

    @abstractmethod
    def _gaps(self, sums) -> tuple[np.ndarray, np.ndarray]:
        """(weight (..., bins), summed gaps (..., sets, bins)) of sums with any leading axes."""

    @abstractmethod
    def _draws(self, record, sums, n_resamples, random_state) -> np.ndarray:
        """``sums`` on bootstrap resamples of the rows, bins held fixed, (n_resamples, bins, ...)."""

    def _bins(self, totals):
        """Totals as the sums of the bins."""
        return totals

    def _error(self, weight, gap):
        """The value from the weight (..., bins) and the summed gaps (..., sets, bins): the mean absolute gap, averaged over the sets."""
        return binned_errors(weight[..., None, :], gap, 1).mean(axis=-1)

    def _finalise(self, totals):
        return self._error(*self._gaps(self._bins(totals)))

    def _resampled(self, record, n_resamples, random_state):
        return self._error(*self._gaps(self._draws(record, self._bins(self._all_totals(record)), n_resamples, random_state)))

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        totals = self._all_totals(record)
        sums = self._bins(totals)
        weight, gap = self._gaps(sums)
        noise = self._gaps(self._draws(record, sums, n_resamples, random_state))[1]
        noise, n = noise - noise.mean(axis=0), float(record.weights.sum())
        value, low, high = gap_limits(weight, gap, noise, level, self.range[1], self._error, n)
        if self.long_tails:
            each = max(n / gap.shape[-1], 2.0)
            reach = 0.5 + 0.5 * expanded_level(level, each - 1.0)
            high = max(high, float(np.quantile(self._error(weight, gap + noise), reach)))
        return Interval.holding(value, (low, high), level, "debiased", n, float(self._finalise(totals)))
