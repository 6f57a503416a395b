"""What AutoRegressionCalibrator tries: each candidate with what it costs and what it needs, as data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """

    name: str
    make: Callable[[], RegressionCalibrator]
    cost: float
    min_rows: float = 20.0
    of_moments: bool = False


def _parts_of_moments() -> RegressionCalibrator:
    return DistributionRecalibration(start="moments")


REGRESSION_CANDIDATES = (
    RegressionCandidate("uncalibrated", ForecastIdentity, 0.0),
    RegressionCandidate("STD scaling", StdScaling, 1.0),
    RegressionCandidate("quantile recalibration", QuantileRecalibration, 2.0, 40.0),
    RegressionCandidate("isotonic variance", IsotonicVariance, 3.0, 100.0),
    RegressionCandidate("variance binning", VarianceBinning, 3.0, 100.0),
    RegressionCandidate("interval calibration", IntervalCalibration, 3.0, 200.0),
    RegressionCandidate("Gaussian-process scale", GaussianProcessScale, 100.0, 50.0),
    RegressionCandidate("recalibration by parts", DistributionRecalibration, 120.0),
    RegressionCandidate("recalibration of the moments by parts", _parts_of_moments, 120.0, of_moments=True),
)


def regression_candidates_for(
    n: float, names: Sequence[str] | None = None, max_cost: float | None = None, *, normal: bool = False
) -> list[RegressionCandidate]:  # fmt: skip
    """The candidates for n rows (sum of weights), cheapest first; the uncalibrated one is always among them.

    ``names`` keeps only some; candidates are dropped from the dearest end until the costs sum to at most ``max_cost``; of ``normal``
    forecasts those of the moments are left out.
    """
    fitting = [
        c
        for c in REGRESSION_CANDIDATES
        if c.cost == 0.0 or ((names is None or c.name in names) and n >= c.min_rows and not (normal and c.of_moments))
    ]
    return affordable(fitting, max_cost)
