"""Which calibrator a command works with: a saved one, one by name, or the default."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import calibrant
from calibrant.cli.data_file import DataFile
from calibrant.cli.methods import import_extensions, make, named
from calibrant.cli.predictions import WORDS
from calibrant.cli.reading import columns_of
from calibrant.cli.scores import measured_scores
from calibrant.cli.tables import progress
from calibrant.cli.wording import say
from calibrant.comparison.given import resolve
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.domain_calibrator import DomainCalibrator
from calibrant.contracts.map import Map
from calibrant.errors import InputError
from calibrant.folds.model_outputs import is_fitted

if TYPE_CHECKING:
    from calibrant.reporting.report import Report

__all__ = [
    "chosen",
    "fitting",
    "fold_progress",
    "groups_used",
    "of_scores",
    "reported",
    "saved",
]

N_SPLITS = 5


def saved(path: Path | None, method: str | None = None, also: tuple[type, ...] = ()) -> Any:
    """The calibrator of a file, of classes or of forecasts, or a map of scores; None for None. A
    method named beside it is wrong usage.

    ``also`` are classes of other objects that the file may hold.
    """
    if method is not None and path is not None:
        raise click.UsageError("--method and --calibrator exclude each other; pass one.")
    if path is None:
        return None
    import_extensions()
    loaded = calibrant.load(path)
    if not isinstance(loaded, (Map, DomainCalibrator, *also)):
        raise InputError(
            f"{path} holds a {type(loaded).__name__}, not a calibrator; pass a file written by"
            " `calibrant fit`."
        )
    return loaded


def fitting(calibrator: Any, data: DataFile) -> Any:
    """The calibrator, saved or none, if it is for what the file holds."""
    words = data.domain.predictions
    scores, of_map = data.inputs == "score", isinstance(calibrator, Map)
    if of_map and not scores:
        raise InputError(
            f"{data.path} holds {words}, and the saved {type(calibrator).__name__} was fitted on"
            " scores; name them with --risk and say --inputs score."
        )
    if calibrator is not None and scores and not of_map:
        raise InputError(
            f"{data.path} holds scores, as --inputs score says, and the saved"
            f" {type(calibrator).__name__} was fitted on"
            f" {WORDS.get(getattr(calibrator, 'inputs', None), words)}; say other --inputs, or fit"
            " one on scores."
        )
    if calibrator is not None and not of_map and calibrator.domain is not data.domain:
        raise InputError(
            f"{data.path} holds {words}, which a {type(calibrator).__name__} does not calibrate;"
            " say --task if that is not what it holds, or fit one with `calibrant fit"
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
) -> Calibrator:
    """The calibrator of the options for the file: the one loaded, one by name, ``default()``, or
    that of its task.
    """
    known, words = named(data.domain, groups=True), data.domain.predictions
    data.refuse_target(target)
    if groups is None and method in set(known) - set(named(data.domain)):
        raise click.UsageError(
            f"--method {method} needs --groups A,B, the columns of groups, of a command that has"
            " it: fit or report."
        )
    if method is not None and method not in known:
        raise click.UsageError(
            f"--method {method} is not for {words}, which {data.path.name} holds; choose from:"
            f" {', '.join(known)}"
        )
    fitting(loaded, data)
    if loaded is not None:
        return loaded
    if method is not None:
        return make(method, data.domain, "answer" if target == "answer" else "classes")
    return resolve(None if default is None else default(), data.domain)


def groups_used(calibrator: Any, data: Any) -> dict[str, Any] | None:
    """The columns of groups that a fitted calibrator uses, by the names that they had in its
    fit; None where it uses none.
    """
    if not calibrator.tags.uses_groups:
        return None
    if calibrator.group_names_ is None:
        raise InputError(
            f"the saved {type(calibrator).__name__} uses groups whose columns had no names in its"
            " fit; fit it with `calibrant fit --groups A,B`, or on a frame."
        )
    return columns_of(data, calibrator.group_names_)


def of_scores(
    data: Any, method: str | None, loaded: Any, test: Any = None
) -> tuple[Calibrator, Any] | None:
    """(no calibrator, the rows measured with risks in place of scores), and a word of what was
    done; None where there are no scores.
    """
    if data.inputs != "score":
        return None
    measured, said = measured_scores(data, method, fitting(loaded, data), test)
    say(said, err=True)
    return calibrant.Identity(), measured


def reported(
    data: Any,
    calibrator: Any,
    *,
    test: Any = None,
    n_bins: int | None = None,
    said_of_test: str | None = None,
    **options: Any,
) -> "Report":
    """The report on a file; on ``test``, another file's (labels, predictions, weight), fitted on
    the file.
    """
    said = [word for word in (data.source.said, said_of_test) if word]
    options |= {"calibrator": calibrator, "sample_weight": data.weight, "test": test} | (
        {} if n_bins is None else {"n_bins": n_bins}
    )
    if options.get("groups") is None and is_fitted(calibrator):
        options["groups"] = groups_used(calibrator, data)
    found = calibrant.report(data.labels, **data.given(calibrator), **options)
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


def fold_progress(calibrator: Calibrator) -> Any:
    """A bar over the folds of an unfitted calibrator; nothing for the others."""
    fitted = is_fitted(calibrator)
    if fitted or isinstance(calibrator, calibrant.Identity | calibrant.regression.ForecastIdentity):
        return nullcontext()
    return progress("calibrating out of fold", N_SPLITS)
