"""Metrics, which are numbers with their uncertainty, curves, tests, comparisons, sample sizes, and
internal validation.

A metric is called as ``metric(y, P)``, ``metric.interval(y, P)`` or ``metric.state(y, P)``.

``__init__.pyi`` lists the public names, one per line; each is imported at first access.
"""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__, keyed=True)
