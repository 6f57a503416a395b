"""Which of the three questions a report answers: how likely is the event, the model's own
answer, or each class.
"""

from collections.abc import Iterable
from typing import Any

__all__ = ["question"]


def question(target: Any, record: Any, calibrators: Iterable[Any]) -> Any:
    """The ``target`` meant: as given, or by default the event of two classes, the classes of more.

    Where a calibrator gives confidences alone, the default is the answer, the one thing that it
    speaks of.
    """
    if target is None:
        speaks_of_answers = any(one.tags.output == "confidence" for one in calibrators)
        return "answer" if speaks_of_answers else "event" if record.n_classes == 2 else "classes"
    if target not in ("answer", "classes") or target in record.classes.tolist():
        record.position(target)  # refuses what is no class
    return target
