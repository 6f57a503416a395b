"""Calibrators by name: all that calibrant exports, discovered, so that a new one needs no line here."""

import inspect
import re

import calibrant
from calibrant.errors import InputError

__all__ = ["make", "methods", "regression_methods"]

#: Ends of class names that say nothing beside the others.
ENDINGS = ("Scaling", "Calibrator", "Calibration")


def methods() -> dict:
    """Name to a function of no arguments that makes the calibrator.

    A calibrator's name is its class's in kebab case, without "Scaling" or "Calibrator"; a map's is its own and stands for a
    ConfidenceCalibrator with that map. Those that cannot be made without arguments (wrappers) or need a reference set are left out.

    Examples
    --------
    >>> methods()["temperature"]()
    TemperatureScaling()
    >>> methods()["isotonic"]()
    ConfidenceCalibrator(map=Isotonic())
    """
    found = {}
    for cls in _exported(calibrant.Calibrator):
        if cls is not calibrant.ConfidenceCalibrator and _makes_itself(cls) and _takes_arrays(cls()):
            found[_kebab(cls.__name__)] = cls
    for cls in _exported(calibrant.Map):
        if _makes_itself(cls):
            name = _kebab(cls.__name__)
            found[name if name not in found else f"{name}-confidence"] = _with_map(cls)
    return dict(sorted(found.items()))


def regression_methods() -> dict:
    """The same for calibrators of forecasts.

    Examples
    --------
    >>> regression_methods()["std"]()
    StdScaling()
    """
    return dict(sorted((_kebab(cls.__name__), cls) for cls in _exported(calibrant.RegressionCalibrator) if _makes_itself(cls)))


def make(name, task="classification"):
    """The calibrator of that name, unfitted.

    Examples
    --------
    >>> make("identity"), make("interval", "regression")
    (Identity(), IntervalCalibration())
    """
    found = methods() if task == "classification" else regression_methods()
    if name not in found:
        raise InputError(f"--method must be one of {', '.join(found)}; got {name!r}.")
    return found[name]()


def _exported(base):
    exported = (getattr(calibrant, name) for name in calibrant.__all__)
    return [c for c in exported if isinstance(c, type) and issubclass(c, base) and c is not base and not inspect.isabstract(c)]


def _makes_itself(cls):
    parameters = inspect.signature(cls).parameters.values()
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def _takes_arrays(calibrator):
    tags = calibrator.tags
    return tags.output != "distribution" and not tags.uses_features and not tags.needs_reference


def _with_map(cls):
    return lambda: calibrant.ConfidenceCalibrator(map=cls())


def _kebab(name):
    for ending in ENDINGS:
        name = name.removesuffix(ending) or name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
