from calibrant.calibrators.clustered_calibration import ClusteredCalibration as ClusteredCalibration
from calibrant.calibrators.cross_fitting import cross_fitted as cross_fitted
from calibrant.calibrators.group_calibrator import GroupCalibrator as GroupCalibrator
from calibrant.calibrators.label_shift import LabelShift as LabelShift
from calibrant.calibrators.multicalibration import Multicalibration as Multicalibration
from calibrant.calibrators.one_vs_rest import OneVsRest as OneVsRest
from calibrant.calibrators.per_class import PerClass as PerClass
from calibrant.calibrators.pool import LikelihoodPool as LikelihoodPool
from calibrant.wrap.forecast_group_calibrator import (
    ForecastGroupCalibrator as ForecastGroupCalibrator,
)
from calibrant.wrap.forecast_multicalibration import (
    ForecastMulticalibration as ForecastMulticalibration,
)

__all__: list[str]
