"""Candidates of the automatic choice for forecasts, and the number of rows that each needs."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from calibrant.calibrators.candidates import affordable
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.regression.gaussian_process import GaussianProcessScale
from calibrant.regression.recalibration import (
    DistributionRecalibration,
    IntervalCalibration,
    QuantileRecalibration,
)
from calibrant.regression.scaling import (
    ForecastIdentity,
    IsotonicVariance,
    StdScaling,
    VarianceBinning,
)

__all__ = ["REGRESSION_CANDIDATES", "RegressionCandidate", "regression_candidates_for"]


@dataclass(frozen=True)
class RegressionCandidate:
    """Candidate calibrator of forecasts.

    Attributes
    ----------
    name : its name in tables.
    make : function that makes it, unfitted.
    cost : relative time of a fit, STD scaling being 1. A fixed table, so that the choice does not
        depend on the clock.
    min_rows : minimum number of rows.
    of_moments : it uses mean and std alone, and equals its neighbour for normal forecasts.
    asked : it is tried only if it is named, or a maximum cost is set.
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


#: Special cases of the recalibration by parts: beside it they brought no gain on the development
#: sets of the regression arena, and cost time.
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
    RegressionCandidate(
        "recalibration of the moments by parts", _parts_of_moments, 120.0, of_moments=True
    ),
)


def regression_candidates_for(
    n: float,
    names: Collection[str] | None = None,
    max_cost: float | None = None,
    *,
    normal: bool = False,
) -> list[RegressionCandidate]:
    """Return the candidates for n rows (sum of weights) by cost; the uncalibrated one is always
    among them.

    ``names`` restricts the choice; the most expensive are dropped until the costs sum to at most
    ``max_cost``; for ``normal`` forecasts those of the moments are left out.
    """

    def enters(c: RegressionCandidate) -> bool:
        wanted = (max_cost is not None or not c.asked) if names is None else c.name in names
        return c.cost == 0.0 or (wanted and n >= c.min_rows and not (normal and c.of_moments))

    return affordable([c for c in REGRESSION_CANDIDATES if enters(c)], max_cost)
