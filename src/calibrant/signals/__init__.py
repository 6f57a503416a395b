"""Signals: evidence that a prediction is right."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
