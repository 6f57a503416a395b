"""Candidates of the automatic choice for forecasts, and the number of rows that each needs."""

from collections.abc import Collection
from functools import partial

from calibrant.calibrators.candidates import Candidate, affordable
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

__all__ = ["REGRESSION_CANDIDATES", "regression_candidates_for"]

#: Special cases of the recalibration by parts: beside it they brought no gain on the development
#: sets of the regression arena, and cost time.
_special = partial(Candidate, on_request=True)
_by_mean = partial(DistributionRecalibration, spread_by="mean")
_from_moments = partial(DistributionRecalibration, start="moments")

REGRESSION_CANDIDATES = (
    Candidate("uncalibrated", ForecastIdentity, 0.0),
    _special("STD scaling", StdScaling, 1.0),
    _special("quantile recalibration", QuantileRecalibration, 2.0, 40.0),
    _special("isotonic variance", IsotonicVariance, 3.0, 100.0),
    _special("variance binning", VarianceBinning, 3.0, 100.0),
    _special("interval calibration", IntervalCalibration, 3.0, 200.0),
    _special("Gaussian-process scale", GaussianProcessScale, 100.0, 50.0),
    Candidate("recalibration by parts", DistributionRecalibration, 120.0),
    Candidate("recalibration by parts, spread by the mean", _by_mean, 120.0),
    Candidate("recalibration of the moments by parts", _from_moments, 120.0, of_moments=True),
)


def regression_candidates_for(
    n: float,
    names: Collection[str] | None = None,
    max_cost: float | None = None,
    *,
    normal: bool = False,
) -> list[Candidate]:
    """Return the candidates for n rows (sum of weights) by cost; the uncalibrated one is always
    among them.

    ``names`` restricts the choice; the most expensive are dropped until the costs sum to at most
    ``max_cost``; for ``normal`` forecasts those of the moments are left out.
    """
    suitable = [
        one
        for one in REGRESSION_CANDIDATES
        if one.enters(n, names, max_cost) and not (normal and one.of_moments)
    ]
    return affordable(suitable, max_cost)
