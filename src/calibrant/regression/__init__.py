"""Calibrators of regression forecasts."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
