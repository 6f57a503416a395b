"""Choose a command's calibrator: a saved one, one by name, or the default."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import calibrant
from calibrant.cli.methods import BY_CLASS, EVERY, make, measured_scores, named
from calibrant.cli.options import Columns
from calibrant.cli.tables import progress
from calibrant.cli.wording import say
from calibrant.core.calibrator import Calibrator, DomainCalibrator
from calibrant.core.map import Map
from calibrant.core.model_outputs import is_fitted
from calibrant.errors import InputError
from calibrant.monitoring.promises import Lock, read_lock
from calibrant.reporting.calibrate import resolve, shown_name
from calibrant.tables.class_files import WORDS
from calibrant.tables.data_file import DataFile
from calibrant.tables.readers import columns_of, features_of

if TYPE_CHECKING:
    from calibrant.reporting.report import Report

__all__ = [
    "beside",
    "chosen",
    "features_used",
    "fitting",
    "fold_progress",
    "groups_used",
    "in_stored_unit",
    "keep",
    "of_scores",
    "reported",
    "require_reference",
    "saved",
    "store_unit",
]

N_SPLITS = 5


def saved(path: Path | None, method: str | None = None, also: tuple[type, ...] = ()) -> Any:
    """Load a saved calibrator or map of scores; return None for None, and refuse a ``method``
    beside it.

    ``also`` are classes of other objects that the file may hold.
    """
    if method is not None and path is not None:
        raise click.UsageError("--method and --calibrator exclude each other; pass one.")
    if path is None:
        return None
    loaded = read_lock(path) if path.read_bytes()[:1] == b"{" else calibrant.load(path)
    if not isinstance(loaded, (Map, DomainCalibrator, *also)):
        raise InputError(
            f"{path} holds a {type(loaded).__name__}, not a calibrator; pass a file written by"
            " `calibrant fit`."
        )
    return loaded


def keep(fitted: Any, output: Path, version: str | None, force: bool, record: Any = None) -> None:
    """Save a fitted calibrator or rule, or write it to a lock file if the output is .json."""
    if output.suffix == ".json":
        Lock.of(fitted, model=version, rows=record).write(output, overwrite=force)
    else:
        fitted.save(output, overwrite=force)


def store_unit(fitted: Any, data: Any) -> None:
    """Store the column and the unit that a calibrator or rule was fitted on, if it is one column,
    for ``in_stored_unit`` and ``export``.
    """
    if data.unit is not None:
        fitted.risk_column_ = (data.one, data.unit)


def in_stored_unit(fitted: Any, columns: Columns) -> Columns:
    """Return the options with the unit of the one column that a saved calibrator was fitted on;
    refuse options that name another.
    """
    _, unit = getattr(fitted, "risk_column_", None) or (None, None)
    options = {"--inputs": columns.inputs, "--logits": columns.logits and "logit"}
    for option, other in options.items():
        if unit is not None and other not in (None, unit):
            raise click.UsageError(
                f"{option} says {other}, but the saved {type(fitted).__name__} was fitted on a"
                f" column in {unit}; leave {option} out and write the column in that unit, or fit"
                " again."
            )
    # A score has no scale: it is named each time, so that no other column is taken for it.
    return columns if unit == "score" else replace(columns, stored_unit=unit)


def fitting(calibrator: Any, data: DataFile) -> Any:
    """Return the saved calibrator (or None); refuse one that does not fit the file."""
    words = data.domain.predictions
    scores, of_map = data.inputs == "score", isinstance(calibrator, Map)
    if of_map and not scores:
        raise InputError(
            f"{data.path} holds {words}; the saved {type(calibrator).__name__} was fitted on"
            " scores; name a column of scores with --risk and pass --inputs score."
        )
    if calibrator is not None and scores and not of_map:
        raise InputError(
            f"{data.path} holds scores, by --inputs score; the saved"
            f" {type(calibrator).__name__} was fitted on"
            f" {WORDS.get(getattr(calibrator, 'inputs', None), words)}; pass other --inputs, or fit"
            " a calibrator on scores."
        )
    if calibrator is not None and not of_map and calibrator.domain is not data.domain:
        raise InputError(
            f"{data.path} holds {words}, which a {type(calibrator).__name__} does not calibrate;"
            " correct the task with --task, or fit another calibrator with `calibrant fit"
            f" {data.path.name}`."
        )
    return calibrator


def chosen(
    method: str | None,
    loaded: Calibrator | None,
    data: DataFile,
    default: type[Any] | None = None,
    target: Any = None,
    groups: Any = None,
    reference: Any = None,
) -> Calibrator:
    """Return the calibrator for the file: the loaded one, one by name, ``default()``, or the
    default of its task.
    """
    data.refuse_target(target)
    if method is not None:
        _require_method(method, data, groups, reference)
    fitting(loaded, data)
    if loaded is not None:
        return loaded
    if method is not None:
        return make(method, data.domain, "answer" if target == "answer" else "classes")
    return resolve(None if default is None else default(), data.domain)


def _require_method(method: str, data: DataFile, groups: Any, reference: Any) -> None:
    """Refuse a method that is none for the file, or that needs what no option names."""
    known = named(data.domain, given=EVERY)
    given = [] if groups is None else ["groups"]
    given += [] if reference is None else ["X", "reference"]
    if method in set(known) - set(named(data.domain, given=given)):
        needs, option = (
            ("the rows that the model was trained on", "--reference TABLE")
            if known[method]().tags.uses_features
            else ("columns of groups", "--groups A,B")
        )
        raise click.UsageError(
            f"--method {method} needs {needs}; pass {option} to `calibrant fit` or `calibrant"
            " report`."
        )
    if method.removesuffix(BY_CLASS) not in known:
        raise click.UsageError(
            f"--method {method} is no method for {data.domain.predictions}, which"
            f" {data.path.name} holds; choose one of: {', '.join(known)}"
        )


def groups_used(calibrator: Any, data: Any) -> dict[str, Any] | None:
    """Return the columns of groups that a fitted calibrator uses, by their names in its fit; None
    if it uses none.
    """
    if not calibrator.tags.uses_groups:
        return None
    if calibrator.group_names_ is None:
        raise InputError(
            f"the saved {type(calibrator).__name__} uses groups that had no names in its fit; fit"
            " it with `calibrant fit --groups A,B`, or on a frame."
        )
    return columns_of(data, calibrator.group_names_)


def features_used(calibrator: Any, data: Any) -> Any:
    """Return the features that a fitted calibrator uses, by their names in its fit; None if it uses
    none.
    """
    if not calibrator.tags.uses_features:
        return None
    if calibrator.feature_names_ is None:
        raise InputError(
            f"the saved {type(calibrator).__name__} uses features that had no names in its fit; fit"
            " it with `calibrant fit --reference TABLE`, or on a data frame."
        )
    lost = [name for name in calibrator.feature_names_ if name not in data.source.content]
    if lost:
        raise InputError(
            f"{data.path} must hold the features that the saved {type(calibrator).__name__} uses;"
            f" it has no {lost[0]!r}, and lacks {len(lost)} in all; add them under the names of the"
            " fit."
        )
    return features_of(data.source, calibrator.feature_names_)


def require_reference(features: str | None, reference: Path | None, calibrator: Any = None) -> None:
    """Refuse --features without --reference, and --reference for a calibrator without training
    rows.
    """
    if features is not None and reference is None:
        raise click.UsageError(
            f"--features {features} needs the rows that the model was trained on; name them with"
            " --reference TABLE, or leave it out."
        )
    if None not in (reference, calibrator) and not calibrator.tags.needs_reference:
        raise click.UsageError(
            f"--reference {reference} needs a method that measures distances to the training rows;"
            f" {shown_name(calibrator)} does not; pass --method geometric, or leave it out."
        )


def beside(calibrator: Any, data: Any, known: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the groups and features that a fitted calibrator uses and that are not ``known``, as
    arguments of a prediction; none for a map of scores.
    """
    uses = {} if data.inputs == "score" else {"groups": groups_used, "X": features_used}
    found = {
        name: used(calibrator, data)
        for name, used in uses.items()
        if (known or {}).get(name) is None
    }
    return {name: values for name, values in found.items() if values is not None}


def of_scores(
    data: Any, method: str | None, loaded: Any, test: Any = None
) -> tuple[Calibrator, Any] | None:
    """Return (the identity, the rows with risks in place of scores) and print a note on the map;
    None if there are no scores.
    """
    if data.inputs != "score":
        return None
    measured, said = measured_scores(data, method, fitting(loaded, data), test)
    say(said, err=True)
    return calibrant.calibrators.Identity(), measured


def reported(
    data: Any,
    calibrator: Any,
    *,
    test: Any = None,
    n_bins: int | None = None,
    said_of_test: str | None = None,
    **options: Any,
) -> "Report":
    """Compute the report on a file, or on ``test``, (labels, predictions, weight) of another file,
    with a calibrator fitted on this file, or a list of unfitted ones.
    """
    said = [word for word in (data.source.said, said_of_test) if word]
    options |= {"calibrator": calibrator, "sample_weight": data.weight, "test": test} | (
        {} if n_bins is None else {"n_bins": n_bins}
    )
    first = calibrator[0] if isinstance(calibrator, list) else calibrator
    if is_fitted(first):
        options |= beside(first, data, options)
    found = calibrant.report(data.labels, **data.given(first), **options)
    if not said:
        return found
    made = found.to_dict()
    return type(found)(
        {
            **made,
            "data": {**made["data"], "read": " ".join(said)},
            "cautions": [*made["cautions"], *said],
        }
    )


def fold_progress(calibrators: list[Any]) -> Any:
    """Return a progress bar over the folds of the unfitted calibrators; no bar for the others."""
    constant = calibrant.calibrators.Identity | calibrant.regression.ForecastIdentity
    count = sum(not is_fitted(one) and not isinstance(one, constant) for one in calibrators)
    return progress("calibrating out of fold", count * N_SPLITS) if count else nullcontext()
