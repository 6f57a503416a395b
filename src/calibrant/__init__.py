"""calibrant: know when to trust a prediction."""

from calibrant import metrics as metrics
from calibrant._base.calibrator import Calibrator as Calibrator
from calibrant._base.map import Map as Map
from calibrant._base.regression import RegressionCalibrator as RegressionCalibrator
from calibrant._base.saving import load as load
from calibrant._base.signal import Signal as Signal
from calibrant._kernels.threads import get_threads as get_threads
from calibrant._kernels.threads import set_threads as set_threads
from calibrant._kernels.threads import threads as threads
from calibrant.confidence.class_report import class_report as class_report
from calibrant.confidence.confidence_calibrator import ConfidenceCalibrator as ConfidenceCalibrator
from calibrant.confidence.confidence_curve import confidence_curve as confidence_curve
from calibrant.confidence.geometric import GeometricCalibrator as GeometricCalibrator
from calibrant.confidence.hoki import HokiCalibrator as HokiCalibrator
from calibrant.confidence.signal_accuracy import signal_accuracy as signal_accuracy
from calibrant.displays.confidence_curve import ConfidenceCurveDisplay as ConfidenceCurveDisplay
from calibrant.displays.confidence_histogram import ConfidenceHistogramDisplay as ConfidenceHistogramDisplay
from calibrant.displays.drift import DriftDisplay as DriftDisplay
from calibrant.displays.interval_calibration import IntervalCalibrationDisplay as IntervalCalibrationDisplay
from calibrant.displays.isotonic_curve import IsotonicCurveDisplay as IsotonicCurveDisplay
from calibrant.displays.joint_distribution import JointDistributionDisplay as JointDistributionDisplay
from calibrant.displays.latent_function import LatentFunctionDisplay as LatentFunctionDisplay
from calibrant.displays.pit_histogram import PitHistogramDisplay as PitHistogramDisplay
from calibrant.displays.real_std import RealStdDisplay as RealStdDisplay
from calibrant.displays.reliability import ReliabilityDisplay as ReliabilityDisplay
from calibrant.displays.risk_coverage import RiskCoverageDisplay as RiskCoverageDisplay
from calibrant.displays.rmse_rmv import RmseRmvDisplay as RmseRmvDisplay
from calibrant.displays.signal_accuracy import SignalAccuracyDisplay as SignalAccuracyDisplay
from calibrant.forecasts.forecast import Forecast as Forecast
from calibrant.forecasts.normal import NormalForecast as NormalForecast
from calibrant.forecasts.quantiles import QuantileForecast as QuantileForecast
from calibrant.forecasts.samples import SampleForecast as SampleForecast
from calibrant.frames.evaluate import evaluate as evaluate
from calibrant.maps.bayesian_binning import BayesianBinning as BayesianBinning
from calibrant.maps.beta import Beta as Beta
from calibrant.maps.centered_isotonic import CenteredIsotonic as CenteredIsotonic
from calibrant.maps.class_rate import ClassRate as ClassRate
from calibrant.maps.cumulative import CumulativeConfidence as CumulativeConfidence
from calibrant.maps.histogram_binning import HistogramBinning as HistogramBinning
from calibrant.maps.isotonic import Isotonic as Isotonic
from calibrant.maps.kernel_density import KernelDensity as KernelDensity
from calibrant.maps.near_isotonic import NearIsotonic as NearIsotonic
from calibrant.maps.platt import Platt as Platt
from calibrant.maps.quadratic import QuadraticScaling as QuadraticScaling
from calibrant.maps.scaling_binning import ScalingBinning as ScalingBinning
from calibrant.maps.spline import Spline as Spline
from calibrant.maps.venn_abers import VennAbers as VennAbers
from calibrant.monitoring.monitor import CalibrationMonitor as CalibrationMonitor
from calibrant.monitoring.over_time import monitor as monitor
from calibrant.monitoring.slices import worst_slices as worst_slices
from calibrant.regression.conformal import ConformalIntervals as ConformalIntervals
from calibrant.regression.gaussian_process_scale import GaussianProcessScale as GaussianProcessScale
from calibrant.regression.identity import ForecastIdentity as ForecastIdentity
from calibrant.regression.interval import IntervalCalibration as IntervalCalibration
from calibrant.regression.isotonic_variance import IsotonicVariance as IsotonicVariance
from calibrant.regression.quantile_recalibration import QuantileRecalibration as QuantileRecalibration
from calibrant.regression.std_scaling import StdScaling as StdScaling
from calibrant.regression.variance_binning import VarianceBinning as VarianceBinning
from calibrant.reporting.report import Report as Report
from calibrant.reporting.report import report as report
from calibrant.scalings.award_temperature import AwardTemperature as AwardTemperature
from calibrant.scalings.category_temperature import CategoryTemperature as CategoryTemperature
from calibrant.scalings.dirichlet import DirichletCalibration as DirichletCalibration
from calibrant.scalings.ensemble_matrix import EnsembleMatrixScaling as EnsembleMatrixScaling
from calibrant.scalings.ensemble_temperature import EnsembleTemperature as EnsembleTemperature
from calibrant.scalings.gaussian_process import GaussianProcessCalibration as GaussianProcessCalibration
from calibrant.scalings.identity import Identity as Identity
from calibrant.scalings.intra_order_preserving import IntraOrderPreserving as IntraOrderPreserving
from calibrant.scalings.isotonic_one_vs_rest import IsotonicOneVsRest as IsotonicOneVsRest
from calibrant.scalings.isotonic_preserving import IsotonicPreserving as IsotonicPreserving
from calibrant.scalings.matrix import MatrixScaling as MatrixScaling
from calibrant.scalings.structured_matrix import StructuredMatrixScaling as StructuredMatrixScaling
from calibrant.scalings.structured_vector import StructuredVectorScaling as StructuredVectorScaling
from calibrant.scalings.temperature import TemperatureScaling as TemperatureScaling
from calibrant.scalings.vector import VectorScaling as VectorScaling
from calibrant.select.auto import AutoCalibrator as AutoCalibrator
from calibrant.select.auto_regression import AutoRegressionCalibrator as AutoRegressionCalibrator
from calibrant.select.label_shift import LabelShift as LabelShift
from calibrant.select.stacked_confidence import StackedConfidence as StackedConfidence
from calibrant.signals.entropy import Entropy as Entropy
from calibrant.signals.fast_separation import FastSeparation as FastSeparation
from calibrant.signals.label_stability import LabelStability as LabelStability
from calibrant.signals.log_odds import LogOdds as LogOdds
from calibrant.signals.margin import Margin as Margin
from calibrant.signals.maximal_zone import MaximalZone as MaximalZone
from calibrant.signals.pairwise_separation import PairwiseSeparation as PairwiseSeparation
from calibrant.signals.top_probability import TopProbability as TopProbability
from calibrant.wrap.calibrated_classifier import CalibratedClassifier as CalibratedClassifier
from calibrant.wrap.calibrated_regressor import CalibratedRegressor as CalibratedRegressor
from calibrant.wrap.cross_fitting import cross_fitted as cross_fitted
from calibrant.wrap.one_vs_rest import OneVsRest as OneVsRest
from calibrant.wrap.per_class import PerClass as PerClass

__version__ = "0.1.0"

__all__ = [
    "AutoCalibrator",
    "AutoRegressionCalibrator",
    "AwardTemperature",
    "BayesianBinning",
    "Beta",
    "CalibratedClassifier",
    "CalibratedRegressor",
    "CalibrationMonitor",
    "Calibrator",
    "CategoryTemperature",
    "CenteredIsotonic",
    "ClassRate",
    "ConfidenceCalibrator",
    "ConfidenceCurveDisplay",
    "ConfidenceHistogramDisplay",
    "ConformalIntervals",
    "CumulativeConfidence",
    "DirichletCalibration",
    "DriftDisplay",
    "EnsembleMatrixScaling",
    "EnsembleTemperature",
    "Entropy",
    "FastSeparation",
    "Forecast",
    "ForecastIdentity",
    "GaussianProcessCalibration",
    "GaussianProcessScale",
    "GeometricCalibrator",
    "HistogramBinning",
    "HokiCalibrator",
    "Identity",
    "IntervalCalibration",
    "IntervalCalibrationDisplay",
    "IntraOrderPreserving",
    "Isotonic",
    "IsotonicCurveDisplay",
    "IsotonicOneVsRest",
    "IsotonicPreserving",
    "IsotonicVariance",
    "JointDistributionDisplay",
    "KernelDensity",
    "LabelShift",
    "LabelStability",
    "LatentFunctionDisplay",
    "LogOdds",
    "Map",
    "Margin",
    "MatrixScaling",
    "MaximalZone",
    "NearIsotonic",
    "NormalForecast",
    "OneVsRest",
    "PairwiseSeparation",
    "PerClass",
    "PitHistogramDisplay",
    "Platt",
    "QuadraticScaling",
    "QuantileForecast",
    "QuantileRecalibration",
    "RealStdDisplay",
    "RegressionCalibrator",
    "ReliabilityDisplay",
    "Report",
    "RiskCoverageDisplay",
    "RmseRmvDisplay",
    "SampleForecast",
    "ScalingBinning",
    "Signal",
    "SignalAccuracyDisplay",
    "Spline",
    "StackedConfidence",
    "StdScaling",
    "StructuredMatrixScaling",
    "StructuredVectorScaling",
    "TemperatureScaling",
    "TopProbability",
    "VarianceBinning",
    "VectorScaling",
    "VennAbers",
    "class_report",
    "confidence_curve",
    "cross_fitted",
    "evaluate",
    "get_threads",
    "load",
    "metrics",
    "monitor",
    "report",
    "set_threads",
    "signal_accuracy",
    "threads",
    "worst_slices",
]
