from calibrant.core.folds import time_blocks as time_blocks
from calibrant.monitoring.lock import Lock as Lock
from calibrant.monitoring.lock import read_lock as read_lock
from calibrant.monitoring.monitor import CalibrationMonitor as CalibrationMonitor
from calibrant.monitoring.promises import SwapCheck as SwapCheck
from calibrant.monitoring.slices import worst_slices as worst_slices
from calibrant.regression.rolling import rolling_evaluation as rolling_evaluation

__all__: list[str]
