"""How displays are made from records that have been read: one line in each."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from calibrant.contracts.on_record import OnRecord

__all__ = ["FromRecord"]

Drawn = TypeVar("Drawn")


class FromRecord(Generic[Drawn]):
    """``from_record(record, ..., name=None, ax=None, **options)`` of a display: ``curve.of(record, ..., **options)``, drawn.

    Parameters
    ----------
    curve : a function with an inner level
        What the display draws.
    on : str, default "ax"
        Name of what it is drawn on.
    asks : bool, default False
        Whether the target, where none is given, is the event of two classes and the answer of more.
    """

    def __init__(self, curve: OnRecord[..., Any, Any], on: str = "ax", asks: bool = False) -> None:
        self.curve, self.on, self.asks = curve, on, asks

    def __get__(self, instance: Any, owner: Any) -> Callable[..., Drawn]:
        def from_record(record: Any, *given: Any, name: str | None = None, **options: Any) -> Any:
            """The display of a record that has been read, drawn; options as for its curve, a title and the axes to draw on."""
            place = options.pop(self.on, None)
            if self.asks and options.get("target") is None:
                options["target"] = record.default_target
            found = self.curve.of(record, *given, **options)
            return None if found is None else owner(found, name=name).plot(place)

        return from_record
