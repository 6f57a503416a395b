from calibrant.core.forecast import Forecast as Forecast
from calibrant.core.forecast import NormalForecast as NormalForecast
from calibrant.core.joint_normal import JointNormalForecast as JointNormalForecast
from calibrant.core.quantile_forecast import QuantileForecast as QuantileForecast
from calibrant.core.quantile_forecast import SampleForecast as SampleForecast
from calibrant.regression.bounded import BoundedOutcomes as BoundedOutcomes
from calibrant.regression.conformal import ConformalIntervals as ConformalIntervals
from calibrant.regression.covariance_scaling import CovarianceScaling as CovarianceScaling
from calibrant.regression.distribution_recalibration import (
    DistributionRecalibration as DistributionRecalibration,
)
from calibrant.regression.forecast_group_calibrator import (
    ForecastGroupCalibrator as ForecastGroupCalibrator,
)
from calibrant.regression.forecast_multicalibration import (
    ForecastMulticalibration as ForecastMulticalibration,
)
from calibrant.regression.gaussian_process import GaussianProcessScale as GaussianProcessScale
from calibrant.regression.mondrian import MondrianIntervals as MondrianIntervals
from calibrant.regression.quantile_recalibration import IntervalCalibration as IntervalCalibration
from calibrant.regression.quantile_recalibration import (
    QuantileRecalibration as QuantileRecalibration,
)
from calibrant.regression.variance import ForecastIdentity as ForecastIdentity
from calibrant.regression.variance import IsotonicVariance as IsotonicVariance
from calibrant.regression.variance import StdScaling as StdScaling
from calibrant.regression.variance import VarianceBinning as VarianceBinning

__all__: list[str]
