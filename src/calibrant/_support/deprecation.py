"""Names of earlier versions: each works for one version more, and warns at the user's line with what to write instead."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from calibrant.errors import OldNameWarning, warn

__all__ = ["RenamedAttribute", "renamed_arguments", "renamed_value", "warn_renamed"]

Function = TypeVar("Function", bound=Callable[..., Any])


def warn_renamed(old: str, new: str, since: str) -> None:
    """Warn that ``old`` is called ``new`` since that version, "0.1"; the old name goes with the next one, "0.2"."""
    major, minor = since.split(".")
    warn(f"{old} is called {new} since version {since} and goes in {major}.{int(minor) + 1}; write {new}.", OldNameWarning)


def renamed_value(argument: str, value: Any, names: Mapping[str, str], since: str) -> Any:
    """The value of an option under today's name; an old one warns, and whatever is no old name is given back as it is.

    Examples
    --------
    >>> renamed_value("target", "answer", {"top": "answer"}, since="0.1")
    'answer'
    """
    if not isinstance(value, str) or value not in names:
        return value
    warn_renamed(f'{argument}="{value}"', f'{argument}="{names[value]}"', since)
    return names[value]


def renamed_arguments(since: str, **names: str) -> Callable[[Function], Function]:
    """A decorator: keywords ``old=`` are taken as ``new=`` and warn; both at once raise TypeError.

    The signature stays that of today's names, also for scikit-learn's ``get_params`` where an ``__init__`` is decorated.

    Examples
    --------
    >>> @renamed_arguments("0.1", loss="objective")
    ... def fit(*, objective="log_loss"):
    ...     return objective
    >>> fit(objective="brier")
    'brier'
    """

    def decorate(function: Function) -> Function:
        @wraps(function)
        def renamed(*args, **kwargs):
            for old, new in names.items():
                if old in kwargs:
                    if new in kwargs:
                        raise TypeError(f"{function.__qualname__}() got both {new}= and its old name {old}=; leave {old}= out.")
                    warn_renamed(f"{old}=", f"{new}=", since)
                    kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        # inspect reads the signature from the one, scikit-learn the parameters of an estimator from the other.
        vars(renamed).update(__signature__=inspect.signature(function), deprecated_original=function)
        return cast(Function, renamed)

    return decorate


class RenamedAttribute:
    """An old name of an attribute or method of instances: ``old = RenamedAttribute("new", since="0.1")`` in the class's body.

    Examples
    --------
    >>> class Metric:
    ...     key = "ece"
    ...     short_name = RenamedAttribute("key", since="0.1")
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", OldNameWarning)
    ...     Metric().short_name
    'ece'
    """

    old: str
    new: str
    since: str

    def __init__(self, new: str, since: str) -> None:
        self.new, self.since = new, since

    def __set_name__(self, owner: type, name: str) -> None:
        self.old = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        warn_renamed(f"{owner.__name__}.{self.old}", f"{owner.__name__}.{self.new}", self.since)
        return getattr(instance, self.new)
