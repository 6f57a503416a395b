"""Data to try things on: what scikit-learn bundles, and larger sets stored beside the project."""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
