"""Forecasts of regression in any form, each read as one predictive distribution a row."""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
