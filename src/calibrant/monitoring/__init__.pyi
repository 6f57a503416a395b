from calibrant.core.folds import time_blocks as time_blocks
from calibrant.monitoring.adaptive_intervals import AdaptiveIntervals as AdaptiveIntervals
from calibrant.monitoring.adaptive_intervals import IntervalRun as IntervalRun
from calibrant.monitoring.adaptive_sets import AdaptiveSets as AdaptiveSets
from calibrant.monitoring.adaptive_sets import SetRun as SetRun
from calibrant.monitoring.estimated_performance import PerformanceEstimate as PerformanceEstimate
from calibrant.monitoring.estimated_performance import estimate_performance as estimate_performance
from calibrant.monitoring.importance_weights import ImportanceWeights as ImportanceWeights
from calibrant.monitoring.lock import Lock as Lock
from calibrant.monitoring.lock import read_lock as read_lock
from calibrant.monitoring.monitor import CalibrationMonitor as CalibrationMonitor
from calibrant.monitoring.online import OnlineCalibrator as OnlineCalibrator
from calibrant.monitoring.promises import SwapCheck as SwapCheck
from calibrant.monitoring.shift_test import ChangedColumn as ChangedColumn
from calibrant.monitoring.shift_test import ShiftTest as ShiftTest
from calibrant.monitoring.shift_test import shift_test as shift_test
from calibrant.monitoring.slices import worst_slices as worst_slices
from calibrant.regression.rolling import rolling_evaluation as rolling_evaluation

__all__: list[str]
