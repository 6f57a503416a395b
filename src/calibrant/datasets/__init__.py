"""Example data: sets bundled with scikit-learn, and larger sets stored outside the project."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
