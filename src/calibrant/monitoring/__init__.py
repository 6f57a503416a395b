"""Calibration over time: alarms with a stated rate of false ones, advice, tests of slices and
promises, online methods, importance weights, and estimates without labels.
"""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
