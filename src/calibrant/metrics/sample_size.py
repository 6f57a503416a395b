"""Result of a sample size calculation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.logistic import sigmoid
from calibrant._numerics.planning import beta_law, class_laws, normal_law
from calibrant.core import arrays
from calibrant.core.guarantee import plain
from calibrant.errors import InputError

__all__ = [
    "Criterion",
    "ExpectedRisks",
    "SampleSize",
    "expected_risks",
    "require_inside",
    "require_positive",
    "sample_size",
]


@dataclass(frozen=True)
class Criterion:
    """Rows that one measure needs for an interval of the stated width.

    Attributes
    ----------
    name : str
        The measure, such as "calibration slope".
    rows : int
        Number of rows that it needs.
    value : float
        The value it is expected to have.
    standard_error : float
        The standard error at that number (of log(O/E) for "O/E").
    width : float
        The width of its interval, upper limit minus lower limit.

    See Also
    --------
    SampleSize : all criteria, and the rows that satisfy all of them.
    """

    name: str
    rows: int
    value: float
    standard_error: float
    width: float


@dataclass(frozen=True)
class SampleSize:
    """Rows and events that a study needs, with the rows for each criterion; it prints as a
    sentence.

    Attributes
    ----------
    rows : int
        The largest number of rows that any criterion needs.
    events : int
        The events expected among them, rounded up.
    prevalence : float
        The expected share of rows with the event.
    level : float
        The level of the intervals whose widths were stated.
    criteria : tuple of Criterion
        One for each measure.
    caution : str or None
        A warning about the inputs, as a sentence.

    See Also
    --------
    validation_size : rows to validate a model.
    updating_size : rows to recalibrate one.
    """

    rows: int
    events: int
    prevalence: float
    level: float
    criteria: tuple[Criterion, ...]
    caution: str | None = None

    @property
    def driver(self) -> Criterion:
        """The criterion that needs the most rows."""
        return max(self.criteria, key=lambda one: one.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values, ready for JSON; ``criteria`` is by name."""
        names = ("rows", "events", "prevalence", "level", "caution")
        criteria = {
            one.name: {k: v for k, v in vars(one).items() if k != "name"} for one in self.criteria
        }
        return plain({**{name: getattr(self, name) for name in names}, "criteria": criteria})

    def __str__(self) -> str:
        top = self.driver
        said = (
            f"{self.rows:,} rows with {self.events:,} events ({self.prevalence:.3g} of the rows)"
            f" are needed: the {100.0 * self.level:g} % interval of the {top.name} (expected"
            f" {top.value:.3g}) is then {top.width:.3g} wide."
        )
        others = [
            f"{one.rows:,} for the {one.name} (width {one.width:.3g})"
            for one in self.criteria
            if one is not top
        ]
        fewer = [f"The other measures need fewer rows: {', '.join(others)}."] if others else []
        return " ".join([said, *fewer, *([self.caution] if self.caution else [])])


def sample_size(
    criteria: Sequence[tuple[str, float, float, float, float]],
    prevalence: float,
    level: float,
    caution: str | None,
) -> SampleSize:
    """Build from (name, possibly fractional rows, value, standard error, width) of each
    criterion.
    """
    # A rounding error must not add a row to a whole number.
    found = tuple(
        Criterion(name, math.ceil(rows - 1e-9 * rows), *map(float, rest))
        for name, rows, *rest in criteria
    )
    rows = max(one.rows for one in found)
    return SampleSize(rows, math.ceil(rows * prevalence - 1e-9), prevalence, level, found, caution)


#: Maximum factor between the stated share of events and the one that the risks imply, before a
#: warning.
DIFFERENT = 1.25


@dataclass(frozen=True)
class ExpectedRisks:
    """Log-odds of the predicted risks (m,), the share of rows at each (m,), and their true risk
    (m,); and the stated prevalence, if any.
    """

    odds: np.ndarray
    share: np.ndarray
    risk: np.ndarray
    stated: float | None

    @property
    def implied(self) -> float:
        """The share of events among these rows."""
        return float(self.share @ self.risk)

    @property
    def prevalence(self) -> float:
        """The stated share of events, or else the implied one."""
        return self.implied if self.stated is None else self.stated

    @property
    def auroc(self) -> float:
        """Probability that a row with the event has a higher predicted risk than one without."""
        order = np.argsort(self.odds, kind="stable")
        values, place = np.unique(self.odds[order], return_inverse=True)
        events, others = (
            np.bincount(place, weights=(self.share * side)[order], minlength=len(values))
            for side in (self.risk, 1.0 - self.risk)
        )
        return float(events @ (np.cumsum(others) - 0.5 * others) / (events.sum() * others.sum()))

    @property
    def caution(self) -> str | None:
        """A warning if the stated prevalence and the risks disagree."""
        if self.stated is None or 1.0 / DIFFERENT <= self.implied / self.stated <= DIFFERENT:
            return None
        return (
            f"The distribution of risks implies a share of events of {self.implied:.3g}, not"
            f" {self.stated:.3g}: check both."
        )


def expected_risks(
    prevalence: float | None,
    auroc: float | None,
    risks: ArrayLike | None,
    normal: Sequence[float] | None,
    beta: Sequence[float] | None,
    line: tuple[float, float],
) -> ExpectedRisks:
    """Build the distribution from its one form; ``line`` is the intercept and the slope of the true
    log-odds on the predicted.
    """
    given = [
        name
        for name, value in (("risks", risks), ("normal", normal), ("beta", beta))
        if value is not None
    ]
    if len(given) > 1:
        raise InputError(
            f"the distribution of risks must have one form; got {' and '.join(given)}; leave out"
            " all but one."
        )
    if prevalence is not None:
        require_inside("prevalence", prevalence)
    if auroc is not None and not 0.5 < auroc < 1.0:
        raise InputError(
            f"auroc must be above 0.5 and below 1; got {auroc!r}; take it from an earlier"
            " validation."
        )
    if risks is not None:
        values = arrays.scores(risks, "risks", "unit")
        if not ((values > 0.0) & (values < 1.0)).all():
            raise InputError(
                "risks must lie strictly between 0 and 1, because their log-odds are used; drop"
                " or clip those that are 0 or 1."
            )
        odds, share = np.log(values) - np.log1p(-values), np.full(len(values), 1.0 / len(values))
    elif normal is not None:
        mean, deviation = _two("normal", normal, "(mean, standard deviation) of the log-odds")
        odds, share = normal_law(
            mean, require_positive("the standard deviation in normal", deviation)
        )
    elif beta is not None:
        a, b = _two("beta", beta, "the two parameters of the risks' beta distribution")
        odds, share = beta_law(
            require_positive("the first of beta", a), require_positive("the second of beta", b)
        )
    elif prevalence is not None and auroc is not None:
        odds, share = class_laws(prevalence, auroc)
    else:
        raise InputError(
            "the distribution of risks is unknown; pass risks, normal or beta, or both prevalence"
            " and auroc."
        )
    return ExpectedRisks(odds, share, sigmoid(line[0] + line[1] * odds), prevalence)


def require_inside(name: str, value: float) -> float:
    """Return the value; InputError unless it lies strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise InputError(
            f"{name} must lie strictly between 0 and 1; got {value!r}; pass it as a share, not in"
            " percent."
        )
    return value


def require_positive(name: str, value: float) -> float:
    """Return the value; InputError unless it is a finite number above 0."""
    if not 0.0 < value < float("inf"):
        raise InputError(f"{name} must be a finite number above 0; got {value!r}.")
    return value


def _two(name: str, values: Sequence[float], meaning: str):
    if len(values) != 2 or not all(map(math.isfinite, values)):
        raise InputError(f"{name} must be two finite numbers, {meaning}; got {values!r}.")
    return float(values[0]), float(values[1])
