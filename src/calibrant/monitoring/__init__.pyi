from calibrant.core.folds import time_blocks as time_blocks
from calibrant.monitoring.adaptive import AdaptiveIntervals as AdaptiveIntervals
from calibrant.monitoring.adaptive import AdaptiveSets as AdaptiveSets
from calibrant.monitoring.adaptive import IntervalRun as IntervalRun
from calibrant.monitoring.adaptive import SetRun as SetRun
from calibrant.monitoring.estimates import PerformanceEstimate as PerformanceEstimate
from calibrant.monitoring.estimates import estimate_performance as estimate_performance
from calibrant.monitoring.importance import ChangedColumn as ChangedColumn
from calibrant.monitoring.importance import ImportanceWeights as ImportanceWeights
from calibrant.monitoring.importance import ShiftTest as ShiftTest
from calibrant.monitoring.importance import shift_test as shift_test
from calibrant.monitoring.monitor import CalibrationMonitor as CalibrationMonitor
from calibrant.monitoring.online import OnlineCalibrator as OnlineCalibrator
from calibrant.monitoring.over_time import worst_slices as worst_slices
from calibrant.monitoring.promises import Lock as Lock
from calibrant.monitoring.promises import SwapCheck as SwapCheck
from calibrant.monitoring.promises import read_lock as read_lock
from calibrant.regression.rolling import rolling_evaluation as rolling_evaluation

__all__: list[str]
