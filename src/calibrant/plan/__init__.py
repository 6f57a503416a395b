"""Sample sizes for studies of calibration, to validate a model or to update it."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
