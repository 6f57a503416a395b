"""Rows that the recalibration of a model of a binary outcome needs."""

from collections.abc import Sequence
from typing import Literal

from numpy.typing import ArrayLike

from calibrant._kernels.intervals import normal_quantile
from calibrant._kernels.planning import offset_rows, recalibration_information, slope_rows
from calibrant._support.options import require_option
from calibrant.contracts.interval import require_level
from calibrant.plan.expected_risks import expected_risks, require_positive
from calibrant.plan.sample_size import SampleSize, sample_size

__all__ = ["updating_size"]


def updating_size(
    *, update: Literal["intercept", "intercept and slope"] = "intercept and slope", prevalence: float | None = None,
    auroc: float | None = None, risks: ArrayLike | None = None, normal: Sequence[float] | None = None, beta: Sequence[float] | None = None,
    intercept: float = 0.0, slope: float = 1.0, offset_width: float = 0.4, slope_width: float = 0.4, level: float = 0.95,
) -> SampleSize:  # fmt: skip
    r"""Compute the rows that the recalibration of a model needs for a stated precision of its intercept and slope.

    The recalibration is :math:`\mathrm{logit}\, P(y = 1) = a + b \,\mathrm{logit}\, p`. With N rows

    .. math:: \mathrm{SE}(a) = \frac{1}{\sqrt{N I_a}}, \qquad \mathrm{SE}(b) = \sqrt{\frac{I_a}{N (I_a I_b - I_{ab}^2)}}

    where I is Fisher's information of one row, averaged over the distribution of the log-odds. SE(a) is that of the intercept with
    the slope held at 1; where the slope is fitted too, it is that of the line at the mean log-odds (weighted by p (1 - p)).

    Parameters
    ----------
    update : {"intercept", "intercept and slope"}
        What is fitted anew.
    prevalence, auroc, risks, normal, beta
        The distribution of predicted risks, as in ``validation_size``. ``prevalence`` only counts the events.
    intercept, slope : float, default 0.0 and 1.0
        The expected recalibration: the true log-odds are ``intercept + slope * (predicted log-odds)``.
    offset_width : float, default 0.4
        The width of the interval of the shift of the log-odds; 0.4 lets the odds be off by a factor of 1.22 either way.
    slope_width : float, default 0.4
        The width of the interval of the slope.
    level : float, default 0.95
        The level of the intervals.

    Returns
    -------
    SampleSize
        Rows, events, and the rows for the shift and for the slope; printing it gives a sentence.

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
    Use it to plan how many local rows to collect before a model is updated at a new site. Where fewer rows are at hand than a slope
    needs, update the intercept alone, or let a closed test choose (``ClosedTest``). It says nothing of refitting single coefficients or
    of flexible maps, which need more rows. The formulas assume independent rows.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 45, 1958 (the recalibration); its information as in
    Riley et al., Statistics in Medicine 40, 2021; Janssen et al., "Updating methods improved the performance of a clinical prediction
    model in new patients", Journal of Clinical Epidemiology 61, 2008. Planning an update by it is our use of these.

    Examples
    --------
    >>> from calibrant.plan import updating_size
    >>> from calibrant.plan import updating_size
    >>> size = updating_size(normal=(-2.0, 1.0))
    >>> size.rows, size.events, size.driver.name
    (1080, 168, 'slope')
    >>> updating_size(update="intercept", normal=(-2.0, 1.0)).rows
    830
    """
    require_level(level)
    require_option("update", update, ("intercept", "intercept and slope"))
    law = expected_risks(prevalence, auroc, risks, normal, beta, (intercept, slope))
    z, information = normal_quantile(level), recalibration_information(law.odds, law.share, intercept, slope)
    error = require_positive("offset_width", offset_width) / (2.0 * z)
    criteria = [("shift of the log-odds", offset_rows(information, error), intercept, error, offset_width)]
    if update == "intercept and slope":
        error = require_positive("slope_width", slope_width) / (2.0 * z)
        criteria.append(("slope", slope_rows(information, error), slope, error, slope_width))
    return sample_size(criteria, law.prevalence, level, law.caution)
