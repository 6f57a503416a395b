"""Intervals, sets and calibrators that learn each row when its label arrives."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
