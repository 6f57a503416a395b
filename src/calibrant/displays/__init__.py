"""Figures: a record of arrays, drawn."""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
