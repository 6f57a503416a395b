"""Calibration over time: alarms with a stated rate of false ones, advice, and tests of slices."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
