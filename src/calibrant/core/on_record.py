"""Functions with an inner level: ``curve(y, P)`` validates its input, ``curve.of(record)`` takes a
record.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from calibrant.core.blas import on_one_blas_thread
from calibrant.core.options import seeded

__all__ = ["OnRecord", "on_record"]

Given = ParamSpec("Given")
Read = ParamSpec("Read")
Found = TypeVar("Found")


class OnRecord(Protocol[Given, Read, Found]):
    """A public function, and ``of``, the same function of a record."""

    of: Callable[Read, Found]

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Found:
        """The public function."""
        ...


def on_record(
    of: Callable[Read, Found],
) -> Callable[[Callable[Given, Found]], OnRecord[Given, Read, Found]]:
    """Decorator that names ``of``, the function's inner level, on the function itself.

    Examples
    --------
    >>> @on_record(lambda record: len(record))
    ... def rows(P):
    ...     return rows.of(list(P))
    >>> rows((0.2, 0.7)), rows.of([0.2, 0.7, 0.9])
    (2, 3)
    """

    def named(function: Callable[Given, Found]) -> OnRecord[Given, Read, Found]:
        checked = cast(Any, seeded(function))
        checked.of = on_one_blas_thread(seeded(of))
        return cast(OnRecord[Given, Read, Found], checked)

    return named
