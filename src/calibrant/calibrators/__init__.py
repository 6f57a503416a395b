"""Calibrators of class probabilities and confidences: maps, scalings, signals, confidences,
wrappers of models, groups, and the automatic choice.

``__init__.pyi`` lists the public names, one per line; each is imported at first access.
"""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
