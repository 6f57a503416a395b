"""Answers to questions: records and logs of typed questions, calibrators, rules with a promise,
cascades, metrics, and rates from a judge and few labels.
"""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
