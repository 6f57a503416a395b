"""Forecasts of regression and their calibrators: scaling, recalibration, conformal intervals,
groups, the automatic choice, wrapped regressors, and rolling evaluation.
"""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
