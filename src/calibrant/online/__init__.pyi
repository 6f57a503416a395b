from calibrant.online.adaptive_intervals import AdaptiveIntervals as AdaptiveIntervals
from calibrant.online.adaptive_intervals import IntervalRun as IntervalRun
from calibrant.online.adaptive_sets import AdaptiveSets as AdaptiveSets
from calibrant.online.adaptive_sets import SetRun as SetRun
from calibrant.online.online_calibrator import OnlineCalibrator as OnlineCalibrator

__all__: list[str]
