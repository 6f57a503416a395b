"""Numbers of rows for a validation, or an update, of a risk model."""

import math
from collections.abc import Sequence
from typing import Literal

from numpy.typing import ArrayLike

from calibrant._numerics.intervals import normal_quantile
from calibrant._numerics.planning import (
    auroc_rows,
    benefit_rows,
    offset_rows,
    ratio_rows,
    ratio_standard_error,
    recalibration_information,
    slope_rows,
    true_rates,
)
from calibrant.core.estimators import require_option
from calibrant.core.metric import require_level
from calibrant.errors import InputError
from calibrant.metrics.sample_size import (
    ExpectedRisks,
    SampleSize,
    expected_risks,
    require_inside,
    require_positive,
    sample_size,
)

__all__ = ["updating_size", "validation_size"]

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
    level : float, default 0.95
        The level of the intervals.
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
