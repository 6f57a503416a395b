"""Facts of a metric that depend on its options."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

__all__ = ["by_options"]

Fact = TypeVar("Fact")


def by_options(find: Callable[[Any], Fact]) -> Fact:
    """A fact of a metric that depends on its options: of an instance what ``find`` says of it,
    read-only.

    Where the fact is declared as data a type checker allows no property over it; it sees the fact,
    and at run time it is a property.

    Examples
    --------
    >>> class Wide:
    ...     width = 3
    ...     name = by_options(lambda metric: f"of {metric.width}")
    >>> Wide().name
    'of 3'
    """
    return cast(Fact, property(find))
