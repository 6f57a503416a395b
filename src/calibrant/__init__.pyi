from calibrant import adapters as adapters
from calibrant import contracts as contracts
from calibrant import datasets as datasets
from calibrant import decisions as decisions
from calibrant import displays as displays
from calibrant import errors as errors
from calibrant import export as export
from calibrant import forecasts as forecasts
from calibrant import frames as frames
from calibrant import maps as maps
from calibrant import metrics as metrics
from calibrant import neighbors as neighbors
from calibrant import plan as plan
from calibrant import regression as regression
from calibrant import scalings as scalings
from calibrant import signals as signals
from calibrant import testing as testing
from calibrant._kernels.threads import get_threads as get_threads
from calibrant._kernels.threads import set_threads as set_threads
from calibrant._kernels.threads import threads as threads
from calibrant._support.registry import register as register
from calibrant._support.saving import load as load
from calibrant._version import __version__ as __version__
from calibrant.audits.audit import audit as audit
from calibrant.confidence.class_report import class_report as class_report
from calibrant.confidence.confidence_calibrator import ConfidenceCalibrator as ConfidenceCalibrator
from calibrant.confidence.confidence_curve import confidence_curve as confidence_curve
from calibrant.confidence.geometric import GeometricCalibrator as GeometricCalibrator
from calibrant.confidence.hoki import HokiCalibrator as HokiCalibrator
from calibrant.confidence.signal_accuracy import signal_accuracy as signal_accuracy
from calibrant.contracts.calibrator import Calibrator as Calibrator
from calibrant.contracts.map import Map as Map
from calibrant.contracts.regression_calibrator import RegressionCalibrator as RegressionCalibrator
from calibrant.contracts.signal import Signal as Signal
from calibrant.decisions import *
from calibrant.displays import *
from calibrant.folds.time_blocks import time_blocks as time_blocks
from calibrant.forecasts import *
from calibrant.frames.evaluate import evaluate as evaluate
from calibrant.labels import SoftLabels as SoftLabels
from calibrant.maps import *
from calibrant.metrics.pool import pool as pool
from calibrant.models.calibrated_classifier import CalibratedClassifier as CalibratedClassifier
from calibrant.models.calibrated_regressor import CalibratedRegressor as CalibratedRegressor
from calibrant.models.conformal_regressor import ConformalRegressor as ConformalRegressor
from calibrant.models.cross_fitting import cross_fitted as cross_fitted
from calibrant.monitoring.monitor import CalibrationMonitor as CalibrationMonitor
from calibrant.monitoring.over_time import monitor as monitor
from calibrant.monitoring.slices import worst_slices as worst_slices
from calibrant.pools.likelihood_pool import LikelihoodPool as LikelihoodPool
from calibrant.regression import *
from calibrant.reporting.report import Report as Report
from calibrant.reporting.report import report as report
from calibrant.scalings import *
from calibrant.select.auto import AutoCalibrator as AutoCalibrator
from calibrant.select.auto_regression import AutoRegressionCalibrator as AutoRegressionCalibrator
from calibrant.select.label_shift import LabelShift as LabelShift
from calibrant.select.rolling import rolling_evaluation as rolling_evaluation
from calibrant.select.stacked_confidence import StackedConfidence as StackedConfidence
from calibrant.signals import *
from calibrant.validation.validate import validate as validate
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
