"""Decisions from calibrated probabilities."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
