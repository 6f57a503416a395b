"""Logs of answers to questions: JSON lines, logs of other tools and tables, read, calibrated in
their own form, and decided.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from calibrant.cli.wording import say
from calibrant.core.domain import Domain
from calibrant.core.groups import coded
from calibrant.core.text_table import few
from calibrant.errors import InputError, UsageError
from calibrant.monitoring.promises import Lock
from calibrant.questions.calibrator import QuestionCalibrator
from calibrant.questions.domain import QUESTIONS
from calibrant.questions.evaluation_logs import lm_eval_samples
from calibrant.questions.read import read_questions
from calibrant.questions.record import OTHER, SHOWN, Questions, entries_of, fields_in, nested_in
from calibrant.questions.rules import QuestionRules
from calibrant.questions.values import Batch, Fields, is_a, text_of, words_of
from calibrant.tables.data_file import DataFile
from calibrant.tables.names import Columns
from calibrant.tables.sources import reading_file

__all__ = ["QuestionFile", "certified", "decided"]

#: Kinds of files whose rows have the same columns.
TABLES = ("csv", "parquet")
#: Files of the Language Model Evaluation Harness: ``samples_TASK_DATE.jsonl``.
HARNESS_FILE = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\d(T[^_]*)?)?\.jsonl(\.gz)?")
#: Options that name columns of other kinds of tables.
OTHERS = (
    *("risk", "predicted", "inputs", "positive", "probabilities", "logits", "classes"),
    *("mean", "std", "quantiles"),
)

#: Labels from which a promise for several questions together is worth half of them for calibration.
ENOUGH = 1000


@dataclass(frozen=True, kw_only=True)
class QuestionFile(DataFile):
    """Log of answers to questions: JSON lines in any form of ``read_questions``, samples of the
    Language Model Evaluation Harness, a log of Inspect, or a table with the columns question and
    confidence.
    """

    questions: Questions
    #: The field of the confidences.
    confidence: str = "confidence"
    domain: ClassVar[Domain] = QUESTIONS
    rows_differ: ClassVar[bool] = True

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
        return others == (None,) * 4 and (listed or nested or alone or _of_harness(first))

    @classmethod
    def found_in(cls, source: Any) -> str | None:
        """Find the columns of a table; ``named`` recognises every other log."""
        columns = source.kind in TABLES and {"question", "confidence"} <= {*source.content}
        return "confidence" if columns else None

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
        batch = _rows_in(source)
        found = np.ones(len(batch.objects), bool)
        for i, (one, number) in enumerate(zip(batch.objects, batch.number, strict=True)):
            rows = entries_of(Batch([one], batch.word, [number]), fields)
            found[i] = all(bool(row.probs) for row in rows)
        return found

    @classmethod
    def read(
        cls, source: Any, columns: Columns, labels: bool, prefer: str | None
    ) -> "QuestionFile":
        """Read the answers; some must have outcomes if ``labels``."""
        confidence = columns.confidence or "confidence"
        if source.kind != "jsonl" and not (source.kind in TABLES and confidence in source.content):
            raise InputError(
                f"--task {QUESTIONS.name} needs JSON lines, or a table with a column"
                f" {confidence!r}; {source.path} has {source.described()}; name the column with"
                " --confidence."
            )
        if given := [name for name in OTHERS if getattr(columns, name) is not None]:
            raise UsageError(f"--{given[0]} has no effect on a log of questions; leave it out.")
        # Neither outcomes nor weights count where answers are only calibrated.
        names: dict[str, Any] = {
            name: getattr(columns, name) or name if labels else "" for name in ("label", "weight")
        }
        names["confidence"] = confidence
        with reading_file(source.path, "a log of answers to questions", "repair those rows"):
            try:
                batch = _rows_in(source)
                found = read_questions(batch, **names)
            except InputError as error:
                raise InputError(f"{source.path}: {error}") from None
        if labels and not found.labelled.any():
            raise InputError(
                f"{source.path} must hold the outcome of some rows in {names['label']!r} or"
                " 'correct'; it has none; name the field with --label."
            )
        if columns.model_version is not None:
            models = {*map(str, found.model.names)} - {columns.model_version}
            if labels and models and "model" in fields_in(batch.objects):
                raise InputError(
                    f"--model-version must agree with the field 'model' of {source.path},"
                    f" {few(sorted(models))}; got {columns.model_version!r}; leave it out."
                )
            named = np.full(len(found), columns.model_version)
            found = replace(found, model=coded(named, "model"))
        beside: dict[str, Any] = {"questions": found, "confidence": confidence}
        return cls(path=source.path, labels=None, weight=None, source=source, **beside)

    @property
    def columns(self) -> list[str]:
        """The column of confidences of a table."""
        return [self.confidence] if self.source.kind in TABLES else []

    @property
    def said(self) -> Questions:
        """The answers, with their outcomes."""
        return self.questions

    def record(self, groups: Any = None, **beside: Any) -> Questions:
        """Return the rows."""
        return self.questions

    def same_outcomes(self, ours: Any, theirs: Any) -> np.ndarray:
        """Compare the names of the true options; one that was not sampled may be any."""
        mine, others = (np.array(one.shared_outcomes(), object) for one in (ours, theirs))
        return (mine == others) | (mine == OTHER) | (others == OTHER)

    def calibrated(
        self, fitted: Any, columns: Columns, levels: Any, beside: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Write the calibrated probabilities into the lines, in their own form."""
        done = self.questions.recalibrated(fitted.predict_record(self.questions))
        answers = done.answers()
        if self.source.kind in TABLES:
            return {self.confidence: np.array(list(map(_confidence, answers)))}, {}
        for row, own in zip(_rows_of(self.source.objects), answers, strict=True):
            whole = any(is_a(row.get(form), Mapping, list) for form in SHOWN) or _of_harness(row)
            p: Any = list(own.values()) if is_a(row.get("probs"), list) else own
            row["probs" if whole or "probs" in row else self.confidence] = (
                p if whole else _confidence(own)
            )
        return {}, {}


def _confidence(answer: Mapping[str, float]) -> float | None:
    return answer.get("confidence", answer.get("yes"))


def _of_harness(first: Mapping[str, Any]) -> bool:
    """Whether an object is a sample of the Language Model Evaluation Harness."""
    return {"doc_id", "target", "filtered_resps"} <= {*first}


def _rows_in(source: Any) -> Batch:
    """The rows of a log, with their lines, or with their rows in a table."""
    if source.kind in TABLES:
        columns = {name: _values(source, name) for name in source.content}
        if {"label", "correct"} <= {*columns}:
            # Words for true and false must agree with ``correct``, as true and false do.
            words = [None if one is None else words_of(text_of(one)) for one in columns["label"]]
            if -1 not in words:
                columns["label"] = [None if one is None else bool(one) for one in words]
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return Batch(rows, "row", range(len(rows)))
    batch = Batch(source.objects, "line", source.lines)
    return _samples(source.path, batch) if _of_harness(batch.objects[0]) else batch


def _samples(path: Path, batch: Batch) -> Batch:
    """The samples of the Language Model Evaluation Harness in one file as rows of a log, with the
    probabilities of a calibrated file.
    """
    if not path.is_file():
        raise InputError(
            f"{path} must be one file of lm-eval, because each is one task, which its name says;"
            " measure one file at a time."
        )
    task = HARNESS_FILE.fullmatch(path.name)
    rows: list[dict[str, Any]] = []
    for sample, row in zip(
        batch.objects, lm_eval_samples(batch, question=task and task["task"]), strict=True
    ):
        if "probs" in sample:
            row = {**row, "logprobs": None, "probs": sample["probs"]}
        rows.append({name: value for name, value in row.items() if value is not None})
    return Batch(rows, batch.word, batch.number)


def _values(source: Any, name: str) -> list[Any]:
    values = source.column(name)
    return values.levels().tolist() if source.kind == "csv" else values.tolist()


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
    found: list[str] = lock.decide(data.questions, any_model=columns.allow_other_version).tolist()
    say(", ".join(f"{n:,} {one}" for one, n in sorted(Counter(found).items())))
    if data.source.kind in TABLES:
        return {"decision": np.array(found, dtype=object)}
    for row, one in zip(_rows_of(data.source.objects), found, strict=True):
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
