from calibrant.core.forecast import Forecast as Forecast
from calibrant.core.forecast import NormalForecast as NormalForecast
from calibrant.core.joint_normal import JointNormalForecast as JointNormalForecast
from calibrant.core.quantile_forecast import QuantileForecast as QuantileForecast
from calibrant.core.quantile_forecast import SampleForecast as SampleForecast
from calibrant.core.student_forecast import CauchyForecast as CauchyForecast
from calibrant.core.student_forecast import StudentForecast as StudentForecast
from calibrant.regression.conformal import ConformalIntervals as ConformalIntervals
from calibrant.regression.conformal import MondrianIntervals as MondrianIntervals
from calibrant.regression.gaussian_process import GaussianProcessScale as GaussianProcessScale
from calibrant.regression.groups import ForecastGroupCalibrator as ForecastGroupCalibrator
from calibrant.regression.groups import ForecastMulticalibration as ForecastMulticalibration
from calibrant.regression.recalibration import (
    DistributionRecalibration as DistributionRecalibration,
)
from calibrant.regression.recalibration import IntervalCalibration as IntervalCalibration
from calibrant.regression.recalibration import QuantileRecalibration as QuantileRecalibration
from calibrant.regression.scaling import BoundedOutcomes as BoundedOutcomes
from calibrant.regression.scaling import CovarianceScaling as CovarianceScaling
from calibrant.regression.scaling import ForecastIdentity as ForecastIdentity
from calibrant.regression.scaling import IsotonicVariance as IsotonicVariance
from calibrant.regression.scaling import StdScaling as StdScaling
from calibrant.regression.scaling import VarianceBinning as VarianceBinning

__all__: list[str]
