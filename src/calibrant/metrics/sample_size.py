"""Sample sizes: numbers of rows for a validation, or an update, of a risk model, and the result of
such a calculation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant._numerics.intervals import normal_quantile
from calibrant._numerics.logistic import sigmoid
from calibrant._numerics.planning import (
    auroc_rows,
    benefit_rows,
    beta_law,
    class_laws,
    normal_law,
    offset_rows,
    ratio_rows,
    ratio_standard_error,
    recalibration_information,
    slope_rows,
    true_rates,
    typical_rows,
)
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_option
from calibrant.core.guarantee import plain
from calibrant.core.metric import require_level
from calibrant.errors import InputError

__all__ = [
    "Criterion",
    "ExpectedRisks",
    "SampleSize",
    "expected_risks",
    "require_inside",
    "require_positive",
    "sample_size",
    "updating_size",
    "validation_size",
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
            "the distribution of risks is unknown; pass prevalence= and auroc=, or normal=, beta="
            " or risks=."
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


#: pmvalsampsize uses 1.96 for the normal quantile and searches for the standard error of log(O/E)
#: in steps of this size. It rounds that of net benefit to so many digits, and sensitivity and
#: specificity that it computes itself to so many.
PACKAGE_Z, PACKAGE_STEP, PACKAGE_DIGITS, PACKAGE_RATE_DIGITS = 1.96, 1e-4, 3, 2


def validation_size(
    *,
    prevalence: float | None = None,
    auroc: float | None = None,
    risks: ArrayLike | None = None,
    normal: Sequence[float] | None = None,
    beta: Sequence[float] | None = None,
    oe: float = 1.0,
    intercept: float = 0.0,
    slope: float = 1.0,
    threshold: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    oe_width: float | None = 0.2,
    slope_width: float | None = 0.2,
    auroc_width: float | None = 0.1,
    net_benefit_width: float | None = 0.2,
    margin: float | None = None,
    level: float = 0.95,
    rounding: Literal["none", "pmvalsampsize"] = "none",
) -> SampleSize:
    r"""Compute the rows that an external validation needs for intervals of stated widths.

    With N rows, a share :math:`\phi` of events and the AUROC C, the standard errors are

    .. math::

        \mathrm{SE}(\ln O/E) &= \sqrt{\frac{1 - \phi}{N \phi}}, \qquad
        \mathrm{SE}(b) = \sqrt{\frac{I_a}{N (I_a I_b - I_{ab}^2)}}, \\
        \mathrm{SE}(C) &= \sqrt{\frac{C (1 - C) \left(1 + (N / 2 - 1) \left(\frac{1 - C}{2 - C} +
        \frac{C}{1 + C}\right)\right)}
                                     {N^2 \phi (1 - \phi)}}, \\
        \mathrm{SE}(\mathrm{sNB}) &= \sqrt{\frac{1}{N} \left(\frac{\mathrm{se} (1 -
        \mathrm{se})}{\phi}
            + \frac{w^2 \mathrm{sp} (1 - \mathrm{sp})}{1 - \phi} + \frac{w^2 (1 -
            \mathrm{sp})^2}{\phi (1 - \phi)}\right)}

    where I is Fisher's information of one row on the intercept a and the slope b of the
    recalibration, averaged over the distribution of the log-odds, se and sp are sensitivity and
    specificity at the threshold t, and :math:`w = (1 - \phi) / \phi \cdot t / (1 - t)`.

    Parameters
    ----------
    prevalence : float, optional
        The expected share of rows with the event, above 0 and below 1. Default: the share implied
        by the distribution of risks.
    auroc : float, optional
        The expected AUROC (c-statistic), above 0.5 and below 1. Default: the value implied by the
        distribution of risks.
    risks : (m,), optional
        Predicted risks of a pilot sample, above 0 and below 1. This and the next two are three
        forms of the distribution of risks. Without any of them the log-odds are normal with one
        variance among events and among the others, from prevalence and AUROC.
    normal : (mean, standard deviation), optional
        Parameters of normally distributed log-odds (the linear predictor).
    beta : (a, b), optional
        Parameters of beta-distributed risks.
    oe : float, default 1.0
        The expected ratio of observed to expected events.
    intercept, slope : float, default 0.0 and 1.0
        The expected recalibration: the true log-odds are
        ``intercept + slope * (predicted log-odds)``.
    threshold : float, optional
        The risk at which people act; net benefit needs it.
    sensitivity, specificity : float, optional
        Values at the threshold. Default: those implied by the distribution of risks.
    oe_width, slope_width, auroc_width, net_benefit_width : float or None
        The width of each interval, upper limit minus lower limit; None leaves the measure out. Net
        benefit is standardised (at most 1).
    margin : float, optional
        The largest error that would not matter, such as .02: plan to show that true risks are
        typically within it, as a report says.
    level : float, default 0.95
        The level of the intervals; that of the typical error is 95 %.
    rounding : {"none", "pmvalsampsize"}
        "pmvalsampsize" repeats the rounding steps of that package (1.96 for the normal quantile,
        standard errors in steps), which change a result by up to about 0.1 %, so that its published
        results are reproduced to the last digit. It requires a level of 0.95.

    Returns
    -------
    SampleSize
        Rows, events, and the rows for each measure; it prints as a sentence.

    Raises
    ------
    InputError
        When the distribution of risks is missing or ambiguous, or a value lies outside its range.

    See Also
    --------
    updating_size : rows to recalibrate a model.
    metrics.calibration_slope, metrics.observed_expected_ratio : measures of the study.

    Notes
    -----
    Use it before data of new patients, customers or sites are collected, and to judge whether
    existing data are enough. The slope usually needs the most rows, and its result depends on the
    spread of the risks: use that of the model's development data rather than prevalence and AUROC.
    The formulas assume independent rows; with clusters of m rows and intraclass correlation r,
    multiply by 1 + (m - 1) r. They do not cover a flexible calibration curve or subgroups: plan
    each subgroup separately.

    References
    ----------
    Riley et al., "Minimum sample size for external validation of a clinical prediction model with a
    binary outcome", Statistics in Medicine 40, 2021. Newcombe, "Confidence intervals for an effect
    size measure based on the Mann-Whitney statistic", 2006. Marsh, Janes and Pepe, "Statistical
    inference for net benefit measures in biomarker validation studies", Biometrics 76, 2020.

    Examples
    --------
    A model of mechanical heart valve failure, as in Riley et al. (2021) and in the manual of
    pmvalsampsize:

    >>> from calibrant.metrics import validation_size
    >>> size = validation_size(prevalence=0.018, auroc=0.8, normal=(-5, 2.5), oe_width=1)
    >>> size.rows, size.events
    (4554, 82)
    >>> {one.name: one.rows for one in size.criteria}
    {'O/E': 906, 'calibration slope': 4554, 'AUROC': 4252}
    """
    require_level(level)
    require_option("rounding", rounding, ("none", "pmvalsampsize"))
    rounded = rounding == "pmvalsampsize"
    law = expected_risks(prevalence, auroc, risks, normal, beta, (intercept, slope))
    z, events, area = (
        PACKAGE_Z if rounded else normal_quantile(level),
        law.prevalence,
        law.auroc if auroc is None else auroc,
    )
    criteria: list[tuple[str, float, float, float, float]] = []
    if oe_width is not None:
        error = ratio_standard_error(
            require_positive("oe", oe), require_positive("oe_width", oe_width), z
        )
        error = _stepped(error) if rounded else error
        criteria.append(("O/E", ratio_rows(events, error), oe, error, oe_width))
    if slope_width is not None:
        error = require_positive("slope_width", slope_width) / (2.0 * z)
        information = recalibration_information(law.odds, law.share, intercept, slope)
        criteria.append(
            ("calibration slope", slope_rows(information, error), slope, error, slope_width)
        )
    if auroc_width is not None:
        error = require_positive("auroc_width", auroc_width) / (2.0 * z)
        criteria.append(("AUROC", auroc_rows(area, events, error), area, error, auroc_width))
    if threshold is not None and net_benefit_width is not None:
        error = require_positive("net_benefit_width", net_benefit_width) / (2.0 * z)
        error = round(_stepped(error), PACKAGE_DIGITS) if rounded else error
        criteria.append(
            (
                *_benefit(law, threshold, sensitivity, specificity, error, rounded),
                error,
                net_benefit_width,
            )
        )
    if margin is not None:
        rows = typical_rows(law.risk, law.share, require_inside("margin", margin))
        variance = float(law.share @ (law.risk * (1.0 - law.risk)))
        criteria.append(("typical error", rows, 0.0, math.sqrt(variance / rows), margin))
    if not criteria:
        raise InputError(
            "at least one width must be a number; got None for every measure; set oe_width,"
            " slope_width or auroc_width."
        )
    return sample_size(criteria, events, level, law.caution)


def _benefit(
    law: ExpectedRisks,
    threshold: float,
    sensitivity: float | None,
    specificity: float | None,
    error: float,
    rounded: bool,
):
    """Return (name, rows, standardised net benefit) at the threshold."""
    require_inside("threshold", threshold)
    if (sensitivity is None) != (specificity is None):
        raise InputError(
            "sensitivity and specificity must be passed together; got one of them; pass both, or"
            " neither."
        )
    if sensitivity is None or specificity is None:
        sensitivity, specificity = true_rates(law.odds, law.risk, law.share, threshold)
        if rounded:
            sensitivity, specificity = (
                round(sensitivity, PACKAGE_RATE_DIGITS),
                round(specificity, PACKAGE_RATE_DIGITS),
            )
    elif not (0.0 <= sensitivity <= 1.0 and 0.0 <= specificity <= 1.0):
        raise InputError(
            f"sensitivity and specificity must lie in [0, 1]; got {sensitivity!r} and"
            f" {specificity!r}; pass them as shares."
        )
    events = law.prevalence
    value = sensitivity - (1.0 - specificity) * (1.0 - events) / events * threshold / (
        1.0 - threshold
    )
    return (
        "standardised net benefit",
        benefit_rows(sensitivity, specificity, events, threshold, error),
        value,
    )


def _stepped(error: float) -> float:
    """Return the smallest multiple of the package's step that is at least the standard error."""
    return PACKAGE_STEP * math.ceil(error / PACKAGE_STEP - 1e-6)


def updating_size(
    *,
    update: Literal["intercept", "intercept and slope"] = "intercept and slope",
    prevalence: float | None = None,
    auroc: float | None = None,
    risks: ArrayLike | None = None,
    normal: Sequence[float] | None = None,
    beta: Sequence[float] | None = None,
    intercept: float = 0.0,
    slope: float = 1.0,
    offset_width: float = 0.4,
    slope_width: float = 0.4,
    level: float = 0.95,
) -> SampleSize:
    r"""Compute the rows that the recalibration of a model needs for a stated precision of its
    intercept and slope.

    The recalibration is :math:`\mathrm{logit}\, P(y = 1) = a + b \,\mathrm{logit}\, p`. With N rows

    .. math:: \mathrm{SE}(a) = \frac{1}{\sqrt{N I_a}}, \qquad \mathrm{SE}(b) = \sqrt{\frac{I_a}{N
        (I_a I_b - I_{ab}^2)}}

    where I is Fisher's information of one row, averaged over the distribution of the log-odds.
    SE(a) is that of the intercept with the slope held at 1; where the slope is fitted too, it is
    that of the line at the mean log-odds (weighted by p (1 - p)).

    Parameters
    ----------
    update : {"intercept", "intercept and slope"}
        The parameters to fit again.
    prevalence, auroc, risks, normal, beta
        The distribution of predicted risks, as in ``validation_size``. ``prevalence`` only counts
        the events.
    intercept, slope : float, default 0.0 and 1.0
        The expected recalibration: the true log-odds are
        ``intercept + slope * (predicted log-odds)``.
    offset_width : float, default 0.4
        The width of the interval of the shift of the log-odds; 0.4 allows the odds an error of a
        factor of 1.22 either way.
    slope_width : float, default 0.4
        The width of the interval of the slope.
    level : float, default 0.95
        The level of the intervals.

    Returns
    -------
    SampleSize
        Rows, events, and the rows for the shift and for the slope; it prints as a sentence.

    Raises
    ------
    InputError
        As ``validation_size`` does.

    See Also
    --------
    validation_size : rows to validate a model.
    Platt : the recalibration by intercept and slope.

    Notes
    -----
    Use it to plan the number of local rows before a model is updated at a new site. With fewer rows
    than a slope needs, update the intercept alone, or choose by a closed test (``ClosedTest``). It
    does not cover refitting of single coefficients or flexible maps, which need more rows. The
    formulas assume independent rows.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 45, 1958 (the
    recalibration); its information as in Riley et al., Statistics in Medicine 40, 2021; Janssen et
    al., "Updating methods improved the performance of a clinical prediction model in new patients",
    Journal of Clinical Epidemiology 61, 2008. Planning an update by it is our use of these.

    Examples
    --------
    >>> from calibrant.metrics import updating_size
    >>> from calibrant.metrics import updating_size
    >>> size = updating_size(normal=(-2.0, 1.0))
    >>> size.rows, size.events, size.driver.name
    (1080, 168, 'slope')
    >>> updating_size(update="intercept", normal=(-2.0, 1.0)).rows
    830
    """
    require_level(level)
    require_option("update", update, ("intercept", "intercept and slope"))
    law = expected_risks(prevalence, auroc, risks, normal, beta, (intercept, slope))
    z, information = (
        normal_quantile(level),
        recalibration_information(law.odds, law.share, intercept, slope),
    )
    error = require_positive("offset_width", offset_width) / (2.0 * z)
    criteria = [
        ("shift of the log-odds", offset_rows(information, error), intercept, error, offset_width)
    ]
    if update == "intercept and slope":
        error = require_positive("slope_width", slope_width) / (2.0 * z)
        criteria.append(("slope", slope_rows(information, error), slope, error, slope_width))
    return sample_size(criteria, law.prevalence, level, law.caution)
