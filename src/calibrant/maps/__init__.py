"""Maps from a score to the probability of being right."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
