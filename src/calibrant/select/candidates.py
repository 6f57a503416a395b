"""What AutoCalibrator tries: each candidate with what it costs and what it needs, as data."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.tags import Tags
from calibrant.maps.beta import Beta
from calibrant.maps.centered_isotonic import CenteredIsotonic
from calibrant.maps.platt import Platt
from calibrant.maps.quadratic import QuadraticScaling
from calibrant.maps.spline import Spline
from calibrant.maps.venn_abers import VennAbers
from calibrant.scalings.constant import ClassRates, Identity
from calibrant.scalings.ensembles import EnsembleMatrixScaling, EnsembleTemperature
from calibrant.scalings.matrix import StructuredMatrixScaling
from calibrant.scalings.order_preserving import IntraOrderPreserving
from calibrant.scalings.temperature import TemperatureScaling
from calibrant.scalings.vector import StructuredVectorScaling
from calibrant.select.affordable import affordable
from calibrant.wrap.group_calibrator import GroupCalibrator
from calibrant.wrap.multicalibration import Multicalibration
from calibrant.wrap.one_vs_rest import OneVsRest

__all__ = ["CANDIDATES", "Candidate", "candidates_for"]


@dataclass(frozen=True)
class Candidate:
    """One way to calibrate.

    Attributes
    ----------
    name : what the tables call it.
    make : makes it, unfitted.
    cost : relative time of a fit, temperature scaling being 1. A fixed table, so that what is tried does not depend on the clock.
    min_rows : fewest rows it is tried with.
    classes : fewest and most classes it is tried with.
    """

    name: str
    make: Callable[[], Calibrator]
    cost: float
    min_rows: float = 20.0
    classes: tuple[float, float] = (2.0, float("inf"))

    @property
    def tags(self) -> Tags:
        """What it uses; it is tried only where what it needs is given."""
        return self.make().tags


CANDIDATES = (
    Candidate("uncalibrated", Identity, 0.0),
    Candidate("class rates", ClassRates, 0.1),
    Candidate("temperature scaling", TemperatureScaling, 1.0),
    Candidate("ensemble temperature scaling", EnsembleTemperature, 2.0, classes=(3, float("inf"))),
    Candidate("structured vector scaling", StructuredVectorScaling, 3.0),
    Candidate("structured matrix scaling", StructuredMatrixScaling, 10.0, classes=(3, 150)),
    Candidate("intra-order-preserving scaling", IntraOrderPreserving, 12.0, classes=(2, 40)),
    Candidate("ensemble matrix scaling", EnsembleMatrixScaling, 25.0, classes=(2, 40)),
    Candidate("sigmoid of the log-odds", lambda: OneVsRest(Platt()), 4.0, 100.0, (2, 40)),
    Candidate("sigmoid of the probability", lambda: OneVsRest(Platt(scale="probability")), 4.0, 100.0, (2, 40)),
    Candidate("beta calibration", lambda: OneVsRest(Beta()), 6.0, 100.0, (2, 40)),
    Candidate("quadratic scaling", lambda: OneVsRest(QuadraticScaling()), 8.0, 100.0, (2, 40)),
    Candidate("spline", lambda: OneVsRest(Spline()), 15.0, 250.0, (2, 40)),
    Candidate("centred isotonic regression", lambda: OneVsRest(CenteredIsotonic()), 3.0, 100.0, (2, 40)),
    Candidate("offsets by group", GroupCalibrator, 6.0, 100.0, (2, 40)),
    Candidate("boosted trees", Multicalibration, 30.0, 250.0, (2, 10)),
    Candidate("Venn-Abers prediction", lambda: OneVsRest(VennAbers()), 5.0, 100.0, (2, 40)),
)


def candidates_for(
    n: float, n_classes: int, names: Collection[str] | None = None, max_cost: float | None = None, given: Collection[str] = ()
) -> list[Candidate]:
    """The candidates for n rows (sum of weights) and K classes, cheapest first; the uncalibrated one is always among them.

    ``given`` are those of "X", "reference" and "groups" that come with the rows: what needs another is not tried.
    ``names`` keeps only some; candidates are dropped from the dearest end until the costs sum to at most ``max_cost``.
    """
    fitting = [
        c
        for c in CANDIDATES
        if (names is None or c.name in names or c.cost == 0.0)
        and n >= c.min_rows
        and c.classes[0] <= n_classes <= c.classes[1]
        and c.tags.suits(given)
    ] or [CANDIDATES[0]]
    return affordable(fitting, max_cost)
