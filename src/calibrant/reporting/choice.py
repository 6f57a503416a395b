"""What to do: the calibrator chosen, what else was tried, and the lines of code that apply it."""

import re
import warnings

import numpy as np
from sklearn.base import clone

from calibrant._exports import exports
from calibrant.confidence.confidence_curve import confidence_curve
from calibrant.contracts.calibrator import require_fitted
from calibrant.folds.out_of_fold import fit_clone
from calibrant.reporting.after import is_fitted
from calibrant.reporting.names import shown_name

__all__ = ["choice", "confidence", "final", "made_by"]

#: Points of a confidence curve that a page holds.
POINTS = 201


def final(found, record, is_fitted=is_fitted, fit=fit_clone):
    """The calibrator to use: as it is if it is fitted, otherwise fitted on all rows; None where nothing was calibrated."""
    if found.after is None:
        return None
    if is_fitted(found.calibrator):
        return found.calibrator
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same was said of the folds
        return fit(found.calibrator, record)


def choice(calibrator, inputs) -> dict | None:
    """The fitted calibrator in words, its candidates where it chose among some, and its code.

    Returns
    -------
    dict or None
        name, status, words (its own account, or None), candidates (list of dicts: name, score, standard_error, weight, note) and
        code (list of lines).
    """
    if calibrator is None:
        return None
    require_fitted(calibrator, "classes_")
    explain = getattr(calibrator, "explain", None)
    table = getattr(calibrator, "table_", None)
    return {
        "name": shown_name(calibrator), "status": calibrator.status_, "words": explain() if callable(explain) else None,
        "candidates": sorted(map(dict, table), key=_rank) if isinstance(table, list) else [], "code": _code(calibrator, inputs),
    }  # fmt: skip


def confidence(calibrator, record, evaluation) -> dict | None:
    """Its confidence over the score for all rows, with the densities of right and wrong ones.

    Returns
    -------
    dict or None
        points, bars, cloud, n, right, wrong, and in_sample: whether it was fitted on the rows shown, as it is unless they were held out.
    """
    if calibrator.tags.uses_features and record.X is None:
        return None
    curve = confidence_curve.of(record, calibrator)
    if curve is None:
        return None
    points = curve.points.to_dict()
    count = len(points["score"])
    kept = np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(int))
    points = {name: [values[i] for i in kept] for name, values in points.items()}
    numbers = {"n": curve.n, "right": curve.right, "wrong": curve.wrong, "in_sample": evaluation != "held-out"}
    return {"points": points, "bars": curve.bars.to_dict(), "cloud": curve.cloud, **numbers}


def _rank(row):
    score = row.get("score", np.nan)
    return (-row.get("weight", 0.0), score if np.isfinite(score) else np.inf)


def made_by(calibrator):
    """The expression that makes an unfitted copy, in one line, calibrant being ``cb``."""
    public = exports("calibrant")
    return re.sub(r"\b([A-Z]\w*)\(", lambda m: f"cb.{m[0]}" if m[1] in public else m[0], " ".join(repr(clone(calibrator)).split()))


def _code(calibrator, inputs):
    made = made_by(clone(calibrator).set_params(inputs=inputs, classes=None))
    X = ", X=X_new" if calibrator.tags.uses_features else ""
    fit = ", X=X_calibration" if calibrator.tags.uses_features else ""
    fit += ", reference=(X_train, y_train)" if calibrator.tags.needs_reference else ""
    confidence = calibrator.tags.output == "confidence"
    result, method = ("confidence", "predict_confidence") if confidence else ("P_calibrated", "predict_proba")
    return [
        "import calibrant as cb",
        f"calibrator = {made}.fit(P_calibration, y_calibration{fit})",
        f"{result} = calibrator.{method}(P_new{X})",
    ]
