"""Probability integral transforms, and tests that they are uniform."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from calibrant._support.options import require_count
from calibrant.contracts.columns import Record
from calibrant.contracts.on_record import on_record
from calibrant.errors import InputError
from calibrant.forecasts.read import ForecastRecord, read_forecast
from calibrant.metrics.significance.calibration_test import CalibrationTest

__all__ = ["PitHistogram", "pit_histogram", "pit_test"]


@dataclass(frozen=True)
class PitHistogram(Record):
    """One row a bin of F(y): edges, n (sum of weights), share times the number of bins (1 if uniform), and the band of uniform shares."""

    lower: np.ndarray
    upper: np.ndarray
    n: np.ndarray
    density: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _read(y_true, mean, std, sample_weight):
    return read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output()


def _of(record: ForecastRecord, *, n_bins: int = 20, level: float = 0.95) -> PitHistogram:
    require_count("n_bins", n_bins)
    return pit_histogram_of_sums(pit_sums(record, n_bins), record.weights.sum(), level)


def pit_sums(record: ForecastRecord, n_bins: int = 20) -> np.ndarray:
    """(n_bins,) weight by bin of F(y): sums of parts add up."""
    index = np.minimum((special.ndtr(record.score) * n_bins).astype(np.intp), n_bins - 1)
    return np.bincount(index, weights=record.weights, minlength=n_bins)


def pit_histogram_of_sums(n: np.ndarray, total: float, level: float) -> PitHistogram:
    """The histogram of ``pit_sums`` of rows of that weight."""
    n_bins = len(n)
    edges = np.arange(n_bins + 1) / n_bins
    ends = stats.binom(round(float(total)), 1.0 / n_bins).interval(level)
    low, high = (np.full(n_bins, end * n_bins / total) for end in ends)
    return PitHistogram(edges[:-1], edges[1:], n, n * n_bins / total, low, high)


@on_record(_of)
def pit_histogram(
    y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, n_bins: int = 20, level: float = 0.95, sample_weight: ArrayLike |
    None = None
) -> PitHistogram:  # fmt: skip
    """How the probabilities F(y) of what came true are spread over [0, 1].

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast in place of mean
    n_bins : int, default 20
    level : float, default 0.95
        Of the band in which a bin lies if the forecasts are calibrated.
    sample_weight : (n,), optional

    Returns
    -------
    PitHistogram
        A hump in the middle means too wide, a bowl too narrow, a slope a shift.

    See Also
    --------
    PitHistogramDisplay : draws it.
    pit_test : whether it may be chance.

    Examples
    --------
    >>> pit_histogram([0.1, -0.1, 3.0, -3.0], [0.0] * 4, [1.0] * 4, n_bins=4).n.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    record = read_forecast(mean, std, y_true, sample_weight=sample_weight).one_output()
    return _of(record, n_bins=n_bins, level=level)


def pit_test(
    y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, method: Literal["ks", "cramer-von-mises", "chi-square"] = "ks"
) -> CalibrationTest:
    """Test that the probabilities F(y) of what came true are uniform, as they are for a calibrated forecast.

    Parameters
    ----------
    y_true : (n,)
    mean, std : (n,) each, or a forecast in place of mean
    method : {"ks", "cramer-von-mises", "chi-square"}
        Kolmogorov-Smirnov, Cramer-von Mises, or chi-square over 20 bins.

    Returns
    -------
    CalibrationTest
        statistic, p_value, method and n. Rows are taken to be independent; weights are not taken, since a test of repeated rows is none.

    See Also
    --------
    pit_histogram : where it is not uniform.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> bool(pit_test(y, np.zeros(500), np.ones(500)).p_value > 0.05), bool(pit_test(y, np.zeros(500), np.full(500, 2.0)).p_value < 1e-6)
    (True, True)
    """
    record = _read(y_true, mean, std, None)
    pit = special.ndtr(record.score)
    if method == "ks":
        found = stats.kstest(pit, "uniform")
    elif method == "cramer-von-mises":
        found = stats.cramervonmises(pit, "uniform")
    elif method == "chi-square":
        found = stats.chisquare(np.bincount(np.minimum((pit * 20).astype(np.intp), 19), minlength=20))
    else:
        raise InputError(f'method must be "ks", "cramer-von-mises" or "chi-square"; got {method!r}.')
    return CalibrationTest(float(found.statistic), float(found.pvalue), method, float(len(record)))
