"""Calibration of covariances by one factor, one for each principal direction, or a full matrix."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.core.calibrator import require_fitted
from calibrant.core.estimators import BaseEstimator, require_option, require_valid, trial
from calibrant.core.joint_normal import JointNormalForecast, as_joint, read_joint
from calibrant.core.saving import Saved
from calibrant.errors import FitWarning, InputError, warn

__all__ = ["CovarianceScaling"]


class CovarianceScaling(Saved, BaseEstimator):
    r"""Multiply covariances by one factor, one for each principal variance, or a matrix, for
    minimum normal log loss.

    .. math:: \Sigma' = Q \, \mathrm{diag}(s_k^2 v_k) \, Q^\top, \qquad
        s_k^2 = \frac{\sum_i w_i (q_{ik}^\top (y_i - \mu_i))^2 / v_{ik}}{\sum_i w_i}

    in closed form; the single factor is the mean of these :math:`s_k^2`. For a matrix,

    .. math:: \Sigma' = \Sigma^{1/2} C \Sigma^{1/2}, \qquad C = \frac{\sum_i w_i e_i
        e_i^\top}{\sum_i w_i},
        \quad e_i = \Sigma_i^{-1/2} (y_i - \mu_i)

    with symmetric roots; C is shrunk towards its mean variance by its estimated noise (Ledoit and
    Wolf).

    Parameters
    ----------
    factors : {"one", "directions", "full"}
        One factor for all, one for each direction in ascending order of variance, or the matrix C.

    Attributes
    ----------
    scale_ : (1,), (d,) or (d, d)
        Factors of standard deviations: above 1 the model was overconfident, below 1 underconfident.
        For the matrix, its symmetric root.
    n_outputs_ : int
    n_rows_ : float
        Number of calibration rows, by weight.
    status_ : "exact"; "no error" (every residual is 0 along a direction: its scale is 1, with a
        FitWarning).

    See Also
    --------
    StdScaling : the same for one output, or for each output separately.
    JointNormalForecast : its input and its output.

    Notes
    -----
    One factor cannot overfit, and keeps all correlations. With "directions" it corrects
    correlations that were predicted too strong or too weak; each factor uses all rows, so a hundred
    rows are enough. If two variances of a row are equal, its directions, and so their factors, are
    arbitrary: use one factor for nearly spherical forecasts. "full" finds correlations that were
    not predicted, as where only stds exist: ``np.apply_along_axis(np.diag, 1, std**2)``. From a few
    hundred rows it is seldom worse than one factor. None of them corrects a bias or a shape that is
    not normal.

    References
    ----------
    Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices",
    Journal of Multivariate Analysis 88, 2004.

    Examples
    --------
    >>> mean, cov = [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 4.0]]
    >>> cal = CovarianceScaling(factors="directions").fit((mean, cov), [[2.0, 2.0], [-2.0, -2.0]])
    >>> cal.scale_.tolist()
    [2.0, 1.0]
    >>> cal.predict((mean, cov)).cov[0].tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """

    def __init__(self, factors: Literal["one", "directions", "full"] = "one") -> None:
        self.factors: Literal["one", "directions", "full"] = factors

    def fit(self, forecast: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit on held-out forecasts and outcomes.

        Parameters
        ----------
        forecast : JointNormalForecast, or (mean, cov)
        y : (n, d) outcomes
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.
        """
        require_option("factors", self.factors, ("one", "directions", "full"))
        record = read_joint(forecast, y, sample_weight)
        joint = record.normal
        size = np.abs(joint.along(record.y)) / np.sqrt(joint.principal_variance)
        # Dividing by the largest first avoids an overflow of squares for residuals far beyond their
        # std.
        largest = size.max(axis=0) if self.factors == "directions" else np.full(1, size.max())
        none = largest == 0.0
        each = np.average(
            np.square(size / np.where(none, 1.0, largest)), axis=0, weights=record.weights
        )
        mean = each if self.factors == "directions" else each.mean(keepdims=True)
        self.status_: str = "exact"
        if none.any():
            warn(
                "CovarianceScaling found no error at all along a direction; its variances are"
                " unchanged.",
                FitWarning,
            )
            self.status_ = "no error"
        self.scale_: np.ndarray = np.where(none, 1.0, largest * np.sqrt(mean))
        if self.factors == "full" and not none.any():
            self.scale_ = largest * _root(
                _shrunk(joint.whitened(record.y) / largest, record.weights)
            )
        self.n_outputs_: int = joint.shape[1]
        self.n_rows_: float = float(record.weights.sum())
        return self

    def predict(self, forecast: Any) -> JointNormalForecast:
        """Return the calibrated joint forecasts of the outputs."""
        require_fitted(self, "n_outputs_")
        joint = as_joint(forecast)
        if joint.shape[1] != self.n_outputs_:
            raise InputError(
                f"the forecast must have {self.n_outputs_} outputs, as in fit; got"
                f" {joint.shape[1]}."
            )
        return joint.scaled(
            self.scale_ @ self.scale_ if self.scale_.ndim == 2 else np.square(self.scale_)
        )


def _shrunk(errors: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return second moments (d, d) of errors (n, d), shrunk towards their mean variance."""
    n, d = weight.sum(), errors.shape[1]
    moments = (errors.T * weight) @ errors / n
    target = moments.trace() / d * np.eye(d)
    apart = np.square(moments - target).sum()
    noise = (weight @ np.square(np.square(errors).sum(axis=1)) / n - np.square(moments).sum()) / n
    # A few rows can agree by chance, and a single one always does.
    share = np.clip(noise / apart if apart > 0.0 else 1.0, 1.0 / (n + 1.0), 1.0)
    return (1.0 - share) * moments + share * target


def _root(moments: np.ndarray) -> np.ndarray:
    variance, directions = np.linalg.eigh(moments)
    return (directions * np.sqrt(variance)) @ directions.T


@trial.register
def _(calibrator: CovarianceScaling) -> None:
    d = calibrator.n_outputs_
    require_valid(
        calibrator.predict((np.zeros((1, d)), np.diag(np.arange(1.0, d + 1.0)))).cov, (1, d, d)
    )
