from calibrant.calibrators.classifier import cross_fitted as cross_fitted
from calibrant.calibrators.groups import GroupCalibrator as GroupCalibrator
from calibrant.calibrators.groups import Multicalibration as Multicalibration
from calibrant.calibrators.label_shift import LabelShift as LabelShift
from calibrant.calibrators.multiclass import ClusteredCalibration as ClusteredCalibration
from calibrant.calibrators.multiclass import OneVsRest as OneVsRest
from calibrant.calibrators.multiclass import PerClass as PerClass
from calibrant.calibrators.pool import LikelihoodPool as LikelihoodPool
from calibrant.wrap.forecast_group_calibrator import (
    ForecastGroupCalibrator as ForecastGroupCalibrator,
)
from calibrant.wrap.forecast_multicalibration import (
    ForecastMulticalibration as ForecastMulticalibration,
)

__all__: list[str]
