"""Decisions on logs of answers to questions, and thresholds certified on them."""

import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.cli.wording import say
from calibrant.monitoring.promises import Lock
from calibrant.questions import QuestionCalibrator, QuestionRules
from calibrant.questions.log_file import TABLES, QuestionFile, rows_of
from calibrant.tables.names import Columns

__all__ = ["certified", "decided"]

#: Labels from which a promise for several questions together is worth half of them for calibration.
ENOUGH = 1000


def decided(lock: Lock, data: QuestionFile, columns: Columns) -> dict[str, np.ndarray]:
    """Add "answer", "ask" or "escalate" to every row of a log, as ``decision``, and print how
    often.
    """
    found = lock.decide(data.questions, any_model=columns.allow_other_version).tolist()
    say(", ".join(f"{n:,} {one}" for one, n in sorted(Counter(found).items())))
    if data.source.kind in TABLES:
        return {"decision": np.array(found, dtype=object)}
    for row, one in zip(rows_of(data.source.objects), found, strict=True):
        row["decision"] = one
    return {}


def certified(
    data: QuestionFile,
    output: Path,
    force: bool,
    *,
    unit: Any = "question",
    calibrator: Any = None,
    **options: Any,
) -> None:
    """Certify thresholds on a log, print what is promised and write the lock file."""
    # Within a question a calibrator hardly moves the ranks, and half of the labels is its price.
    if calibrator is None and unit != "question" and np.sum(data.questions.labelled) >= ENOUGH:
        calibrator = QuestionCalibrator()
    rules = QuestionRules(**options, unit=unit, calibrator=calibrator).fit(data.questions)
    Lock.of(rules).write(output, overwrite=force)
    lines = [f"{name or 'all rows'}: {one}" for name, one in rules.certificates_.items()]
    lines += [f"{name or 'all rows'}: not certified; {one}" for name, one in rules.reasons_.items()]
    lines += [f"The guarantee holds if {rules.guarantee_.assumes}.", str(output)]
    say("\n".join([*lines, "Next:", f"  calibrant decide {shlex.quote(str(output))} new.jsonl"]))
