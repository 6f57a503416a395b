"""Confidence in the predicted label, as a signal and a map."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
