"""Figures: plots of records of arrays."""

from calibrant.core._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
