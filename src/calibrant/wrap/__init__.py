"""Wrappers of any calibrator, for groups, classes and features."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
