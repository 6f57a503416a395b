from calibrant import calibrators as calibrators
from calibrant import core as core
from calibrant import datasets as datasets
from calibrant import decisions as decisions
from calibrant import displays as displays
from calibrant import errors as errors
from calibrant import export as export
from calibrant import metrics as metrics
from calibrant import monitoring as monitoring
from calibrant import questions as questions
from calibrant import regression as regression
from calibrant import tables as tables
from calibrant import testing as testing
from calibrant.audits.audit import audit as audit
from calibrant.calibrators.auto import AutoCalibrator as AutoCalibrator
from calibrant.calibrators.classifier import CalibratedClassifier as CalibratedClassifier
from calibrant.calibrators.confidence import ConfidenceCalibrator as ConfidenceCalibrator
from calibrant.calibrators.groups import GroupCalibrator as GroupCalibrator
from calibrant.calibrators.maps.isotonic import Isotonic as Isotonic
from calibrant.calibrators.maps.sigmoids import Platt as Platt
from calibrant.calibrators.multiclass import OneVsRest as OneVsRest
from calibrant.calibrators.temperature import TemperatureScaling as TemperatureScaling
from calibrant.core.cards import cite as cite
from calibrant.core.exports import __version__ as __version__
from calibrant.core.forecast import NormalForecast as NormalForecast
from calibrant.core.quantile_forecast import QuantileForecast as QuantileForecast
from calibrant.core.saving import load as load
from calibrant.decisions.selective import SelectiveClassifier as SelectiveClassifier
from calibrant.decisions.sets import ConformalSets as ConformalSets
from calibrant.metrics.comparison import compare as compare
from calibrant.monitoring.adaptive import AdaptiveIntervals as AdaptiveIntervals
from calibrant.monitoring.adaptive import AdaptiveSets as AdaptiveSets
from calibrant.monitoring.estimates import estimate_performance as estimate_performance
from calibrant.monitoring.importance import ImportanceWeights as ImportanceWeights
from calibrant.monitoring.online import OnlineCalibrator as OnlineCalibrator
from calibrant.monitoring.over_time import monitor as monitor
from calibrant.questions.calibrator import QuestionCalibrator as QuestionCalibrator
from calibrant.questions.rates import estimate_rate as estimate_rate
from calibrant.questions.read import read_questions as read_questions
from calibrant.questions.rules import QuestionRules as QuestionRules
from calibrant.regression.auto_regression import (
    AutoRegressionCalibrator as AutoRegressionCalibrator,
)
from calibrant.regression.conformal import ConformalIntervals as ConformalIntervals
from calibrant.regression.regressor import CalibratedRegressor as CalibratedRegressor
from calibrant.regression.regressor import ConformalRegressor as ConformalRegressor
from calibrant.regression.scaling import StdScaling as StdScaling
from calibrant.reporting.paper import figure as figure
from calibrant.reporting.report import report as report
from calibrant.reporting.versions import compare_versions as compare_versions
from calibrant.tables.evaluate import evaluate as evaluate

__all__: list[str]
