"""Change of the inputs: importance weights, tests of the change, and performance without labels."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
