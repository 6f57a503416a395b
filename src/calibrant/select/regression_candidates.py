"""What AutoRegressionCalibrator tries: each candidate with what it costs and what it needs, as data."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.regression.distribution_recalibration import DistributionRecalibration
from calibrant.regression.gaussian_process_scale import GaussianProcessScale
from calibrant.regression.identity import ForecastIdentity
from calibrant.regression.interval import IntervalCalibration
from calibrant.regression.isotonic_variance import IsotonicVariance
from calibrant.regression.quantile_recalibration import QuantileRecalibration
from calibrant.regression.std_scaling import StdScaling
from calibrant.regression.variance_binning import VarianceBinning
from calibrant.select.affordable import affordable

__all__ = ["REGRESSION_CANDIDATES", "RegressionCandidate", "regression_candidates_for"]


@dataclass(frozen=True)
class RegressionCandidate:
    """One way to calibrate forecasts.

    Attributes
    ----------
    name : what the tables call it.
    make : makes it, unfitted.
    cost : relative time of a fit, STD scaling being 1. A fixed table, so that what is tried does not depend on the clock.
    min_rows : fewest rows it is tried with.
    of_moments : it takes the mean and the std alone, and is no other than its neighbour where a forecast is normal.
    asked : it is tried only where its name is given, or a largest cost.
    """

    name: str
    make: Callable[[], RegressionCalibrator]
    cost: float
    min_rows: float = 20.0
    of_moments: bool = False
    asked: bool = False


def _parts_by_mean() -> RegressionCalibrator:
    return DistributionRecalibration(spread_by="mean")


def _parts_of_moments() -> RegressionCalibrator:
    return DistributionRecalibration(start="moments")


#: Parts of the recalibration by parts: beside it they won nothing on the regression arena's sets to choose by, and cost time.
_asked = partial(RegressionCandidate, asked=True)


REGRESSION_CANDIDATES = (
    RegressionCandidate("uncalibrated", ForecastIdentity, 0.0),
    _asked("STD scaling", StdScaling, 1.0),
    _asked("quantile recalibration", QuantileRecalibration, 2.0, 40.0),
    _asked("isotonic variance", IsotonicVariance, 3.0, 100.0),
    _asked("variance binning", VarianceBinning, 3.0, 100.0),
    _asked("interval calibration", IntervalCalibration, 3.0, 200.0),
    _asked("Gaussian-process scale", GaussianProcessScale, 100.0, 50.0),
    RegressionCandidate("recalibration by parts", DistributionRecalibration, 120.0),
    RegressionCandidate("recalibration by parts, spread by the mean", _parts_by_mean, 120.0),
    RegressionCandidate("recalibration of the moments by parts", _parts_of_moments, 120.0, of_moments=True),
)


def regression_candidates_for(
    n: float, names: Collection[str] | None = None, max_cost: float | None = None, *, normal: bool = False
) -> list[RegressionCandidate]:  # fmt: skip
    """The candidates for n rows (sum of weights), cheapest first; the uncalibrated one is always among them.

    ``names`` keeps only some; candidates are dropped from the dearest end until the costs sum to at most ``max_cost``; of ``normal``
    forecasts those of the moments are left out.
    """

    def enters(c: RegressionCandidate) -> bool:
        wanted = (max_cost is not None or not c.asked) if names is None else c.name in names
        return c.cost == 0.0 or (wanted and n >= c.min_rows and not (normal and c.of_moments))

    return affordable([c for c in REGRESSION_CANDIDATES if enters(c)], max_cost)
