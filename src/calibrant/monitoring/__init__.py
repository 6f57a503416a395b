"""Calibration over time: an alarm with a stated rate of false ones, what to do then, and the
slices that are off.
"""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
