"""Logs of answers to questions, as JSON lines: read, calibrated in their own form, and decided."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import click
import numpy as np

from calibrant.cli.data_file import DataFile
from calibrant.cli.options import Columns
from calibrant.cli.wording import few, say
from calibrant.core.domain import Domain
from calibrant.core.groups import coded
from calibrant.errors import InputError
from calibrant.monitoring.promises import Lock
from calibrant.questions import QuestionCalibrator, QuestionRules, Questions, read_questions
from calibrant.questions.domain import QUESTIONS
from calibrant.questions.record import SHOWN, entries_of, fields_in, nested_in
from calibrant.questions.values import Batch, Fields, is_a
from calibrant.tables.sources import reading_file

__all__ = ["QuestionFile", "certified", "decided"]

#: Labels from which a promise for several questions together is worth half of them for calibration.
ENOUGH = 1000
#: Options that name columns of other kinds of tables.
OTHERS = (
    *("risk", "predicted", "inputs", "positive", "probabilities", "logits", "classes"),
    *("mean", "std", "quantiles"),
)


@dataclass(frozen=True, kw_only=True)
class QuestionFile(DataFile):
    """Log of answers to questions, one JSON object a line, in any form of ``read_questions``."""

    questions: Questions
    domain: ClassVar[Domain] = QUESTIONS

    @classmethod
    def named(cls, source: Any, columns: Columns) -> bool:
        """Whether --task names questions, or the first line is a row of a log and no option names
        other predictions.
        """
        if source.kind != "jsonl" or columns.task is not None:
            return columns.task == QUESTIONS.name
        others = (columns.one, columns.inputs, columns.probabilities, columns.logits)
        first, inside = source.objects[0], _inside(source.objects[0])
        listed = any(
            # Samples that are numbers may be draws of another kind of prediction.
            name != "samples" or any(is_a(one, str) for one in first[name])
            for name in SHOWN
            if is_a(first.get(name), Mapping, list)
        )
        nested = bool(inside) and all(is_a(row, Mapping) for row in inside or ())
        alone = "question" in first and bool({"confidence", *SHOWN} & set(first))
        return others == (None,) * 4 and (listed or nested or alone)

    @classmethod
    def found_in(cls, source: Any) -> str | None:
        """Find nothing: ``named`` recognises every log."""
        return None

    @classmethod
    def names_in(cls, source: Any, columns: Columns, labels: bool, prefer: str | None) -> list[str]:
        """Return no names: the rows of a log may have different fields."""
        return []

    @classmethod
    def complete(
        cls, source: Any, columns: Columns, labels: bool, prefer: str | None
    ) -> np.ndarray:
        """Return (n,) whether each line has the probabilities of all of its questions."""
        fields = Fields(confidence=columns.confidence or "confidence")
        found = np.ones(len(source.objects), bool)
        for i, (one, line) in enumerate(zip(source.objects, source.lines, strict=True)):
            rows = entries_of(Batch([one], "line", [line]), fields)
            found[i] = all(bool(row.probs) for row in rows)
        return found

    @classmethod
    def read(
        cls, source: Any, columns: Columns, labels: bool, prefer: str | None
    ) -> "QuestionFile":
        """Read the answers; some must have outcomes if ``labels``."""
        if source.kind != "jsonl":
            raise InputError(
                f"--task {QUESTIONS.name} needs JSON lines; {source.path} is a {source.kind} file;"
                " write one object a line, or read it in Python with read_questions."
            )
        if given := [name for name in OTHERS if getattr(columns, name) is not None]:
            raise click.UsageError(
                f"--{given[0]} has no effect on a log of questions; leave it out."
            )
        # Neither outcomes nor weights count where answers are only calibrated.
        names = {
            name: getattr(columns, name) or name if labels else "" for name in ("label", "weight")
        }
        names["confidence"] = columns.confidence or "confidence"
        with reading_file(source.path, "a log of answers to questions", "repair those rows"):
            try:
                found = read_questions(Batch(source.objects, "line", source.lines), **names)
            except InputError as error:
                raise InputError(f"{source.path}: {error}") from None
        if labels and not found.labelled.any():
            raise InputError(
                f"{source.path} must hold the outcome of some rows in {names['label']!r} or"
                " 'correct'; it has none; name the field with --label."
            )
        if columns.model_version is not None:
            models = {*map(str, found.model.names)} - {columns.model_version}
            if labels and models and "model" in fields_in(source.objects):
                raise InputError(
                    f"--model-version must agree with the field 'model' of {source.path},"
                    f" {few(sorted(models))}; got {columns.model_version!r}; leave it out."
                )
            named = np.full(len(found), columns.model_version)
            found = replace(found, model=coded(named, "model"))
        return cls(path=source.path, labels=None, weight=None, source=source, questions=found)

    @property
    def said(self) -> Questions:
        """The answers, with their outcomes."""
        return self.questions

    def record(self, groups: Any = None, **beside: Any) -> Questions:
        """Return the rows."""
        return self.questions

    def same_outcomes(self, ours: Any, theirs: Any) -> np.ndarray:
        """Compare the names of the true options."""
        return np.array(ours.outcomes(), dtype=object) == np.array(theirs.outcomes(), dtype=object)

    def calibrated(
        self, fitted: Any, columns: Columns, levels: Any, beside: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Write the calibrated probabilities into the lines, in their own form."""
        done = self.questions.recalibrated(fitted.predict_record(self.questions))
        rows, one = _rows_of(self.source.objects), columns.confidence or "confidence"
        for row, own in zip(rows, done.answers(), strict=True):
            whole = any(is_a(row.get(form), Mapping, list) for form in SHOWN)
            p: Any = list(own.values()) if is_a(row.get("probs"), list) else own
            row["probs" if whole or "probs" in row else one] = (
                p if whole else own.get("confidence", own.get("yes"))
            )
        return {}, {}


def _rows_of(objects: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The objects of single answers, in the order of a record's rows."""
    for one in objects:
        inside = _inside(one)
        yield from [one] if inside is None else _rows_of(inside)


def _inside(one: Mapping[str, Any]) -> list[Any] | None:
    """The questions of one item in an object; None unless it is nested."""
    held: Any = next((one[name] for name in nested_in(one, Fields())), None)
    return [*held.values()] if is_a(held, Mapping) else held


def decided(lock: Lock, data: QuestionFile, columns: Columns) -> dict[str, np.ndarray]:
    """Add "answer", "ask" or "escalate" to every row of a log, as ``decision``, and print how
    often.
    """
    found = lock.decide(data.questions, any_model=columns.allow_other_version).tolist()
    for row, one in zip(_rows_of(data.source.objects), found, strict=True):
        row["decision"] = one
    say(", ".join(f"{n:,} {one}" for one, n in sorted(Counter(found).items())))
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
    say("\n".join([*lines, f"The guarantee holds if {rules.guarantee_.assumes}.", str(output)]))
