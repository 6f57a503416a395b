"""Which of two labels is the event."""

from collections.abc import Iterable
from typing import Any

from calibrant.errors import InputError
from calibrant.labels import label_key, places

__all__ = ["NO_AND_YES", "event_places"]

#: Pairs of labels of which the second says itself that it is the event; of others the order of the alphabet would turn good and bad round.
NO_AND_YES = (("0", "1"), ("false", "true"), ("no", "yes"))


def event_places(labels: Iterable[Any], event: Any = None) -> list[bool]:
    """Which of these labels are the event: by value or text, or where None is named the 1, true or yes of two; others must be named.

    Examples
    --------
    >>> event_places(["Yes", "No"]), event_places(["bad", "good"], "bad")
    ([True, False], [True, False])
    """
    listed = [label_key(label) for label in labels]
    if event is not None:
        return [place == 0 for place in places(listed, [event])]
    texts = [str(int(key)) if isinstance(key, bool) else str(key).casefold() for key in listed]
    for no, yes in NO_AND_YES:
        if set(texts) <= {no, yes} and len(set(texts)) == len(texts):
            return [text == yes for text in texts]
    raise InputError(
        f"the event must be named where the labels are not 0 and 1, booleans, or no and yes; got {str(listed[:6])[1:-1]}; "
        "pass classes=[...] with the label of the event last."
    )
