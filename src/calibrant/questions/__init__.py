"""Answers to questions: records of typed questions, calibrators, rules with a promise, rates."""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
