"""One factor for all covariances, or one for each principal direction."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant._support.estimators import BaseEstimator
from calibrant._support.options import require_option
from calibrant._support.saving import Saved
from calibrant._support.trial import require_valid, trial
from calibrant.contracts.calibrator import require_fitted
from calibrant.errors import FitWarning, InputError, warn
from calibrant.forecasts.joint_normal import JointNormalForecast
from calibrant.forecasts.read_joint import as_joint, read_joint

__all__ = ["CovarianceScaling"]


class CovarianceScaling(Saved, BaseEstimator):
    r"""Multiply covariances by one factor, or each principal variance by its own, for the least normal log loss.

    .. math:: \Sigma' = Q \, \mathrm{diag}(s_k^2 v_k) \, Q^\top, \qquad
        s_k^2 = \frac{\sum_i w_i (q_{ik}^\top (y_i - \mu_i))^2 / v_{ik}}{\sum_i w_i}

    in closed form; the one factor is the mean of these :math:`s_k^2`.

    .. versionadded:: 0.2

    Parameters
    ----------
    factors : {"one", "directions"}
        One for all, or one for each direction from the least variance to the greatest.

    Attributes
    ----------
    scale_ : (1,) or (d,)
        On standard deviations: above 1 the model was overconfident, below 1 underconfident.
    n_outputs_ : int
    n_rows_ : float
        Calibration rows, by weight.
    status_ : "exact"; "no error" (every residual is 0 along a direction: its scale is 1, with a FitWarning).

    See Also
    --------
    StdScaling : the same for one output, or outputs on their own.
    JointNormalForecast : what it takes and gives.

    Notes
    -----
    One factor cannot overfit, and keeps all correlations. With "directions" it repairs correlations that are said too strong or too weak;
    each is fitted on all rows, so that a hundred rows are enough. Where two variances of a row are equal its directions, and so their
    factors, are arbitrary: use one factor for forecasts that are near to round. Neither mends a bias nor a shape that is not normal.

    Examples
    --------
    >>> mean, cov = [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 4.0]]
    >>> cal = CovarianceScaling(factors="directions").fit((mean, cov), [[2.0, 2.0], [-2.0, -2.0]])
    >>> cal.scale_.tolist()
    [2.0, 1.0]
    >>> cal.predict((mean, cov)).cov[0].tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """

    def __init__(self, factors: Literal["one", "directions"] = "one") -> None:
        self.factors: Literal["one", "directions"] = factors

    def fit(self, forecast: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit on held-out forecasts and what came true.

        Parameters
        ----------
        forecast : JointNormalForecast, or (mean, cov)
        y : (n, d) outcomes
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.
        """
        require_option("factors", self.factors, ("one", "directions"))
        record = read_joint(forecast, y, sample_weight)
        joint = record.normal
        size = np.abs(joint.along(record.y)) / np.sqrt(joint.principal_variance)
        # Divided by the largest first: residuals far beyond their std must not overflow when squared.
        largest = size.max(axis=0) if self.factors == "directions" else np.full(1, size.max())
        none = largest == 0.0
        each = np.average(np.square(size / np.where(none, 1.0, largest)), axis=0, weights=record.weights)
        mean = each if self.factors == "directions" else each.mean(keepdims=True)
        self.status_: str = "exact"
        if none.any():
            warn("CovarianceScaling saw no error at all along a direction; the variances there are left as they are.", FitWarning)
            self.status_ = "no error"
        self.scale_: np.ndarray = np.where(none, 1.0, largest * np.sqrt(mean))
        self.n_outputs_: int = joint.shape[1]
        self.n_rows_: float = float(record.weights.sum())
        return self

    def predict(self, forecast: Any) -> JointNormalForecast:
        """The calibrated forecasts of outputs together."""
        require_fitted(self, "n_outputs_")
        joint = as_joint(forecast)
        if joint.shape[1] != self.n_outputs_:
            raise InputError(f"the forecast must be of {self.n_outputs_} outputs, as in fit; got {joint.shape[1]}.")
        return joint.scaled(np.square(self.scale_))


@trial.register
def _(calibrator: CovarianceScaling):
    d = calibrator.n_outputs_
    require_valid(calibrator.predict((np.zeros((1, d)), np.diag(np.arange(1.0, d + 1.0)))).cov, (1, d, d))
