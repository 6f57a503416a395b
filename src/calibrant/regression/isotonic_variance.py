"""Isotonic regression of the squared error on the predicted variance."""

from typing import ClassVar

import numpy as np

from calibrant._kernels.isotonic import pool_ties, pooled_blocks_of
from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.contracts.tags import Tags
from calibrant.errors import FitWarning, warn

__all__ = ["IsotonicVariance"]


class IsotonicVariance(RegressionCalibrator):
    r"""Replace each standard deviation by an increasing function of it, fitted to the squared errors.

    .. math:: \sigma'^2 = g(\sigma^2), \qquad g = \arg\min_{g \nearrow} \sum_i w_i \left[ (y_i - \mu_i)^2 - g(\sigma_i^2) \right]^2

    The new std is constant in each block of the fit, and a straight line between the last old std of one block and the first of the next;
    beyond the outermost rows the ratio of new to old std stays as it is there.

    Parameters
    ----------
    min_rows : int, default 20
        Blocks at either end with less weight than this are joined to their neighbour: a single large error at the largest std would
        otherwise be a block of its own. So are blocks without any error.

    Attributes
    ----------
    knots_, values_ : (m,) arrays, or lists of them for d outputs
        Old and new standard deviations at both ends of the blocks.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact"; "no error" (every residual is 0: the std are left as they are, with a FitWarning).

    See Also
    --------
    VarianceBinning : one value a bin.
    GaussianProcessScale : smooth, with a prior.

    Notes
    -----
    Use it where a larger predicted std does mean a larger error, but not in proportion, and there are thousands of rows. Where the std
    means nothing it becomes nearly constant, which is honest. STD scaling is safer on few rows.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019, section 3.1 (named, not tested there).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import IsotonicVariance
    >>> std = np.repeat([1.0, 2.0], 100)
    >>> cal = IsotonicVariance().fit(np.zeros(200), 3.0 * std, std=std)
    >>> cal.predict([0.0, 0.0], [1.0, 1.5]).std.tolist()
    [3.0, 4.5]
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="isotonic variance")
    learns: ClassVar[tuple[str, ...]] = ("knots_", "values_")
    knots_: np.ndarray | list[np.ndarray]
    values_: np.ndarray | list[np.ndarray]

    def __init__(self, *, min_rows: float = 20) -> None:
        self.min_rows: float = min_rows

    def _fit_output(self, record):
        squared = np.square(record.error)
        if not squared.any():
            warn("IsotonicVariance saw no error at all; the standard deviations are left as they are.", FitWarning)
            return {"knots_": np.ones(1), "values_": np.ones(1), "status": "no error"}
        std, mass, mean = pool_ties(record.std, squared, record.weights)
        first, value, weight = pooled_blocks_of(mean, mass)
        last = np.append(first[1:], len(std)) - 1
        blocks = _joined(list(zip(weight, std[first], std[last], value, strict=True)), self.min_rows)
        knots = np.array([block[1:3] for block in blocks]).ravel()
        knots, own = np.unique(knots, return_index=True)
        return {"knots_": knots, "values_": np.sqrt(np.repeat([block[3] for block in blocks], 2)[own])}

    def _predict_output(self, forecast, knots, values):
        std = np.clip(forecast.std, knots[0], knots[-1])
        return forecast.stretched(np.interp(std, knots, values) / std)

    def _expression(self, forecast, knots, values):
        std = forecast.std.clip(knots[0], knots[-1])
        return forecast.stretched(std.interpolate(knots, values) / std)


def _joined(blocks, least):
    """Blocks (weight, first std, last std, error) with small ones at the ends, and those without error, joined to their neighbour."""
    while len(blocks) > 1 and (blocks[0][0] < least or blocks[0][3] <= 0.0):
        blocks[:2] = [_joint(*blocks[:2])]
    while len(blocks) > 1 and blocks[-1][0] < least:
        blocks[-2:] = [_joint(*blocks[-2:])]
    return blocks


def _joint(a, b):
    weight = a[0] + b[0]
    return weight, a[1], b[2], (a[0] * a[3] + b[0] * b[3]) / weight
