"""Write a file with calibrated predictions in place of its own, for ``calibrant apply``, and warn
of a column whose values fix the outcome, as those of a cluster do.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

import calibrant
from calibrant._numerics.clusters import fixed_outcomes
from calibrant.cli.choosing import beside, fitting, in_stored_unit, saved
from calibrant.cli.options import Columns, refuse_existing, refuse_unused
from calibrant.cli.tables import progress
from calibrant.cli.wording import say
from calibrant.core.domain import DOMAINS, Facet
from calibrant.core.reading import CLASSIFICATION
from calibrant.core.saving import replacing
from calibrant.errors import CalibrationWarning, InputError, warn
from calibrant.monitoring.promises import Lock
from calibrant.tables.batching import rows_from
from calibrant.tables.opening import KINDS, open_source, parts_of
from calibrant.tables.readers import column_of, large_rows, read_source, rows_left

__all__ = ["CERTIFIED", "RULED", "RULES", "apply_to_file", "caution_columns", "rule_columns"]


#: Class of a rule -> (the column it adds, its method for predictions, its method for scores).
RULES: dict[type, tuple[str, str, str]] = {
    calibrant.SelectiveClassifier: ("accept", "accept", "accept_scores"),
    calibrant.decisions.NeymanPearsonClassifier: ("decision", "decide", "decide_scores"),
    calibrant.ConformalSets: ("set", "predict_set", ""),
    Lock: ("decision", "decide", ""),
}
#: Between the labels of a set in a column of text.
SEPARATOR = "|"


def rule_columns(rule: Any, data: Any, columns: Columns) -> dict[str, np.ndarray]:
    """Compute the column that a saved rule adds to a file with predictions in ``columns``."""
    name, of_predictions, of_scores = RULES[type(rule)]
    # A rule of scores takes any one column, because its threshold is in the units of the column
    # that it was fitted on.
    scores = not hasattr(rule, "classes_")
    if scores and (columns.one is None or data.values.ndim > 1) and data.source.kind != "npy":
        raise InputError(
            f"the saved {type(rule).__name__} was fitted on one column of scores; name it with"
            " --confidence, or --risk."
        )
    if not scores and data.inputs == "score":
        raise InputError(
            f"the saved {type(rule).__name__} was fitted on predictions; name those with"
            " --probabilities."
        )
    found = (
        getattr(rule, of_scores)(data.values)
        if scores
        else getattr(rule, of_predictions)(data.given(rule)["P"])
    )
    if name == "set" and data.source.kind not in ("npy", "npz"):
        texts = [
            SEPARATOR.join(str(label) for label in rule.classes_[row].tolist()) for row in found
        ]
        found = np.array(texts, dtype=object)
    return {"values" if data.source.kind == "npy" else name: found}


#: Functions that compute the columns of saved rules, by domain.
RULED: Facet[Callable[..., dict[str, np.ndarray]]] = Facet("rules that decide on them")
RULED.register(CLASSIFICATION, lambda: rule_columns)
#: Functions that certify a rule on a file and write it, by domain, for kinds with a rule of their
#: own.
CERTIFIED: Facet[Callable[..., None]] = Facet("certified rules")


def apply_to_file(
    calibrator: Path,
    file: Path,
    output: Path,
    levels: tuple[float, ...],
    suffix: str,
    columns: Columns,
    force: bool,
    explain: bool = False,
) -> None:
    """Read a file, calibrate its predictions and write the output."""
    fitted = _unlocked(saved(calibrator, also=tuple(RULES)), columns)
    columns = in_stored_unit(fitted, columns)
    refuse_existing(output, force)
    if explain and not hasattr(fitted, "explain_rows"):
        raise click.UsageError(
            f"--explain needs a calibrator of distances to training rows; {calibrator} holds a"
            f" {type(fitted).__name__}; fit one with --method geometric --reference TABLE."
        )
    rule, count = isinstance(fitted, tuple(RULES)), large_rows(file)
    unseen = Counter[str]()
    calibrated = partial(
        _calibrated,
        fitted=fitted,
        columns=columns,
        levels=levels,
        suffix=suffix,
        output=output,
        unseen=unseen,
        explain=explain,
    )
    if count is None:
        source = open_source(file, wide=True)
        made, renamed, rows, empty = calibrated(source)
        with replacing(output, overwrite=force) as temporary:
            source.write(temporary, made, renamed)
    else:
        say(f"{file} has {count:,} rows: it is read and written in parts.", err=True)
        with (
            replacing(output, overwrite=force) as temporary,
            progress("rows", count, amounts=True) as step,
        ):
            rows, empty = _in_parts(file, temporary, calibrated, step)
    without = f"; {empty:,} rows without a prediction have no result" if empty else ""
    say(f"{rows:,} rows {'decided' if rule else 'calibrated'}{without}: {output}")
    for name, n in unseen.items():
        if n:
            say(
                f"{n:,} of them have a level of {name} that was not in the fit: {name} changes"
                " nothing for them."
            )


def _unlocked(fitted: Any, columns: Columns) -> Any:
    """Return what a lock file holds, for rows of its version; those of a rule with ``claims`` of
    its own name their versions themselves.
    """
    if not isinstance(fitted, Lock) or hasattr(fitted.fitted, "claims"):
        return fitted
    named = () if columns.model_version is None else (columns.model_version,)
    return fitted.use(*named, any_model=columns.allow_other_version)


def _in_parts(file, temporary, calibrated, step):
    """Write the file in parts and return (rows calibrated, rows without a prediction)."""
    rows = empty = start = 0
    path = None
    with ExitStack() as stack:
        append = None
        for source in parts_of(file, wide=True):
            # The error names the file.
            start, path = start if source.path == path else 0, source.path
            with rows_from(start):
                made, renamed, n, lost = calibrated(source)
            append = append or stack.enter_context(source.appending(temporary))
            append(source, made, renamed)
            rows, empty, start = rows + n, empty + lost, start + n + lost
            step(n + lost)
    return rows, empty


def _calibrated(
    source: Any,
    fitted: Any,
    columns: Columns,
    levels: tuple[float, ...],
    suffix: str,
    output: Any,
    unseen: Any,
    explain: bool,
) -> tuple[dict[str, np.ndarray], dict[Any, Any], int, int]:
    """Return (columns by name, the source's names that they replace, number of rows, number of
    rows without a prediction).
    """
    prefer, left = getattr(fitted, "inputs", None), None
    if columns.skip_missing:
        left, columns = (
            rows_left(source, columns, False, prefer),
            replace(columns, skip_missing=False),
        )
        if not left.any():
            raise InputError(
                f"{source.path} must have a row with a prediction; all {len(left):,} lack one; name"
                " another column."
            )
    data: Any = read_source(
        source if left is None else source.take(np.flatnonzero(left)),
        columns,
        labels=False,
        prefer=prefer,
    )
    rule = isinstance(fitted, tuple(RULES))
    if rule or "std" not in data.domain.options:
        refuse_unused("needs forecasts of a number, whose intervals it adds", "levels")
    _refuse_other_rows(rule, fitted, data, source)
    if KINDS.get(output.suffix.lower()) is not type(source):
        own = KINDS.get(source.path.suffix.lower()) is type(source)
        raise click.UsageError(
            f"the output must be a .{source.kind} file{' like FILE' if own else ''}, and not"
            f" compressed; got {output.name}."
        )
    made, renamed = (
        (RULED[data.domain](fitted, data, columns), {})
        if rule
        else _made(data, fitted, columns, levels, unseen, explain)
    )
    replaced, count = [] if rule else data.columns, len(data.said)
    if left is not None:
        made = {name: _spread(values, left) for name, values in made.items()}
    return (
        *_added(made, renamed, replaced, source, suffix),
        count,
        0 if left is None else int(np.sum(~left)),
    )


def _refuse_other_rows(rule: bool, fitted: Any, data: Any, source: Any) -> None:
    held = fitted.fitted if isinstance(fitted, Lock) else fitted
    if rule and data.domain is not getattr(held, "domain", next(iter(DOMAINS.values()))):
        raise InputError(
            f"{source.path} holds {data.domain.predictions}, on which a saved"
            f" {type(fitted).__name__} does not decide; pass another table."
        )


def _made(
    data: Any, fitted: Any, columns: Columns, levels: tuple[float], unseen: Any, explain: bool
) -> tuple[dict[str, Any], dict[Any, Any]]:
    """Return (calibrated columns by name, the names that they replace), and count the unseen
    levels of groups.
    """
    fitting(fitted, data)
    given = beside(fitted, data)
    unseen.update(fitted.unseen_rows(given["groups"]) if "groups" in given else {})
    made, renamed = data.calibrated(fitted, columns, levels, given)
    if explain:
        made |= vars(fitted.explain_rows(data.given(fitted)["P"], **given))
    return made, renamed


def _spread(values, left):
    """Return (n, ...) with the values in the kept rows and missing values in the others."""
    out = np.full((len(left), *values.shape[1:]), np.nan if values.dtype.kind == "f" else None)
    out[left] = values
    return out


def _added(
    made: dict[str, np.ndarray],
    renamed: dict[Any, Any],
    replaced: list[str],
    source: Any,
    suffix: str,
) -> tuple[dict[str, np.ndarray], dict[Any, Any]]:
    """Append ``suffix`` to the names of new columns; refuse names that the file already has."""
    new = {
        name: name if name in replaced or source.kind == "npy" else f"{name}{suffix}"
        for name in made
    }
    lost = [
        name
        for old, name in new.items()
        if old not in replaced and name in source.content and source.kind != "npy"
    ]
    if lost:
        raise InputError(
            f"{source.path} already has a column {lost[0]!r}, which is not overwritten; "
            f"rename the added columns, for example with --suffix {suffix}_calibrated."
        )
    return {new[name]: values for name, values in made.items()}, {
        old: new[name] for old, name in renamed.items()
    }


#: Share of the rows that must be in groups with fixed outcomes, and the most columns looked at.
MOST_ROWS, COLUMNS = 0.5, 50


def caution_columns(data: Any) -> None:
    """Warn of the first column that holds several rows of each value, whose outcomes hardly ever
    differ.
    """
    record = data.record()
    score, outcome = record.pair(record.default_target)
    for name in list(data.source.content)[:COLUMNS]:
        if name in data.columns or len(values := column_of(data, name)) != len(record):
            continue
        if values.ndim != 1:
            continue
        names, group = np.unique(values.astype(str), return_inverse=True)
        if not 1 < len(names) < len(record):
            continue
        fixed = fixed_outcomes(group, score, outcome)
        if fixed.mean() > MOST_ROWS:
            often = int(np.median(np.bincount(group[fixed])[np.unique(group[fixed])]))
            warn(
                f"the values of {name} repeat about {often:,} times with one outcome: if the rows"
                f" of a value are one case, they prove no more than one; pass --cluster {name}.",
                CalibrationWarning,
            )
            return
