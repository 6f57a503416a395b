"""Decisions from calibrated probabilities: conformal sets, thresholds, cheapest actions, and rules
whose errors or risks are bounded or certified.
"""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
