"""Binned calibration errors: one template, three questions (top label, positive class, every class)."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from calibrant._kernels import bins
from calibrant._kernels.bootstrap import resample_weights, resampled_sums
from calibrant._kernels.debias import binned_errors, inverted_limits
from calibrant._support.options import require_count, require_option
from calibrant.contracts.metric import Interval, Metric
from calibrant.errors import InputError, warn

__all__ = ["BinnedCalibrationError"]


@dataclass(frozen=True, repr=False)
class BinnedCalibrationError(Metric):
    """Template of the binned calibration errors; a metric says which (score, hit) pairs it bins.

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1] (edges k / n_bins, an edge belongs to the bin above, 1 to the last), or of equal weight
        (ties never split).
    norm : number of at least 1, or "max"
        Mean of the gaps (1), root mean square (2), the root of the mean of another power of them, or the largest gap.
    """

    n_bins: int = 15
    strategy: Literal["width", "mass"] = "width"
    norm: float | Literal["max"] = 1

    direction: ClassVar[str] = "minimize"
    estimand: ClassVar[str] = "error in these bins on ever more rows: without the noise that the number itself carries"
    clustered: ClassVar[bool] = False
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    soft_labels: ClassVar[bool] = True

    @classmethod
    def _examples(cls):
        return [cls(), cls(strategy="mass"), cls(norm=2), cls(norm=3, n_bins=5), cls(norm="max", n_bins=5)]

    @property
    def mergeable(self) -> bool:
        return self.strategy == "width"

    def _check(self):
        require_count("n_bins", self.n_bins)
        require_option("strategy", self.strategy, ("width", "mass"))
        if self.norm != "max" and not (isinstance(self.norm, int | float) and 1.0 <= self.norm < np.inf):
            raise InputError(f'norm must be a number of at least 1, or "max"; got {self.norm!r}.')

    @abstractmethod
    def _pairs(self, record) -> list[tuple[np.ndarray, np.ndarray]]:
        """The (score, hit) arrays to bin, one pair for each question asked."""
        ...

    def _bin(self, score, record):
        if self.strategy == "width":
            return bins.equal_width_index(score, self.n_bins, record.resolution)
        return bins.equal_mass_groups(score, self.n_bins, record.weight)

    def _sets(self, record):
        """(bin of each row, what is summed) for each question asked.

        Of soft labels the squared gaps are summed too, for their variance.
        """
        out = []
        for score, hit in self._pairs(record):
            squares = [] if record.shares is None else [(score - hit) ** 2]
            out.append((self._bin(score, record), [score, hit, *squares]))
        return out

    def _totals(self, record):
        n_bins, weight = self.n_bins, record.weight
        return np.stack([
            bins.grouped_sums(index, n_bins, columns, weight) for index, columns in self._sets(record)
        ])  # fmt: skip

    def _all_totals(self, record):
        # Bins of equal weight depend on all rows at once.
        return super()._all_totals(record) if self.mergeable else self._totals(record)

    def _value(self, record):
        return float(self._finalise(self._all_totals(record)))

    def _group_totals(self, record, group, n_groups):
        n_cells, weight = n_groups * self.n_bins, record.weight
        out = [
            bins.grouped_sums(group * self.n_bins + index, n_cells, columns, weight)
            for index, columns in self._sets(record)
        ]  # fmt: skip
        return np.stack([sums.reshape(n_groups, self.n_bins, -1) for sums in out], axis=1)

    def _finalise(self, totals):
        return binned_errors(totals[..., 0], totals[..., 1] - totals[..., 2], self.norm).mean(axis=-1)

    def _draws(self, record, n_resamples, random_state):
        """Sums on bootstrap resamples with the bins held fixed, (n_resamples, sets, bins, 3)."""
        sets, weights = self._sets(record), record.weights
        return resampled_sums(sets, self.n_bins, weights, n_resamples, random_state)

    def _resampled(self, record, n_resamples, random_state):
        return self._finalise(self._draws(record, n_resamples, random_state))

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        totals = self._all_totals(record)
        draws = self._draws(record, _affordable(n_resamples, totals), random_state)
        return self._debiased(totals, draws, level, float(record.weights.sum()))

    def interval_of_parts(self, parts: np.ndarray, *, level: float, n_resamples: int, random_state: int) -> Interval:
        """The interval from the totals of random parts of the rows, (parts, sets, bins, 3), which are resampled in place of rows."""
        totals, rng = parts.sum(axis=0), np.random.default_rng(random_state)
        times = np.array([resample_weights(np.ones(len(parts)), rng) for _ in range(_affordable(n_resamples, totals))])
        return self._debiased(totals, np.tensordot(times, parts, axes=1), level, float(totals[0, :, 0].sum()))

    def _debiased(self, totals, draws, level, n):
        self._warn_where_limits_fail()
        value, low, high = inverted_limits(totals, draws, self.norm, level, n=n)
        return Interval.holding(value, (low, high), level, "debiased", n, float(self._finalise(totals)))

    def _warn_where_limits_fail(self):
        if self.norm == "max":
            warn(
                "the interval of the largest gap over bins is approximate: in simulations it held the truth 82 to 100 times of 100, "
                "even with 130 rows a bin; see the documentation's table of coverage, or use norm=1 or 2.",
            )
        elif self.norm not in (1, 2):
            warn(f"the interval of norm={self.norm:g} is approximate: its coverage was not simulated; use norm=1 or 2.")


def _affordable(n_resamples, totals):
    return max(min(n_resamples, int(2e7 / totals.size)), 100)
