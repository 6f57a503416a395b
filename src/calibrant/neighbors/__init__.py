"""Nearest training points: exact and approximate indexes, and reductions of their data."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
