"""Candidates of the automatic choice for classes, and the number of rows that each needs."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from calibrant.calibrators.ensembles import EnsembleMatrixScaling, EnsembleTemperature
from calibrant.calibrators.groups import GroupCalibrator, Multicalibration
from calibrant.calibrators.maps.isotonic import CenteredIsotonic, NearIsotonic, VennAbers
from calibrant.calibrators.maps.sigmoids import Beta, Platt, QuadraticScaling
from calibrant.calibrators.maps.smooth import Spline
from calibrant.calibrators.matrix import StructuredMatrixScaling, StructuredVectorScaling
from calibrant.calibrators.multiclass import OneVsRest
from calibrant.calibrators.order_preserving import IntraOrderPreserving
from calibrant.calibrators.temperature import ClassOffsets, ClassRates, Identity, TemperatureScaling
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.errors import InputError

__all__ = [
    "CANDIDATES",
    "ONE_CLASS",
    "Candidate",
    "affordable",
    "candidates_for",
    "names_of",
]


def affordable(candidates: Sequence[Any], max_cost: float | None = None) -> list[Any]:
    """Return the candidates by cost, without the most expensive while costs sum to more than
    ``max_cost``; the cheapest stays.
    """
    within = sorted(candidates, key=lambda c: c.cost)
    while max_cost is not None and len(within) > 1 and sum(c.cost for c in within) > max_cost:
        within.pop()
    return within


def names_of(methods: str | Sequence[str], candidates: Sequence[Any]) -> set[str] | None:
    """Return the checked candidate names; None where ``methods`` is "auto"."""
    if isinstance(methods, str) and methods == "auto":
        return None
    known = [c.name for c in candidates]
    unknown = sorted(set(methods) - set(known))
    if unknown:
        raise InputError(f'methods must be "auto" or names among {known}; got {unknown}.')
    return set(methods)


@dataclass(frozen=True)
class Candidate:
    """Candidate of an automatic choice: of classes, forecasts or questions.

    Attributes
    ----------
    name : its name in tables.
    make : function that makes it, unfitted.
    cost : relative time of a fit, temperature or STD scaling being 1. A fixed table, so that the
        choice does not depend on the clock.
    min_rows : minimum number of rows.
    classes : minimum and maximum number of classes.
    most_entries : maximum number of rows times classes, where its time or memory grows faster.
    most_others : maximum share of the rows outside the most frequent class.
    unless : the candidate beside which it brought no gain, and is not tried unless it is named.
    on_request : it is tried only if it is named, or a maximum cost is set.
    of_moments : it uses mean and std alone, and equals its neighbour for normal forecasts.
    """

    name: str
    make: Callable[[], Any]
    cost: float
    min_rows: float = 20.0
    classes: tuple[float, float] = (2.0, float("inf"))
    most_entries: float = float("inf")
    most_others: float = 1.0
    unless: str = ""
    on_request: bool = False
    of_moments: bool = False

    @property
    def tags(self) -> Tags:
        """Tags of its inputs; it is tried only if its required inputs are passed."""
        return self.make().tags

    def enters(
        self, n: float, names: Collection[str] | None, max_cost: float | None = None
    ) -> bool:
        """Whether n rows (sum of weights) are enough, and ``names`` or ``max_cost`` request it;
        always for no calibration.
        """
        wanted = max_cost is not None or not self.on_request
        wanted = wanted if names is None else self.name in names
        return self.cost == 0.0 or (wanted and n >= self.min_rows)


def _offsets_alone() -> Calibrator:
    return GroupCalibrator(Identity(), slopes=False, least_errors=None)


def _small_offsets() -> Calibrator:
    return GroupCalibrator(slopes=False, least_errors=None)


#: Candidates where all rows are of one class: the rates of the others have no estimate but a prior.
ONE_CLASS = frozenset({"class rates", "class offsets"})
#: Share of events below which a slope is hard to learn.
RARE = 0.04

CANDIDATES = (
    Candidate("uncalibrated", Identity, 0.0),
    Candidate("class rates", ClassRates, 0.1),
    Candidate("class offsets", ClassOffsets, 0.3, most_others=RARE),
    Candidate("temperature scaling", TemperatureScaling, 1.0),
    Candidate("ensemble temperature scaling", EnsembleTemperature, 2.0, classes=(3, float("inf"))),
    Candidate(
        "structured vector scaling",
        StructuredVectorScaling,
        3.0,
        unless="structured matrix scaling",
    ),
    Candidate("structured matrix scaling", StructuredMatrixScaling, 10.0, classes=(3, 150)),
    Candidate(
        "intra-order-preserving scaling",
        IntraOrderPreserving,
        12.0,
        classes=(2, 1_000),
        most_entries=4e6,
    ),
    Candidate("ensemble matrix scaling", EnsembleMatrixScaling, 25.0, classes=(2, 60)),
    Candidate("sigmoid of the log-odds", lambda: OneVsRest(Platt()), 4.0, 100.0, (2, 40)),
    Candidate(
        "sigmoid of the probability",
        lambda: OneVsRest(Platt(scale="probability")),
        4.0,
        100.0,
        (2, 40),
    ),
    Candidate("beta calibration", lambda: OneVsRest(Beta()), 6.0, 100.0, (2, 40)),
    Candidate("quadratic scaling", lambda: OneVsRest(QuadraticScaling()), 8.0, 100.0, (2, 40)),
    Candidate("spline", lambda: OneVsRest(Spline()), 15.0, 250.0, (2, 40)),
    Candidate(
        "centred isotonic regression", lambda: OneVsRest(CenteredIsotonic()), 3.0, 100.0, (2, 40)
    ),
    Candidate(
        "near-isotonic regression",
        lambda: OneVsRest(NearIsotonic()),
        *(20.0, 1_000.0, (2, 2)),
        most_entries=2e4,
    ),
    Candidate("offsets by group", GroupCalibrator, 6.0, 100.0, (2, 40)),
    # Offsets of the predictions as they are need neither many rows nor few classes: they are tried
    # wherever groups are passed.
    Candidate("offsets by group alone", _offsets_alone, 2.0),
    Candidate("small offsets by group", _small_offsets, 6.0, 100.0, (2, 40)),
    Candidate("boosted trees", Multicalibration, 30.0, 250.0, (2, 10)),
    Candidate("Venn-Abers prediction", lambda: OneVsRest(VennAbers()), 5.0, 100.0, (2, 40)),
)


def candidates_for(
    n: float,
    n_classes: int,
    names: Collection[str] | None = None,
    max_cost: float | None = None,
    given: Collection[str] = (),
    others: float = 1.0,
) -> list[Candidate]:
    """Return the candidates for n rows (sum of weights) and K classes by cost; the uncalibrated one
    is always among them.

    ``given`` are those of "X", "reference" and "groups" that come with the rows; candidates that
    need another are left out. ``others`` is the share of the rows outside the most frequent class.
    ``names`` restricts the choice; the most expensive are dropped until the costs sum to at most
    ``max_cost``.
    """
    suitable = [
        c
        for c in CANDIDATES
        if c.enters(n, names)
        and c.classes[0] <= n_classes <= c.classes[1]
        and n * n_classes <= c.most_entries
        and others <= c.most_others
        and c.tags.suits(given)
    ]
    there = {c.name for c in suitable}
    return affordable([c for c in suitable if names or c.unless not in there], max_cost)
