"""Numbers with their uncertainty: ``metric(y, P)``, ``metric.interval(y, P)``,
``metric.state(y, P)``.

What is offered stands in ``__init__.pyi``, one line a name; a name is imported when it is first
asked for.
"""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
