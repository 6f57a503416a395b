"""Upper bound of the binned calibration error that holds with a given probability."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics import bins
from calibrant.core.estimators import require_count, require_option
from calibrant.core.given import Inputs
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled

__all__ = ["CalibrationErrorBound", "bound_of_sums", "calibration_error_bound"]


@dataclass(frozen=True)
class CalibrationErrorBound:
    """Error on the data, slack and their sum: the true binned error exceeds ``bound`` with
    probability at most ``alpha``.

    Attributes
    ----------
    error : float
        The expected calibration error on these rows, equal-width bins.
    slack : float
    bound : float
        error + slack, at most 1.
    alpha : float
    method : str
    n : float
        Sum of the weights.
    """

    error: float
    slack: float
    bound: float
    alpha: float
    method: str
    n: float


def _of(
    record: Predictions,
    *,
    alpha: float = 0.05,
    n_bins: int = 15,
    target: Any = "answer",
    method: Literal["hoeffding", "paper"] = "hoeffding",
) -> CalibrationErrorBound:
    require_level(alpha, "alpha", usual=0.05)
    require_count("n_bins", n_bins)
    require_option("method", method, ("hoeffding", "paper"))
    score, hit = record.pair(target)
    sums = bins.grouped_sums(
        bins.equal_width_index(score, n_bins, record.resolution),
        n_bins,
        [score, hit],
        record.weight,
    )
    return bound_of_sums(sums, alpha, method)


def bound_of_sums(
    sums: np.ndarray, alpha: float = 0.05, method: str = "hoeffding"
) -> CalibrationErrorBound:
    """Compute the bound from (B, 3) sums of weight, score and hits in bins of equal width; sums of
    parts add up.
    """
    n_bins, n = len(sums), float(sums[:, 0].sum())
    error = float(np.abs(sums[:, 1] - sums[:, 2]).sum() / n)
    if method == "hoeffding":
        slack = np.sqrt(2.0 * (n_bins * np.log(2.0) - np.log(alpha)) / n)
    else:
        slack = n_bins * np.sqrt(2.0 / n) * np.sqrt(2.0 * np.log(2.0) - np.log(alpha))
    return CalibrationErrorBound(
        error, float(slack), float(min(error + slack, 1.0)), alpha, method, n
    )


@on_record(_of)
def calibration_error_bound(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    alpha: float = 0.05,
    n_bins: int = 15,
    target: Any = "answer",
    method: Literal["hoeffding", "paper"] = "hoeffding",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> CalibrationErrorBound:
    r"""Bound the binned calibration error of the population by that of a sample (probably
    approximately correct).

    .. math:: \mathrm{CE} \le \mathrm{ECE} + \sqrt{\frac{2 (J \ln 2 + \ln(1/\alpha))}{N}}

    by Hoeffding's inequality over the :math:`2^J` sign patterns of J bins. ``method="paper"`` is
    Theorem 2 of the paper, :math:`\mathrm{ECE} + J \sqrt{2/N} \sqrt{2 \ln 2 - \ln\alpha}`: at J =
    15, N = 5,000 and alpha = 0.05 it adds 0.628 where 0.073 is enough.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    alpha : float, default 0.05
        Probability with which the bound may fail; the paper's delta.
    n_bins : int, default 15
        Equal-width bins, fixed in advance.
    target : {"answer", "event"} or a class label
    method : {"hoeffding", "paper"}
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationErrorBound

    Raises
    ------
    InputError
        When the predictions, alpha, n_bins or method are invalid.

    See Also
    --------
    expected_calibration_error : the error of the sample.
    debiased_calibration_error : an estimate for the population.

    Notes
    -----
    It holds for independent rows that were not used to fit the calibrator, and for these bins only.
    For an estimate with a calibrated interval, which is much tighter, use
    ``expected_calibration_error.interval``.

    The paper's proof is invalid, but its conclusion is true. The proof assumes
    :math:`P[\sum_j a_j \ge \epsilon]` to be at most :math:`\max_j P[a_j \ge \epsilon / J]`; two
    independent Bernoulli(0.3) with :math:`\epsilon = 1` have 0.51 and 0.30. (The sum over j instead
    of the maximum is correct, and would put :math:`\ln(4J)` where the theorem has :math:`2 \ln 2`.)
    The theorem follows from the bound above, which is never larger:
    :math:`J \ln 2 + \ln(1/\alpha) \le J^2 (2 \ln 2 + \ln(1/\alpha))`.

    References
    ----------
    Jang, Ivanov, Lee and Weimer, "Confidence calibration using logits transformations", 2021,
    Theorem 2. Weissman et al., "Inequalities for the L1 deviation of the empirical distribution",
    2003.

    Examples
    --------
    >>> bound = calibration_error_bound([0, 1] * 2500, [0.25, 0.75] * 2500)
    >>> round(bound.error, 3), round(bound.slack, 3), round(bound.bound, 3)
    (0.25, 0.073, 0.323)
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return calibration_error_bound.of(
        record, alpha=alpha, n_bins=n_bins, target=target, method=method
    )
