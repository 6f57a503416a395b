"""Any calibration error as a test: against labels drawn from the predictions."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.bootstrap import null_generator
from calibrant._support.options import require_count
from calibrant.contracts.kinds import require_metric
from calibrant.contracts.metric import Metric
from calibrant.contracts.reading import CLASSIFICATION, read_labelled
from calibrant.errors import InputError
from calibrant.metrics.significance.calibration_test import CalibrationTest
from calibrant.predictions import Inputs

__all__ = ["calibration_error_test"]


def calibration_error_test(
    metric: Metric, y_true: ArrayLike, P: ArrayLike, *, n_draws: int = 199, random_state: int = 0, sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None, inputs: Inputs = "probability",
) -> CalibrationTest:  # fmt: skip
    r"""Test calibration by any calibration error: how often labels drawn from the predictions show one as large.

    .. math:: p = \frac{1 + \#\{ m : E(y^{(m)}, P) \ge E(y, P) \}}{1 + M}, \quad y^{(m)}_i \sim P_i

    Parameters
    ----------
    metric : Metric
        Of classes, that is smaller for better calibration, such as ``full_calibration_error`` or ``expected_calibration_error``.
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    n_draws : int, default 199
        M; the p-value is a multiple of 1 / (n_draws + 1).
    random_state : int, default 0
    sample_weight : (n,), optional
        Weight 2 means the row twice (rounded to whole rows), weight 0 no row.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    CalibrationTest

    Raises
    ------
    InputError
        When the predictions cannot be read or an option cannot be used.

    See Also
    --------
    kernel_calibration_test, t_cal_test, cumulative_test : with more power, and faster.

    Notes
    -----
    Exact for any n, bins and classes, since the null is drawn: use it to ask of a number that someone reports whether it is more than
    chance. Labels are drawn row by row: where rows hang together take a test with ``cluster=``. PyCalib's pECE is this of
    ``full_calibration_error``, without the 1 that makes it a p-value.

    References
    ----------
    Vaicenavicius et al., "Evaluating model calibration in classification", AISTATS 2019.

    Examples
    --------
    >>> from calibrant.metrics import full_calibration_error
    >>> calibration_error_test(full_calibration_error, [0, 1] * 50, [0.3, 0.7] * 50).p_value < 0.05
    True
    """
    if require_metric(metric).domain is not CLASSIFICATION or metric.direction != "minimize":
        raise InputError(f"metric must be a calibration error of classes, smaller for better; got {metric!r}.")
    require_count("n_draws", n_draws, 19, usual=999)
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    n, rng = float(record.weights.sum()), null_generator(random_state)
    if record.weight is not None:
        # A row of weight w stands for w rows, with labels of their own.
        record = record.take(np.repeat(np.arange(len(record)), np.maximum(np.rint(record.weight), 1.0).astype(int)))
        record = replace(record, weight=None)
    observed = float(metric.of(record))
    edges = np.cumsum(record.probabilities, axis=1)[:, :-1]
    drawn = [metric.of(replace(record, labels=(rng.random((len(record), 1)) > edges).sum(axis=1))) for _ in range(n_draws)]
    p_value = (1.0 + float(np.sum(np.array(drawn) >= observed - 1e-12))) / (n_draws + 1.0)
    return CalibrationTest(observed, p_value, f"{metric.name}, exact, {n_draws} draws", n)
