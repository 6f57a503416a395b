"""Forecasts of a number in files, with the outcomes; and logs of answers to questions: read,
calibrated in their own form, and decided.

Forecasts are mean and std, quantiles or samples. Logs are JSON lines, or logs of other tools.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import click
import numpy as np

from calibrant.cli.columns import ARRAYS, as_floats
from calibrant.cli.data_file import DataFile
from calibrant.cli.options import Columns
from calibrant.cli.wording import few, say
from calibrant.core.domain import Domain
from calibrant.core.forecast import Forecast, NormalForecast, require_order
from calibrant.core.forecast_record import ForecastRecord, read_forecast
from calibrant.core.groups import coded
from calibrant.core.quantile_forecast import QuantileForecast, SampleForecast
from calibrant.core.reading import REGRESSION
from calibrant.errors import InputError
from calibrant.monitoring.promises import Lock
from calibrant.questions import QuestionCalibrator, QuestionRules, Questions, read_questions
from calibrant.questions.domain import QUESTIONS
from calibrant.questions.evaluation_logs import inspect_samples, lm_eval_samples
from calibrant.questions.record import OTHER, SHOWN, entries_of, fields_in, nested_in
from calibrant.questions.values import Batch, Fields, is_a, text_of, words_of
from calibrant.tables.columns import quantile_levels, starred
from calibrant.tables.sources import KINDS, JsonlSource, reading_file

if TYPE_CHECKING:
    from calibrant.cli.options import Columns

__all__ = ["OUTCOMES", "ForecastFile", "QuestionFile", "certified", "decided"]


#: Kinds of files whose rows have the same columns.
TABLES = ("csv", "parquet")
#: Files of the Language Model Evaluation Harness: ``samples_TASK_DATE.jsonl``.
HARNESS_FILE = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\d(T[^_]*)?)?\.jsonl(\.gz)?")
OUTCOMES = ("y", "y_true", "target", "label", "labels", "outcome")
#: Options about classes.
OF_CLASSES = ("predicted", "inputs", "positive", "probabilities", "logits", "classes")


@dataclass(frozen=True, kw_only=True)
class ForecastFile(DataFile):
    """File of forecasts of a number.

    Attributes
    ----------
    forecast : Forecast
    outputs : list of str, or None
        Names of the outputs if there are several.
    names : dict
        Lists of columns or arrays by their content: "mean" and "std", "quantiles" or "samples".
    """

    forecast: Forecast
    outputs: Any
    names: dict[Any, Any]
    domain: ClassVar[Domain] = REGRESSION

    @classmethod
    def named(cls, source: Any, columns: "Columns") -> bool:
        """Whether --mean, --std or --quantiles is given."""
        return any(name is not None for name in (columns.mean, columns.std, columns.quantiles))

    @classmethod
    def found_in(cls, source: Any) -> str | None:
        """Find mean and std, two quantiles or more, or samples."""
        content = source.content
        if "mean" in content and "std" in content:
            return "mean"
        arrays = source.kind == "npz" and (
            "samples" in content or ("quantiles" in content and "levels" in content)
        )
        if arrays:
            return "samples" if "samples" in content else "quantiles"
        pairs = _pairs(source)
        if pairs:
            return f"mean_{pairs[0]}"
        levels = quantile_levels(content)
        return next(iter(levels)) if len(levels) > 1 else None

    @classmethod
    def names_in(
        cls, source: Any, columns: "Columns", labels: bool, prefer: str | None
    ) -> list[str]:
        """Return the names of forecasts, outcomes and weights."""
        names, outputs, _ = _forecast_names(source, columns)
        found = [name for several in names.values() for name in several]
        if labels:
            found += _outcome_names(source, columns, outputs)
            found += _named(source, columns.weight, ARRAYS["weight"])
        return found

    @classmethod
    def read(
        cls, source: Any, columns: "Columns", labels: bool, prefer: str | None
    ) -> "ForecastFile":
        """Read the forecasts of a file, and its outcomes if ``labels``."""
        if given := [name for name in OF_CLASSES if getattr(columns, name) is not None]:
            raise click.UsageError(
                f"--{given[0]} has no effect on forecasts of a number, which {source.path} holds;"
                " leave it out, or pass another table."
            )
        names, outputs, levels = _forecast_names(source, columns)
        if "mean" in names and not cls.named(source, columns) and starred(source.content, "q_*"):
            say(
                f"{source.path} has mean and std, which are read, and quantiles;"
                ' --quantiles "q_*" reads these.',
                err=True,
            )
        forecast = _forecast(source, names, outputs, levels)
        outcome = _outcome_names(source, columns, outputs) if labels else []
        weight = _named(source, columns.weight, ARRAYS["weight"])
        y, weight = (
            _one(source, own[0]) if len(own) == 1 else _columns(source, own) if own else None
            for own in (outcome, weight)
        )
        return cls(
            path=source.path,
            forecast=forecast,
            labels=y,
            weight=weight if labels else None,
            outputs=outputs,
            source=source,
            names=names,
            outcome=tuple(outcome),
        )

    @property
    def said(self) -> Forecast:
        """The forecasts."""
        return self.forecast

    @property
    def columns(self) -> list[str]:
        """The columns of all outputs."""
        return [name for several in self.names.values() for name in several]

    def record(self, groups: Any = None, **beside: Any) -> ForecastRecord:
        """Return the rows, with their outcomes if these were read."""
        record = read_forecast(
            self.forecast, None, self.labels, sample_weight=self.weight, groups=groups
        )
        return replace(record, names=self.outputs)

    def same_outcomes(self, ours: Any, theirs: Any) -> np.ndarray:
        """Compare the outcomes as numbers."""
        return ours.y == theirs.y

    def about(self, record: Any) -> str:
        """Describe the number of outputs if there are several."""
        return f", {record.forecast.shape[1]} outputs" if record.several else ""

    def given(self, calibrator: Any) -> dict[str, Any]:
        """Return the forecast with the names of the outputs."""
        return {"P": self.forecast, "outputs": self.outputs}

    def said_like(self, first: Self) -> Any:
        """Return the forecasts; refuse outputs in another order."""
        require_order(self.outputs, f"{self.path}", first.outputs, f"{first.path}")
        return self.forecast

    def audited(self, target: str | None) -> dict[str, Any]:
        """Return the arguments of an audit; refuse several outputs."""
        if self.outputs is not None:
            raise InputError(
                f"audit needs forecasts of one output; {self.path} has {len(self.outputs)}; name"
                " one with --mean and --std."
            )
        return super().audited(target)

    def calibrated(
        self, fitted: Any, columns: "Columns", levels: Any, beside: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the calibrated columns, with ``low_LEVEL`` and ``high_LEVEL`` of central
        intervals.
        """
        out, said = {}, cast(Any, self.forecast)
        forecast = fitted.predict_record(self.record(**beside))
        if "quantiles" in self.names:
            values = forecast.quantile(said.levels)
            names = self.names["quantiles"]
            out = (
                {names[0]: values}
                if len(names) == 1
                else {name: values[..., j] for j, name in enumerate(names)}
            )
        elif "samples" in self.names:
            out = {"samples": forecast.quantile(said.levels)}
        else:
            for key, values in (("mean", forecast.mean), ("std", forecast.std)):
                out |= _by_output(self.names[key], values)
        for level in levels:
            for key, values in zip(("low", "high"), forecast.interval(level), strict=True):
                names = (
                    [f"{key}_{level}"]
                    if not self.outputs
                    else [f"{key}_{level}_{name}" for name in self.outputs]
                )
                out |= _by_output(names, values)
        return out, {}


def _forecast(source: Any, names: dict[str, list[Any]], outputs: Any, levels: Any) -> Any:
    """Build the forecast from these columns."""
    if "samples" in names:
        return SampleForecast(source.content[names["samples"][0]])
    if "quantiles" in names:
        own = names["quantiles"]
        return QuantileForecast(
            levels, source.content[own[0]] if len(own) == 1 else _columns(source, own)
        )
    return NormalForecast(
        *(
            _columns(source, own) if outputs else _one(source, own[0])
            for own in (names["mean"], names["std"])
        )
    )


def _forecast_names(source: Any, columns: "Columns") -> Any:
    """Return (names of the columns by their content, names of the outputs, levels of quantiles);
    the first kind that is found wins.
    """
    if source.kind == "npz" and columns.quantiles is None and columns.mean is None:
        if "quantiles" in source.content and "levels" in source.content:
            return {"quantiles": ["quantiles"]}, None, source.content["levels"]
        if "samples" in source.content:
            return {"samples": ["samples"]}, None, None
    given = {columns.mean, columns.std} != {None}
    if given and columns.quantiles is not None:
        raise click.UsageError(
            "--quantiles excludes --mean and --std; pass the columns of one kind of forecast."
        )
    normal = {"mean", "std"} <= {*source.content}
    pairs = [] if given or normal else _pairs(source)
    if not given and (columns.quantiles is not None or not (normal or pairs)):
        levels = quantile_levels(source.content, columns.quantiles or "auto")
        if len(levels) > 1:
            ordered = sorted(levels, key=lambda name: levels[name])
            return {"quantiles": ordered}, None, [levels[name] for name in ordered]
        if columns.quantiles is not None:
            raise InputError(
                f"--quantiles must name two columns of quantiles or more; {columns.quantiles!r}"
                f" names {len(levels)} of {source.path}, which has {source.described()}."
            )
    if pairs:
        names = {"mean": [f"mean_{one}" for one in pairs], "std": [f"std_{one}" for one in pairs]}
        return names, pairs, None
    means, stds, outputs = _normal_names(source, columns)
    return {"mean": means, "std": stds}, outputs, None


def _normal_names(source: Any, columns: "Columns") -> Any:
    means, stds = (
        _split(given or usual) for given, usual in ((columns.mean, "mean"), (columns.std, "std"))
    )
    missing = [name for name in (*means, *stds) if name not in source.content]
    if missing or len(means) != len(stds):
        raise InputError(
            f"{source.path} must have columns mean and std, or quantiles q_0.05, q_0.5, ...; it has"
            f" {source.described()}; name yours with --mean, --std or --quantiles."
        )
    return means, stds, means if len(means) > 1 else None


def _pairs(source):
    """Return the names of outputs that have both mean_NAME and std_NAME."""
    return [
        name[5:]
        for name in source.content
        if name.startswith("mean_") and f"std_{name[5:]}" in source.content
    ]


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _one(source: Any, name: str) -> np.ndarray:
    values = source.column(name)
    return as_floats(values, name, source.path) if source.kind != "npz" else values


def _columns(source, names):
    return np.column_stack([_one(source, name) for name in names])


def _outcome_names(source: Any, columns: "Columns", outputs: Any) -> list[str]:
    own = [f"y_{name}" for name in outputs or ()]
    if own and columns.label is None and all(name in source.content for name in own):
        return own
    found = _named(source, columns.label, OUTCOMES)
    if not found:
        raise InputError(
            f"{source.path} must hold the outcomes as {', '.join(OUTCOMES)}; it holds"
            f" {source.described()}; name yours with --label."
        )
    return found


def _named(source: Any, given: Any, usual: tuple[Any, ...]) -> Any:
    return (
        [name for name in usual if name in source.content][:1]
        if given is None
        else list(map(source.require, _split(given)))
    )


def _by_output(names: list[str], values: np.ndarray) -> dict[str, np.ndarray]:
    return (
        {names[0]: values}
        if len(names) == 1
        else {name: values[:, j] for j, name in enumerate(names)}
    )


#: Labels from which a promise for several questions together is worth half of them for calibration.
ENOUGH = 1000
#: Options that name columns of other kinds of tables.
OTHERS = ("risk", *OF_CLASSES, "mean", "std", "quantiles")


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
            raise click.UsageError(
                f"--{given[0]} has no effect on a log of questions; leave it out."
            )
        # Neither outcomes nor weights count where answers are only calibrated.
        names = {
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
        beside = {"questions": found, "confidence": confidence}
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


def _of_inspect(path: Path, _: Any) -> JsonlSource:
    """Open a log of Inspect as rows of JSON lines, one a sample."""
    if not (rows := list(inspect_samples(path))):
        raise InputError(
            f"{path} must have samples with an answer of the first scorer; it has none; choose"
            " another in Python, inspect_samples(log, scorer=NAME)."
        )
    return JsonlSource.of_objects(rows, [*range(1, len(rows) + 1)], path)


KINDS |= {".eval": _of_inspect, ".json": _of_inspect}


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
    found = lock.decide(data.questions, any_model=columns.allow_other_version).tolist()
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
