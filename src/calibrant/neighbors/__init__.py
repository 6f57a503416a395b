"""Nearest training points: exact and approximate indexes, and reductions of the data they hold."""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
