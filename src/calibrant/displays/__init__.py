"""Figures: plots of records of arrays."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
