"""The report as data: everything it says, in one plain dictionary."""

from calibrant.arrays import require_pairs
from calibrant.compare.alternatives import alternatives, best
from calibrant.compare.before_after import compare, final
from calibrant.compare.choice import choice
from calibrant.compare.given import resolve, several
from calibrant.contracts.columns import plain
from calibrant.errors import InputError
from calibrant.folds.model_outputs import is_fitted
from calibrant.groups import read_groups
from calibrant.predictions import read
from calibrant.reporting.drift import read_times
from calibrant.reporting.evidence import confidence, latent, signals
from calibrant.reporting.scores import score_table
from calibrant.reporting.sections import sections

__all__ = ["summarise"]


def summarise(
    y, P, *, calibrator=None, test=None, inputs=None, classes=None, sample_weight=None, X=None, reference=None, groups=None, times=None,
    every="auto", n_splits=5, in_sample=None, n_bins=15, level=0.95, n_resamples=1000, random_state=0, title="Calibration report",
    progress=None,
) -> dict:  # fmt: skip
    """Measure predictions before and after calibration and say what that means.

    Parameters
    ----------
    y : (n,) true labels
    P : (n, K), or (n,) for binary
    calibrator : Calibrator or Map, optional
        Unfitted (or a class, or None for the default): calibrated out of fold. Fitted: applied as it is.
        ``Identity()``: only the predictions as they are. A list or {name: calibrator}: all are compared on the same rows, and the
        report is about the one with the lowest log loss (best of several, so a little lucky). A map goes one-vs-rest.
    test : (y_test, P_test) or (y_test, P_test, weight_test), optional
        Fit on all of ``y, P`` and measure on these rows instead.
    inputs : {"probability", "logit"}, optional
        Default: what the calibrator takes, "probability" without one.
    classes : (K,) labels in column order, optional
        Default: the calibrator's, if it is fitted.
    sample_weight, X, reference
        As for ``Calibrator.fit``.
    groups : (n,) labels of any kind, or a frame of several columns, whose combinations are the groups; optional
        Of the rows measured (those of ``test``, if given): their gaps between confidence and accuracy, the worst first.
    times : (n,) dates, optional
        Of the rows measured: the calibration over time, by group too, and whether it has changed.
    every : {"auto", "hour", "day", "week", "month", "year"}
        Of ``times``; "auto" is the shortest that makes at most 40 of them.
    n_splits : int, default 5
        Folds of out-of-fold calibration.
    in_sample : bool, optional
        Whether a fitted calibrator was fitted on these rows. Default: found out by fitting it again and comparing.
    n_bins : int, default 15
        Bins of the reliability curve and the calibration errors.
    level : float, default 0.95
        Of all intervals.
    n_resamples : int, default 1000
        Of the bootstrap.
    random_state : int, default 0
    title : str
    progress : callable, optional
        Called with each finished fold's number.

    Returns
    -------
    dict
        task, title, level, data, quality, calibrator, choice, alternatives, verdict, cautions, metrics, chance, bound, curves, histograms,
        binned, equal_mass, corp, risk, confusion, confidence, classes, class_curves, groups, regions, drift: only strings, numbers, None,
        lists and dictionaries.

    Raises
    ------
    InputError
        When the predictions cannot be read or the arguments contradict each other.

    Examples
    --------
    >>> summary = summarise([0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1], n_splits=2)
    >>> summary["data"]["n"], summary["calibrator"]["evaluation"]
    (6.0, 'out-of-fold')
    """
    named = several(calibrator) or {"": resolve(calibrator)}
    first = next(iter(named.values()))
    inputs = inputs or first.inputs
    if classes is None:
        classes = first.classes_ if is_fitted(first) else first.classes
    record = read(P, y, inputs=inputs, classes=classes, sample_weight=sample_weight, X=X, reference=reference)
    require_pairs(record.weight, "the intervals of a report")
    if record.labels is None:
        raise InputError("y must be the true labels, one a row; got None.")
    test = _read_test(test, record)
    measured = record if test is None else test
    groups = None if groups is None else read_groups(groups, measured)
    times = read_times(times, every, measured)
    compared = {
        name: compare(
            record, one, test=test, n_splits=n_splits, in_sample=in_sample, random_state=random_state, progress=progress
        )
        for name, one in named.items()
    }  # fmt: skip
    options = {"n_bins": n_bins, "level": level, "n_resamples": n_resamples, "random_state": random_state}
    tables = {name: [score_table(found.before, found.after, **options)] for name, found in compared.items()}
    chosen = best(compared, tables)
    found = compared[chosen]
    used = final(found, record)
    return plain({
        "task": "classification", "title": str(title), "level": level,
        **sections(found, tables[chosen][0], chosen, groups, times, n_bins, level, random_state),
        "choice": choice(used, record), "confidence": None if used is None else confidence(used, found.before, found.evaluation),
        "signals": signals(used, found.before, level, random_state), "latent": latent(used, found.before, level),
        "alternatives": [] if "" in compared else alternatives(compared, chosen, tables),
    })  # fmt: skip


def _read_test(test, record):
    if test is None:
        return None
    if not (isinstance(test, tuple | list) and len(test) in (2, 3)):
        raise InputError("test must be (y_test, P_test) or (y_test, P_test, weight_test).")
    y, P, *weight = test
    return read(P, y, inputs=record.kind, classes=record.classes, sample_weight=weight[0] if weight else None)
