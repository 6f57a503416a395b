"""How small the predicted standard deviations are."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.regression_metric import RootMeanMetric

__all__ = ["Sharpness", "sharpness"]


@dataclass(frozen=True, repr=False)
class Sharpness(RootMeanMetric):
    r"""Root mean predicted variance.

    .. math:: \sqrt{\frac{1}{n} \sum_i \sigma_i^2}

    See Also
    --------
    interval_width : the same by intervals.
    coefficient_of_variation : how much it varies.

    Notes
    -----
    Between forecasts that are equally calibrated the sharper is the better; alone it says nothing, since a std can be small and wrong.

    Examples
    --------
    >>> round(sharpness([0.0, 0.0], [0.0, 0.0], [3.0, 4.0]), 6)
    3.535534
    """

    name: ClassVar[str] = "sharpness"
    key: ClassVar[str] = "sharpness"
    estimand: ClassVar[str] = "root of the mean predicted variance of new rows"
    direction: ClassVar[str] = "none"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    degree: ClassVar[int | None] = 1

    def _losses(self, record):
        return np.square(record.std)


sharpness: Sharpness = Sharpness()
