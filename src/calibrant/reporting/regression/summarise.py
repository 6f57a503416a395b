"""The report on error bars as data: everything it says, in one plain dictionary."""

from calibrant.arrays import require_pairs
from calibrant.compare.alternatives import alternatives, best
from calibrant.compare.before_after import compare, final
from calibrant.compare.choice import choice
from calibrant.compare.given import resolve, several
from calibrant.contracts.columns import plain
from calibrant.errors import InputError
from calibrant.forecasts.read import read_forecast
from calibrant.groups import read_groups
from calibrant.reporting.cautions import evaluation_cautions
from calibrant.reporting.drift import read_times
from calibrant.reporting.regression.scores import score_table
from calibrant.reporting.regression.sections import output_sections
from calibrant.reporting.regression.verdict import overall
from calibrant.reporting.sections import method_facts

__all__ = ["summarise"]


def summarise(
    y, forecast, std=None, *, calibrator=None, test=None, sample_weight=None, groups=None, times=None, every="auto", outputs=None,
    n_splits=5, in_sample=None, n_bins=10, level=0.95, n_resamples=1000, random_state=0, title="Calibration report", progress=None,
) -> dict:  # fmt: skip
    """Measure forecasts of a number before and after calibration and say what that means.

    Parameters
    ----------
    y : (n,) or (n, d) outcomes
    forecast : Forecast, (mean, std), frozen scipy distribution, or mean with ``std``; of the shape of y
    std : as ``forecast``, optional
    calibrator : regression calibrator, optional
        Unfitted (or a class, or None for the default): calibrated out of fold. Fitted: applied as it is. ``Identity()``: only the
        forecasts as they are. A list or {name: calibrator}: all are compared on the same rows, and the report is about the one with the
        lowest CRPS, relative to that before and averaged over the outputs, among those that do not worsen the NLL (best of several, so
        a little lucky).
    test : (y_test, forecast_test) or (y_test, forecast_test, weight_test), optional
        Fit on all of ``y, forecast`` and measure on these rows instead; ``(mean, std)`` is a forecast too.
    sample_weight : (n,), optional
    groups : (n,) labels of any kind, or a frame of several columns, whose combinations are the groups; optional
        Of the rows measured (those of ``test``, if given).
    outputs : list of d names, optional
    times, every, n_splits, in_sample, level, n_resamples, random_state, title, progress
        As for :func:`calibrant.reporting.summarise.summarise`.
    n_bins : int, default 10
        Bins of the error against the predicted std; fewer where that would leave less than 30 rows a bin.

    Returns
    -------
    dict
        task, title, level, data, calibrator, choice, alternatives, verdict, cautions, metrics (each with the name of its output) and
        outputs: one dictionary each of name, quality, cautions, chance, verdict, curves, std_regions, value_regions, groups, drift.

    Raises
    ------
    InputError
        When the forecasts cannot be read or the arguments contradict each other.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> summary = summarise(2.0 * rng.normal(size=300), np.zeros(300), np.ones(300), n_resamples=0)
    >>> summary["verdict"]["model"], summary["verdict"]["calibration"]
    ('overconfident', 'use')
    """
    named = several(calibrator, "regression") or {"": resolve(calibrator, "regression")}
    record = read_forecast(forecast, std, y, sample_weight=sample_weight)
    require_pairs(record.weight, "the intervals of a report")
    if record.y is None:
        raise InputError("y must be the outcomes, of the shape of the forecast; got None.")
    names = _names(outputs, record.forecast.shape)
    test = None if test is None else _read_test(test, record)
    measured = record if test is None else test
    groups = None if groups is None else read_groups(groups, measured)
    times = read_times(times, every, measured)
    options = {"test": test, "n_splits": n_splits, "in_sample": in_sample, "random_state": random_state, "progress": progress}
    compared = {name: compare(record, one, **options) for name, one in named.items()}
    options = {"level": level, "random_state": random_state}
    each = {name: found.outputs() for name, found in compared.items()}
    # Those compared need no bootstrap: it is for the one chosen.
    tables = {name: _tables(found, n_resamples if len(each) == 1 else 0, options) for name, found in each.items()}
    chosen = best(compared, tables)
    if len(each) > 1:
        tables[chosen] = _tables(each[chosen], n_resamples, options)
    found, used = compared[chosen], final(compared[chosen], record)
    method = method_facts(found, chosen)
    parts = [
        output_sections(one, scores, name, method["name"], groups, times, n_bins=n_bins, level=level, random_state=random_state)
        for one, scores, name in zip(each[chosen], tables[chosen], names, strict=True)
    ]
    return plain({
        "task": "regression", "title": str(title), "level": level, "data": _data(found.before, names), "calibrator": method,
        "verdict": overall({part["name"]: part["verdict"] for part in parts}), "cautions": _cautions(found, parts),
        "metrics": [{**row, "output": name} for name, rows in zip(names, tables[chosen], strict=True) for row in rows],
        "outputs": parts, "choice": choice(used, record),
        "alternatives": [] if "" in compared else alternatives(compared, chosen, tables, names),
    })  # fmt: skip


def _names(outputs, shape):
    count = 1 if len(shape) == 1 else shape[1]
    names = [f"output {j + 1}" for j in range(count)] if outputs is None else [str(name) for name in outputs]
    if len(names) != count or len(set(names)) != count:
        raise InputError(f"outputs must be {count} different names, one for each output; got {names}.")
    return names


def _read_test(test, record):
    if not (isinstance(test, tuple | list) and len(test) in (2, 3)):
        raise InputError("test must be (y_test, forecast_test) or (y_test, forecast_test, weight_test).")
    y, forecast, *weight = test
    read = read_forecast(forecast, None, y, sample_weight=weight[0] if weight else None)
    if read.forecast.shape[1:] != record.forecast.shape[1:]:
        raise InputError(f"test must have the outputs of the forecast, {record.forecast.shape[1:]}; got {read.forecast.shape[1:]}.")
    return read


def _tables(parts, n_resamples, options):
    return [score_table(one.before, one.after, n_resamples=n_resamples, **options) for one in parts]


def _cautions(found, parts):
    said = list(evaluation_cautions(found.evaluation))
    for part in parts:
        prefix = f"{part['name']}: " if len(parts) > 1 else ""
        said += [f"{prefix}{caution}" for caution in part["cautions"]]
    return said


def _data(record, names):
    return {
        "n": float(record.weights.sum()), "rows": len(record), "weighted": record.weight is not None, "outputs": names,
        "form": type(record.forecast).__name__,
    }  # fmt: skip
