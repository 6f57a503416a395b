from calibrant.confidence.class_report import class_report as class_report
from calibrant.confidence.confidence_calibrator import ConfidenceCalibrator as ConfidenceCalibrator
from calibrant.confidence.confidence_curve import confidence_curve as confidence_curve
from calibrant.confidence.geometric import GeometricCalibrator as GeometricCalibrator
from calibrant.confidence.hoki import HokiCalibrator as HokiCalibrator
from calibrant.confidence.signal_accuracy import signal_accuracy as signal_accuracy
from calibrant.select.stacked_confidence import StackedConfidence as StackedConfidence

__all__: list[str]
