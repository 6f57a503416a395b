"""What AutoRegressionCalibrator tries: each candidate with what it costs and what it needs, as data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.regression.conformal import ConformalIntervals
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
    complexity : the evidence it must bring, in nats over the whole calibration set, before it is taken for a simpler one.
    min_rows : fewest rows it is tried with.
    objectives : the scores its forecasts have; without a density there is no NLL.
    """

    name: str
    make: Callable[[], RegressionCalibrator]
    cost: float
    complexity: float
    min_rows: float = 20.0
    objectives: tuple[str, ...] = ("nll", "crps")


REGRESSION_CANDIDATES = (
    RegressionCandidate("uncalibrated", ForecastIdentity, 0.0, 0.0),
    RegressionCandidate("STD scaling", StdScaling, 1.0, 1.0),
    RegressionCandidate("quantile recalibration", QuantileRecalibration, 2.0, 3.0, 40.0),
    RegressionCandidate("isotonic variance", IsotonicVariance, 3.0, 3.0, 100.0),
    RegressionCandidate("variance binning", VarianceBinning, 3.0, 4.0, 100.0),
    RegressionCandidate("interval calibration", IntervalCalibration, 3.0, 5.0, 200.0),
    RegressionCandidate("conformal intervals", ConformalIntervals, 3.0, 5.0, 500.0, ("crps",)),
    RegressionCandidate("Gaussian-process scale", GaussianProcessScale, 100.0, 2.0, 50.0),
)


def regression_candidates_for(n: float, objective: str, names: Sequence[str] | None = None, max_cost: float | None = None) -> list[Any]:
    """The candidates for n rows (sum of weights) and a score, cheapest first; the uncalibrated one is always among them.

    ``names`` keeps only some; candidates are dropped from the dearest end until the costs sum to at most ``max_cost``.
    """
    fitting = [
        c
        for c in REGRESSION_CANDIDATES
        if c.cost == 0.0 or ((names is None or c.name in names) and n >= c.min_rows and objective in c.objectives)
    ]
    return affordable(fitting, max_cost)
