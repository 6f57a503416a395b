"""Maps from scores that are not probabilities, such as a margin, to the risk of the event."""

from dataclasses import replace
from typing import Any, cast

import click
import numpy as np
from scipy import stats  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant import metrics
from calibrant.cli.methods import score_methods
from calibrant.core.folds import stratified_folds
from calibrant.core.map import Map
from calibrant.core.predictions import read

__all__ = ["fit_scores", "measured_scores"]

#: Number of rows from which the default map of a score is isotonic; below it is a sigmoid.
MANY_ROWS = 1000
N_SPLITS = 5


def fit_scores(data: Any, method: str | None) -> Map:
    """Fit the map of the method on all scores of the file."""
    return _map(data, method).fit_checked(*_rows(data))


def _map(data: Any, method: str | None):
    known = score_methods()
    if method is not None and method not in known:
        raise click.UsageError(
            f"--method {method} does not take scores outside [0, 1]; with --inputs score choose"
            f" from: {', '.join(known)}"
        )
    return known[method or ("centered-isotonic" if len(data.values) >= MANY_ROWS else "platt")]()


def _rows(data: Any):
    """Return (score, outcome as 0 or 1, weight) of the rows with positive weight."""
    record = read(
        data.values, data.labels, inputs="logit", classes=data.classes, sample_weight=data.weight
    )
    return (
        data.values[slice(None) if record.kept is None else record.kept].astype(np.float64),
        (record.labels == 1) * 1.0,
        record.weight,
    )


def measured_scores(
    data: Any, method: str | None, loaded: Map | None, test: Any = None
) -> tuple[Any, str]:
    """Return (the file to measure, with risks for scores; a note on their map and the score's
    AUROC).

    The risks come from a saved map (``loaded``), from a map fitted on the file for the rows of
    ``test``, or else from out-of-fold maps.
    """
    if loaded is not None:
        measured, risk, how, used = data, loaded.predict(data.values), "as it was saved", loaded
    elif test is not None:
        used = fit_scores(data, method)
        measured, risk, how = test, used.predict(test.values), "fitted on the other file"
    else:
        used, (score, happened, weight) = _map(data, method), _rows(data)
        measured, risk, how = data, np.full(len(data.values), 0.5), f"{N_SPLITS}-fold out of fold"
        own = np.flatnonzero(data.weight) if data.weight is not None else np.arange(len(score))
        folds = stratified_folds(happened, N_SPLITS)
        for k in range(N_SPLITS):
            fold = folds == k
            fitted = _map(data, method).fit_checked(
                score[~fold], happened[~fold], None if weight is None else weight[~fold]
            )
            risk[own[fold]] = fitted.predict(score[fold])
    order = cast(Any, stats).rankdata(measured.values) / len(measured.values)
    ranks = read(
        order, measured.labels, classes=measured.classes, sample_weight=measured.weight
    ).as_pair("event")
    auroc = metrics.confidence_auroc.of(ranks)
    label = used.tags.label or type(used).__name__
    said = (
        f"{measured.names[0] if measured.names else 'the values'} is a score: the numbers are for"
        f" its risks by {label}, {how}; the score itself has "
    )
    return replace(measured, values=risk, inputs="probability"), f"{said}an AUROC of {auroc:.4f}."
