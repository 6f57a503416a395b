from calibrant.models.cross_fitting import cross_fitted as cross_fitted
from calibrant.pools.likelihood_pool import LikelihoodPool as LikelihoodPool
from calibrant.select.label_shift import LabelShift as LabelShift
from calibrant.wrap.clustered_calibration import ClusteredCalibration as ClusteredCalibration
from calibrant.wrap.forecast_group_calibrator import (
    ForecastGroupCalibrator as ForecastGroupCalibrator,
)
from calibrant.wrap.forecast_multicalibration import (
    ForecastMulticalibration as ForecastMulticalibration,
)
from calibrant.wrap.group_calibrator import GroupCalibrator as GroupCalibrator
from calibrant.wrap.multicalibration import Multicalibration as Multicalibration
from calibrant.wrap.one_vs_rest import OneVsRest as OneVsRest
from calibrant.wrap.per_class import PerClass as PerClass

__all__: list[str]
