"""Mean negative log density of what came true."""

from dataclasses import dataclass
from typing import ClassVar

from calibrant.contracts.regression_metric import RegressionMeanMetric

__all__ = ["NegativeLogLikelihood", "negative_log_likelihood"]


@dataclass(frozen=True, repr=False)
class NegativeLogLikelihood(RegressionMeanMetric):
    r"""Mean negative logarithm of the predicted density at the outcome (NLL).

    .. math:: \frac{1}{n} \sum_i \left[ \log \sigma_i + \tfrac{1}{2} \log 2\pi + \frac{(y_i - \mu_i)^2}{2 \sigma_i^2} \right]

    for normal forecasts; the forecast's own density for others.

    See Also
    --------
    continuous_ranked_probability_score : in the units of y, milder.

    Notes
    -----
    A proper score: use it to choose between models and calibrators. One row far outside its error bar can decide it; the CRPS is milder.
    In other units of y it changes by a constant, the logarithm of the factor. Forecasts from quantiles or samples have the density of
    their straight lines, which is rough, and where quantiles are tied, which is an atom, that of the line across it: prefer the CRPS there.

    Examples
    --------
    >>> round(negative_log_likelihood([0.0], [0.0], [1.0]), 6)
    0.918939
    """

    name: ClassVar[str] = "NLL"
    key: ClassVar[str] = "nll"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (float("-inf"), float("inf"))
    proper: ClassVar[bool] = True
    selects: ClassVar[bool] = True
    degree: ClassVar[int | None] = None

    def _losses(self, record):
        return -record.forecast.log_density(record.y)


negative_log_likelihood: NegativeLogLikelihood = NegativeLogLikelihood()
