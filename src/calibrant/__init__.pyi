from calibrant import confidence as confidence
from calibrant import contracts as contracts
from calibrant import decisions as decisions
from calibrant import displays as displays
from calibrant import errors as errors
from calibrant import export as export
from calibrant import forecasts as forecasts
from calibrant import maps as maps
from calibrant import metrics as metrics
from calibrant import monitoring as monitoring
from calibrant import plan as plan
from calibrant import regression as regression
from calibrant import scalings as scalings
from calibrant import signals as signals
from calibrant import wrap as wrap
from calibrant._support.saving import load as load
from calibrant._version import __version__ as __version__
from calibrant.audits.audit import audit as audit
from calibrant.citations import cite as cite
from calibrant.confidence.confidence_calibrator import ConfidenceCalibrator as ConfidenceCalibrator
from calibrant.confidence.geometric import GeometricCalibrator as GeometricCalibrator
from calibrant.confidence.hoki import HokiCalibrator as HokiCalibrator
from calibrant.decisions.conformal_sets import ConformalSets as ConformalSets
from calibrant.decisions.decision_threshold import DecisionThreshold as DecisionThreshold
from calibrant.decisions.selective_classifier import SelectiveClassifier as SelectiveClassifier
from calibrant.forecasts.normal import NormalForecast as NormalForecast
from calibrant.forecasts.quantiles import QuantileForecast as QuantileForecast
from calibrant.forecasts.quantiles import SampleForecast as SampleForecast
from calibrant.frames.evaluate import evaluate as evaluate
from calibrant.maps.isotonic import Isotonic as Isotonic
from calibrant.maps.platt import Beta as Beta
from calibrant.maps.platt import Platt as Platt
from calibrant.maps.venn_abers import VennAbers as VennAbers
from calibrant.metrics.comparison import compare as compare
from calibrant.models.calibrated_classifier import CalibratedClassifier as CalibratedClassifier
from calibrant.models.calibrated_regressor import CalibratedRegressor as CalibratedRegressor
from calibrant.models.conformal_regressor import ConformalRegressor as ConformalRegressor
from calibrant.monitoring.monitor import CalibrationMonitor as CalibrationMonitor
from calibrant.monitoring.over_time import monitor as monitor
from calibrant.regression.conformal import ConformalIntervals as ConformalIntervals
from calibrant.regression.variance import StdScaling as StdScaling
from calibrant.reporting.paper import figure as figure
from calibrant.reporting.report import report as report
from calibrant.scalings.constant import Identity as Identity
from calibrant.scalings.gaussian_process import (
    GaussianProcessCalibration as GaussianProcessCalibration,
)
from calibrant.scalings.temperature import TemperatureScaling as TemperatureScaling
from calibrant.scalings.vector import VectorScaling as VectorScaling
from calibrant.select.auto import AutoCalibrator as AutoCalibrator
from calibrant.select.auto_regression import AutoRegressionCalibrator as AutoRegressionCalibrator
from calibrant.wrap.group_calibrator import GroupCalibrator as GroupCalibrator
from calibrant.wrap.one_vs_rest import OneVsRest as OneVsRest

__all__: list[str]
