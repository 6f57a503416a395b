"""Registry of the classes that may be saved and loaded: calibrant's own, and registered ones."""

import importlib
import inspect
from typing import TypeVar

from calibrant.core._exports import classes
from calibrant.errors import InputError

__all__ = ["class_named", "key_of", "offered", "own", "register", "registered"]

Class = TypeVar("Class", bound=type)
Part = TypeVar("Part")

_BY_KEY: dict[str, type] = {}
#: Classes that are saved but not exported by a stub.
INSIDE = {
    "CellScores": "calibrant.decisions.cells",
    "ConditionalScores": "calibrant.decisions.conditional_sets",
    "FrameCheckpoint": "calibrant.frames.checkpoint",
    "GroupState": "calibrant.frames.state",
    "RowSample": "calibrant.frames.sample",
    "ScoreCounts": "calibrant.decisions.cells",
    "ScoreLimits": "calibrant.online.score_limits",
    "ScoreSketch": "calibrant.frames.sketch",
    "SetRule": "calibrant.decisions.set_rows",
}


def key_of(cls: type) -> str:
    """The name under which instances are saved: the class name for ours, "package:Class" for
    others.
    """
    package = cls.__module__.split(".")[0]
    return cls.__name__ if package == "calibrant" else f"{package}:{cls.__name__}"


def own(cls: type) -> None:
    """Enter a class if it is calibrant's; others are entered by :func:`register` alone."""
    if cls.__module__.split(".")[0] == "calibrant":
        _BY_KEY[cls.__name__] = cls


def register(cls: Class) -> Class:
    """Register your own calibrator, map, signal or other part: it becomes savable, and the contract
    suite and the command line find it.

    Parameters
    ----------
    cls : a subclass of Calibrator, Map, Signal or RegressionCalibrator
        Saved under "package:Class", by the name of its top package.

    Returns
    -------
    The class itself, so that this works as a decorator.

    Raises
    ------
    InputError
        When the class cannot be saved, or another class has its name.

    See Also
    --------
    load : reads saved objects of registered classes.
    Calibrator, Map, Signal, RegressionCalibrator : the templates of parts.

    Notes
    -----
    ``load`` imports no other packages, so that no file decides which code runs: import the package
    that registers the class before loading its files. A package may name its module under the entry
    point group "calibrant"; the command line imports those.

    Examples
    --------
    >>> import calibrant as cb
    >>> @cb.core.register
    ... class Halfway(cb.core.Calibrator):
    ...     def _fit(self, record):
    ...         self.rate_ = record.one_hot.mean(axis=0)
    ...
    ...     def _predict_proba(self, record):
    ...         return 0.5 * record.probabilities + 0.5 * self.rate_
    >>> cal = Halfway().fit([[0.9, 0.1], [0.4, 0.6]], [0, 1])
    >>> cal.predict_proba([[0.9, 0.1]]).tolist()
    [[0.7, 0.3]]
    """
    if not (isinstance(cls, type) and hasattr(cls, "save") and hasattr(cls, "tags")):
        raise InputError(
            "register takes a subclass of Calibrator, Map, Signal or RegressionCalibrator; got"
            f" {cls!r}."
        )
    key = key_of(cls)
    other = _BY_KEY.get(key, cls)
    # Running a cell or a module again redefines the same class.
    if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InputError(
            f"{key} is registered already, for {other.__module__}.{other.__qualname__}; rename one"
            " of the two classes."
        )
    _BY_KEY[key] = cls
    return cls


def registered(base: type) -> list[type]:
    """The registered subclasses of ``base`` from other packages, by name."""
    return [
        cls
        for key, cls in sorted(_BY_KEY.items())
        if ":" in key and issubclass(cls, base) and cls is not base
    ]


def offered(base: type[Part]) -> list[type[Part]]:
    """Every exported class of calibrant that is a ``base``, by name.

    Examples
    --------
    >>> from calibrant.core import Map
    >>> [cls.__name__ for cls in offered(Map)][:2]
    ['BayesianBinning', 'Beta']
    """
    found = (getattr(importlib.import_module(module), name) for name, module in classes().items())
    kinds = [
        cls for cls in found if isinstance(cls, type) and issubclass(cls, base) and cls is not base
    ]
    return [cls for cls in kinds if not inspect.isabstract(cls)]


def class_named(key: str) -> type | None:
    """The class saved under a key; ours are imported if necessary; None where there is none."""
    if key not in _BY_KEY:
        where = INSIDE.get(key) or classes().get(key)
        if where is not None:
            importlib.import_module(where)
    return _BY_KEY.get(key)
