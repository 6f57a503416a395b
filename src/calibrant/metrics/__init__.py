"""Numbers with their uncertainty: ``metric(y, P)``, ``metric.interval(y, P)``, ``metric.state(y, P)``.

What is offered stands in ``__init__.pyi``, one line a name; a name is imported when it is first asked for.
"""

from typing import Any

from calibrant._exports import attach

_offered, __dir__, __all__ = attach(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "calibration_intercept":
        from calibrant._support.deprecation import warn_renamed

        name = "calibration_in_the_large"
        warn_renamed("metrics.calibration_intercept", f"metrics.{name}", "0.2")
    return _offered(name)
