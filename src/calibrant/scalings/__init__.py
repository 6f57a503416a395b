"""Scalings, which map probabilities or logits to whole probability vectors."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
