"""GP-Normal scaling: a factor on the standard deviations that is a smooth function of them."""

from typing import Any, ClassVar, Literal

import numpy as np

from calibrant._numerics.gaussian_process_fit import pool, radial, search
from calibrant.core.calibrator import Tags
from calibrant.core.expression import constant
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.core.solving import warn_unless_converged
from calibrant.errors import FitWarning, warn
from calibrant.regression.scaling import StdScaling

__all__ = ["GaussianProcessScale"]

#: Inducing points of the process, and cells that pool rows, by the number of inputs.
N_POINTS = 32
N_CELLS = {1: 256, 2: 24}
#: Mean squared standardised errors of a cell are at least this share of the overall one, because
#: the log of 0 is infinite.
LEAST_SQUARE = 1e-6
#: A constant beyond this (in log std) indicates a process that runs through single outcomes of
#: enormous weight.
FAR = 100.0


class GaussianProcessScale(
    RegressionCalibrator,
    examples=[{"inputs": "std and mean"}],
    family="standard deviations",
    use="A factor that varies smoothly; hundreds of rows",
):
    r"""Multiply each standard deviation by a factor that is a smooth function of it, with a
    Gaussian-process prior on its logarithm.

    .. math:: \sigma' = s(\sigma)\, \sigma, \qquad \log s = c + h(\log \sigma), \quad h \sim GP(0,
        a^2 k_\ell), \qquad
        y \sim N(\mu, \sigma'^2)

    with k an RBF kernel in units of the spread of log sigma (``inputs="std and mean"`` adds a
    second process of the mean). Newton's method finds the mode of c and h, safely because the
    problem is convex. Amplitude a and length l have the largest evidence (Laplace's approximation)
    among 3 x 4; a is 0 unless a process makes the data ten times more probable, and the fit is then
    exactly :class:`StdScaling`.

    Parameters
    ----------
    inputs : {"std", "std and mean"}

    Attributes
    ----------
    scale_ : float, or (d,) array for d outputs
        exp c: the factor far from the rows; that of STD scaling if no process is used.
    kernel_ : (p, 2) array, or a list of them for d outputs
        Amplitude and length of the process of each of the p inputs (in std of the input); amplitude
        0 means no process.
    points_, weights_ : (p, 32) arrays, or lists of them
        h(x) = sum of weights times kernel(x, points), x the standardised input.
    units_ : (p, 2) array, or a list of them
        Centre and spread that standardise the inputs.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "converged", or "stalled" or "max steps" with a FitWarning; "constant" (no process is
        used: STD scaling); "no error" (every residual is 0: the std stay unchanged, with a
        FitWarning).

    See Also
    --------
    StdScaling : one factor for all.
    IsotonicVariance : any increasing function, without a prior.

    Notes
    -----
    Use it where the error of the std differs between small and large ones: it bends as far as the
    data require, needs fewer rows than isotonic variance, and keeps distinct std distinct. The
    order of the rows by std may change. Beyond the rows the factor returns to the constant. Rows
    are pooled in small cells, so it fits 100,000 of them in a second; forecasts that are not normal
    are stretched about their mean. Where the errors depend on more than std and mean, look for them
    elsewhere.

    References
    ----------
    Kueppers, Schneider and Haselhoff, "Parametric and multivariate uncertainty calibration for
    regression and object detection", ECCV workshops 2022 (GP-Normal); Song et al., "Distribution
    calibration for regression", ICML 2019 (GP-Beta).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.regression import GaussianProcessScale
    >>> rng = np.random.default_rng(0)
    >>> std = np.exp(0.5 * rng.normal(size=2000))
    >>> cal = GaussianProcessScale().fit(np.zeros(2000), std**1.5 * rng.normal(size=2000), std=std)
    >>> bool(abs(cal.predict([0.0], [2.0]).std[0] - 2.0**1.5) < 0.15)
    True
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="Gaussian-process scale")
    learns: ClassVar[tuple[str, ...]] = ("scale_", "kernel_", "points_", "weights_", "units_")
    scale_: float | np.ndarray
    kernel_: np.ndarray | list[np.ndarray]
    points_: np.ndarray | list[np.ndarray]
    weights_: np.ndarray | list[np.ndarray]
    units_: np.ndarray | list[np.ndarray]

    def __init__(self, *, inputs: Literal["std", "std and mean"] = "std") -> None:
        self.inputs: Literal["std", "std and mean"] = inputs

    def _check(self) -> None:
        self._option("inputs", "std", "std and mean")

    def _fit_output(self, record: Any) -> dict[str, Any]:
        if not record.error.any():
            warn(
                "GaussianProcessScale found no error at all; the std are unchanged.",
                FitWarning,
            )
            return self._learned(1.0, "no error")
        scale: Any = StdScaling().fit_record(record).scale_
        columns = self._columns(record.forecast)
        units = np.array([_centre_and_spread(x, record.weights) for x in columns])
        used = np.flatnonzero(units[:, 1] > 0.0)
        if len(used) == 0:
            return self._learned(scale, "constant")
        columns = [(columns[j] - units[j, 0]) / units[j, 1] for j in used]
        square = np.maximum(np.square(record.standardised / scale), LEAST_SQUARE)
        cells = pool(columns, square, record.weights, N_CELLS[len(columns)])
        points = [np.linspace(x.min(), x.max(), N_POINTS) for x in cells.inputs]
        kernels, weights, mode = search(cells, points)
        warn_unless_converged(
            "GaussianProcessScale",
            mode.status,
            mode.gradient,
            "look for outcomes far from all others",
        )
        if not any(amplitude for amplitude, _ in kernels) or abs(mode.coefficients[0]) > FAR:
            return self._learned(scale, "constant")
        learned = self._learned(scale * float(np.exp(mode.coefficients[0])), mode.status)
        learned["units_"][used], learned["kernel_"][used] = units[used], kernels
        learned["points_"][used], learned["weights_"][used] = points, weights
        return learned

    def _learned(self, scale: float, status: str) -> dict[str, Any]:
        """Return a constant factor, with empty arrays for the processes."""
        p = 1 if self.inputs == "std" else 2
        kernels = {"kernel_": np.tile([0.0, 1.0], (p, 1)), "units_": np.tile([0.0, 1.0], (p, 1))}
        return {
            "scale_": scale,
            "status": status,
            **kernels,
            "points_": np.zeros((p, N_POINTS)),
            "weights_": np.zeros((p, N_POINTS)),
        }

    def _columns(self, forecast: Any) -> list[np.ndarray]:
        return [np.log(forecast.std), *([forecast.mean] if self.inputs == "std and mean" else [])]

    def _predict_output(
        self,
        forecast: Any,
        scale: float,
        kernel: np.ndarray,
        points: np.ndarray,
        weights: np.ndarray,
        units: np.ndarray,
    ) -> Any:
        log_factor = np.full(forecast.shape, np.log(scale))
        for j, x in enumerate(self._columns(forecast)):
            if kernel[j][0] > 0.0:
                log_factor += (
                    radial((x - units[j][0]) / units[j][1], points[j], kernel[j][1]) @ weights[j]
                )
        return forecast.stretched(np.exp(log_factor))

    def _expression(
        self,
        forecast: Any,
        scale: float,
        kernel: np.ndarray,
        points: np.ndarray,
        weights: np.ndarray,
        units: np.ndarray,
    ) -> Any:
        log_factor = constant(np.log(scale))
        for j, x in enumerate((forecast.std.log(), forecast.mean)[: len(kernel)]):
            if kernel[j][0] > 0.0:
                gap = ((x - units[j][0]) / units[j][1] - points[j]) / kernel[j][1]
                log_factor = log_factor + (gap * gap * -0.5).exp().matrix(weights[j][None], [0.0])
        return forecast.stretched(log_factor.exp())


def _centre_and_spread(x: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return mean and standard deviation; the latter is 0 where all values are equal."""
    centre = np.average(x, weights=weight)
    return centre, (
        np.sqrt(np.average(np.square(x - centre), weights=weight)) if np.ptp(x) > 0.0 else 0.0
    )
