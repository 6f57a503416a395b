"""Comparison of several calibrators on the same rows, before and after calibration; their names,
from a report's argument; and the chosen one with its alternatives and code.

The rows after calibration are out of fold, held out, or in sample. The argument is ``calibrator``;
the code applies the chosen one.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant.calibrators.auto import default_calibrator
from calibrant.calibrators.multiclass import as_calibrator
from calibrant.calibrators.temperature import Identity
from calibrant.core.domain import Domain, Facet, Record, domain_of
from calibrant.core.estimators import clone, explained, seeded
from calibrant.core.exports import public_path
from calibrant.core.folds import cross_fit, fit_clone
from calibrant.core.forecast import NormalForecast
from calibrant.core.kinds import require_any_calibrator, require_regression_calibrator
from calibrant.core.labels import by_text
from calibrant.core.model_outputs import is_fitted
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.errors import InputError
from calibrant.metrics.comparison import PairRow
from calibrant.metrics.comparison import compare as in_pairs
from calibrant.metrics.several import CHOSEN_BY
from calibrant.regression.auto_regression import default_regression_calibrator
from calibrant.regression.scaling import ForecastIdentity
from calibrant.reporting.compared_scores import Estimate

__all__ = [
    "RESOLVE",
    "Alternative",
    "Choice",
    "Compared",
    "adopted",
    "against_chosen",
    "alternatives",
    "applied",
    "best",
    "choice",
    "compare",
    "final",
    "groups_of",
    "made_by",
    "resolve",
    "several",
    "shown_name",
]


#: Classes that the code of a calibrator names; more, and names with signs, are called ``classes``.
MOST_CLASSES = 10
#: Message for a metric that the calibrated forecasts lack.
NOTHING = Estimate(None)


@dataclass(frozen=True)
class Alternative:
    """One of the compared calibrators, with value, low, high and change by metric key; and its
    output, if there are several.

    ``against`` is its proper score minus that of the chosen one on the same rows, with interval and
    test corrected for all pairs, because the choice used these rows; None for the chosen one, and
    if either is in-sample.
    """

    name: str
    chosen: bool
    evaluation: str
    metrics: dict[str, dict[str, Any]]
    output: str | None = None
    against: PairRow | None = None


def best(compared: Any, tables: Any) -> str:
    """Return the name with the lowest ratio of the score after calibration to that before, on
    average over the outputs.

    Those that significantly worsen the second score come after the others, and in-sample ones last.

    Parameters
    ----------
    compared : {name: Compared}
    tables : {name: for each output a list of its ``Score``}
    """
    by = CHOSEN_BY[domain_of(next(iter(compared.values())).before)]

    def rank(name: str) -> tuple[bool, bool, float]:
        return (
            compared[name].evaluation == "in-sample",
            _harms(tables[name], by.guard),
            _relative(tables[name], by.score.key),
        )

    return min(compared, key=rank)


def _harms(outputs: list[list[Any]], key: str | None) -> bool:
    changes = [row.change for rows in outputs for row in rows if row.key == key]
    return any(change is not None and change.meaning == "worse" for change in changes)


def _relative(outputs: list[list[Any]], key: str) -> float:
    rows = [next(row for row in rows if row.key == key) for rows in outputs]
    if any(row.note is not None for row in rows):
        return float("inf")
    ratios = [
        1.0 if row.after is None else row.after.value / (row.before.value or 1.0) for row in rows
    ]
    return sum(ratios) / len(ratios)


def against_chosen(compared: Any, chosen: str, level: float = 0.95) -> list[dict[str, PairRow]]:
    """Return for each output {name: the proper score of each other calibrator against that of the
    chosen one}.
    """
    honest = {
        name: compared[name].outputs()
        for name in (chosen, *compared)
        if compared[name].evaluation != "in-sample"
    }
    if chosen not in honest:
        return [{} for _ in compared[chosen].outputs()]
    score = CHOSEN_BY[domain_of(compared[chosen].before)].score
    found = [
        in_pairs.of(
            {
                name: parts[j].before if parts[j].after is None else parts[j].after
                for name, parts in honest.items()
            },
            [score],
            level=level,
        )
        for j in range(len(honest[chosen]))
    ]
    return [{row.second: row for row in one.rows if row.first == chosen} for one in found]


def alternatives(
    compared: Any, chosen: Any, tables: Any, names: Any = (None,), against: Any = None
) -> list[Alternative]:
    """Return one for each calibrator and output, the chosen calibrator first and then by score.

    Parameters
    ----------
    compared, tables : as for ``best``
    chosen : str
    names : names of the outputs
    against : result of ``against_chosen``, optional
    """
    score = CHOSEN_BY[domain_of(compared[chosen].before)].score
    found = []
    for j, output in enumerate(names):
        of = output if len(names) > 1 else None
        pairs = against[j] if against else {}
        rows = [
            Alternative(
                name,
                name == chosen,
                one.evaluation,
                _values(one, tables[name][j]),
                of,
                pairs.get(name),
            )
            for name, one in compared.items()
        ]
        found += sorted(
            rows, key=lambda row: (not row.chosen, _rank(row.metrics[score.key]["value"]))
        )
    return found


def _values(found: Any, table: list[Any]) -> Any:
    when = "before" if found.after is None else "after"
    return {row.key: {**vars(row.when(when) or NOTHING), "change": row.change} for row in table}


def _rank(value: float) -> float:
    return float("inf") if value is None else value


@dataclass(frozen=True)
class Compared:
    """Measured rows before and after (None: no calibration), as records of predictions or of
    forecasts.

    ``evaluation`` is "none", "out-of-fold", "held-out" or "in-sample"; ``calibration`` holds the
    rows of the fit, if they are others; ``whole`` is the same for all classes, if the records are
    of one event. ``fold_fits`` describes the out-of-fold predictions, as in
    :class:`~calibrant.core.folds.OutOfFold`, and ``folds`` (n,) are the folds of their rows;
    ``fitted`` is the calibrator on all rows where these come from its fit.
    """

    before: Any
    after: Any
    calibrator: Any
    evaluation: str
    n_fit: float | None = None
    n_splits: int | None = None
    calibration: Any = None
    whole: "Compared | None" = None
    fold_fits: str | None = None
    fitted: Any = None
    folds: np.ndarray | None = None

    @property
    def shown(self) -> Any:
        """Rows to search for miscalibration: those after calibration, unless they are in-sample."""
        return self.before if self.after is None or self.evaluation == "in-sample" else self.after

    @property
    def fitted_by_user(self) -> bool:
        """Whether the calibrator came fitted, so that it was only applied."""
        return self.evaluation in ("held-out", "in-sample") and self.calibration is None

    def both(self, make: Callable[[Any], Any]) -> dict[str, Any]:
        """Return {"before": ``make(before)``, "after": ``make(after)``, or None}."""
        return {
            "before": make(self.before),
            "after": None if self.after is None else make(self.after),
        }

    def seen_as(self, view: Callable[[Any], Any]) -> "Compared":
        """Return the same with ``view`` applied to every record."""
        before, after, calibration = (
            None if one is None else view(one)
            for one in (self.before, self.after, self.calibration)
        )
        return replace(self, before=before, after=after, calibration=calibration, whole=self)

    def outputs(self) -> list["Compared"]:
        """Return one for each output of forecasts, or itself for classes."""
        each = (self.before, self.after, self.calibration)
        parts = [
            [None] * len(self.before.outputs()) if record is None else record.outputs()
            for record in each
        ]
        return [
            replace(self, before=a, after=b, calibration=c) for a, b, c in zip(*parts, strict=True)
        ]


@seeded
def compare(
    record: Any,
    calibrator: Any,
    *,
    test: Any = None,
    n_splits: int | None = None,
    in_sample: bool | None = None,
    random_state: int = 0,
    progress: Callable[..., Any] | None = None,
) -> Compared:
    """Calibrate the rows of ``record`` (or of ``test``) with the least optimistic evaluation that
    the arguments allow.

    Parameters
    ----------
    record : Predictions with labels, or ForecastRecord with outcomes
    calibrator : Calibrator or RegressionCalibrator
        Unfitted: out of fold, or fitted on all of ``record`` and measured on ``test``. Fitted:
        applied as it is.
    test : record like the first, optional
    n_splits, random_state, progress
        As in :func:`calibrant.core.folds.cross_fit`.
    in_sample : bool, optional
        Whether a fitted calibrator was fitted on these rows. Default: found by fitting it again and
        comparing.

    Returns
    -------
    Compared

    Raises
    ------
    InputError
        For a fitted calibrator with ``test``.

    Examples
    --------
    >>> from calibrant.core.predictions import read
    >>> from calibrant.calibrators.temperature import TemperatureScaling
    >>> found = compare(
    ...     read([0.1, 0.8, 0.3, 0.6, 0.7] * 8, [0, 1, 1, 0, 1] * 8),
    ...     TemperatureScaling(),
    ...     n_splits=2,
    ... )
    >>> found.evaluation, found.after.probabilities.shape
    ('out-of-fold', (40, 2))
    """
    if isinstance(calibrator, Identity | ForecastIdentity):
        return Compared(record if test is None else test, None, calibrator, "none")
    if test is not None:
        if is_fitted(calibrator):
            raise InputError(
                "calibrator is fitted already, so test= has nothing to hold out from; pass the"
                " test rows alone."
            )
        fitted = fit_clone(calibrator, record)
        return Compared(
            test,
            applied(fitted, test),
            fitted,
            "held-out",
            n_fit=float(record.weights.sum()),
            calibration=record,
        )
    if not is_fitted(calibrator):
        found = cross_fit(
            calibrator, record, n_splits=n_splits, random_state=random_state, progress=progress
        )
        return Compared(
            record,
            record.recalibrated(found.result, calibrator.tags.output),
            calibrator,
            "out-of-fold",
            n_splits=int(found.folds.max()) + 1,
            fold_fits=found.fold_fits,
            fitted=found.fitted,
            folds=found.folds,
        )
    after = applied(calibrator, record)
    seen = _fitted_on(calibrator, record, after) if in_sample is None else in_sample
    return Compared(record, after, calibrator, "in-sample" if seen else "held-out")


def applied(fitted: Any, record: Any) -> Any:
    """Return the record with the predictions of a fitted calibrator."""
    seen = record if fitted.tags.uses_features else record.without_features()
    return record.recalibrated(fitted.predict_record(seen), fitted.tags.output)


def _fitted_on(calibrator: Any, record: Any, after: Any) -> bool:
    """Return whether a fit on these rows reproduces the calibrator, which was then fitted
    on them.
    """
    if calibrator.tags.needs_reference and record.reference is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = applied(fit_clone(calibrator, record), record)
    return again.agrees_with(after) and not record.agrees_with(after)


def final(found: Any, record: Any) -> Any:
    """Return the calibrator to use: itself if it is fitted, otherwise fitted on all rows; None
    without calibration.
    """
    if found.after is None:
        return None
    if found.fitted is not None:
        return found.fitted
    if is_fitted(found.calibrator):
        return found.calibrator
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the folds have warned already
        return fit_clone(found.calibrator, record)


def shown_name(calibrator: Any) -> str:
    """Return the name in tables and sentences: the label in its tags.

    Examples
    --------
    >>> from calibrant.calibrators.confidence import ConfidenceCalibrator
    >>> from calibrant.calibrators.maps.binning import HistogramBinning
    >>> shown_name(ConfidenceCalibrator(map=HistogramBinning()))
    'confidence by histogram binning'
    """
    return calibrator.tags.label or type(calibrator).__name__


def resolve(calibrator: Any, domain: Domain = CLASSIFICATION) -> Any:
    """Return the calibrator: the default of the domain for None, an instance of a class,
    one-vs-rest for a map; ``Identity()`` for no calibration.
    """
    return RESOLVE[domain](calibrator)


def _of_classes(calibrator: Any) -> Any:
    return as_calibrator(calibrator, default=default_calibrator, fitted=True)


def adopted(
    calibrator: Any,
    default: Callable[[], Any],
    require: Callable[[Any], Any] = require_any_calibrator,
) -> Any:
    """Return the calibrator itself, ``default()`` for None, or an instance of a class; ``require``
    refuses other domains.
    """
    calibrator = default() if calibrator is None else calibrator
    calibrator = calibrator() if isinstance(calibrator, type) else calibrator
    return calibrator if isinstance(calibrator, Identity) else require(calibrator)


def _of_numbers(calibrator: Any) -> Any:
    return adopted(calibrator, default_regression_calibrator, require_regression_calibrator)


RESOLVE: Facet[Any] = Facet("calibrators")
RESOLVE.register(CLASSIFICATION, lambda: _of_classes)
RESOLVE.register(REGRESSION, lambda: _of_numbers)


def several(calibrator: Any, domain: Domain = CLASSIFICATION) -> dict[str, Any] | None:
    """Return {name: calibrator} for a list, tuple or dictionary of them, each resolved; None for a
    single one.
    """
    if isinstance(calibrator, Mapping):
        named = by_text(calibrator, "calibrator")
        named = {name: resolve(value, domain) for name, value in named.items()}
    elif isinstance(calibrator, list | tuple):
        named = {}
        for value in calibrator:
            made = resolve(value, domain)
            name = shown_name(made)
            named[name if name not in named else f"{name} ({len(named) + 1})"] = made
    else:
        return None
    if not named:
        raise InputError(
            "calibrator must name at least one calibrator; got none; leave it out for the default."
        )
    return named


def groups_of(groups: Any, test: tuple[Any, ...] | None, named: dict[str, Any]) -> tuple[Any, ...]:
    """Return (groups of the rows fitted on, where a calibrator takes them, those measured)."""
    uses = next(
        (name or type(one).__name__ for name, one in named.items() if one.tags.uses_groups), None
    )
    own = test[3] if isinstance(test, tuple | list) and len(test) > 3 else None
    measured = groups if own is None else own
    if uses is not None and test is not None and measured is groups:
        raise InputError(
            f"{uses} uses groups, those of y, P and those of test; got one; pass test=(y_test,"
            " P_test, weight_test, groups_test)."
        )
    # A fitted choice, and one whose rows have no groups of their own, goes without.
    takes = any(one.tags.takes_groups and not is_fitted(one) for one in named.values())
    fits = uses is not None or (takes and (test is None or measured is not groups))
    return groups if fits else None, measured


@dataclass(frozen=True)
class Choice:
    """Fitted calibrator with its description, its candidates (name, score, standard_error, weight,
    note), and its code.
    """

    name: str
    status: str
    words: str | None
    candidates: list[dict[str, Any]]
    code: list[str]


def choice(calibrator: Any, record: Record, *, fitted: bool = False) -> Choice | None:
    """Describe the calibrator in words and code, for input in the record's form; None for None.

    One that the user had ``fitted`` is not fitted again.
    """
    if calibrator is None:
        return None
    first, fit, use = CODE[domain_of(record)](calibrator, record)
    return Choice(
        shown_name(calibrator),
        calibrator.status_,
        explained(calibrator),
        _candidates(getattr(calibrator, "table_", None)),
        [first, "# calibrator: the fitted one that was passed" if fitted else fit, use],
    )


def _candidates(table: Any) -> Any:
    """Return one list, output by output: pooled candidates by weight; candidates of a single choice
    in the order of trial.
    """
    if not isinstance(table, list) or not table:
        return []
    if isinstance(table[0], list):
        rows = [
            {**row, "name": f"output {j + 1}: {row['name']}"}
            for j, rows in enumerate(table)
            for row in rows
        ]
    else:
        rows = sorted(map(dict, table), key=_choice_rank) if "chosen" not in table[0] else table
    return [{**row, "weight": float(row["chosen"])} if "chosen" in row else row for row in rows]


def _choice_rank(row: dict[str, Any]) -> tuple[float, float]:
    score = row.get("score", np.nan)
    return (-row.get("weight", 0.0), score if np.isfinite(score) else np.inf)


def made_by(calibrator: Any) -> str:
    """Return the expression that makes an unfitted copy, in one line, with calibrant as ``cb``."""
    return re.sub(
        r"\b([A-Z]\w*)(?=\()",
        lambda m: (public_path(m[1]) or m[1]).replace("calibrant.", "cb.", 1),
        " ".join(repr(clone(calibrator)).split()),
    )


def _choice_of_classes(calibrator: Any, record: Any) -> list[str]:
    classes = record.classes.tolist()
    usual = classes == list(range(record.n_classes))
    made = made_by(
        clone(calibrator).set_params(inputs=record.kind, classes=None if usual else classes)
    )
    plain = all(re.fullmatch(r"[\w .+-]*", str(name)) for name in classes)
    if len(classes) > MOST_CLASSES or not plain:
        made = made.replace(repr(classes), "classes")
    tags = calibrator.tags
    # A choice that was given groups is fitted with them again, whether or not it uses them.
    by_group = tags.uses_groups or (tags.takes_groups and record.groups is not None)
    X = (", X=X_new" if tags.uses_features else "") + (", groups=groups_new" if by_group else "")
    fit = X.replace("_new", "_calibration") + _weighted(record)
    fit += ", reference=(X_train, y_train)" if tags.needs_reference else ""
    confidence = tags.output == "confidence"
    result, method = (
        ("confidence", "predict_confidence") if confidence else ("P_calibrated", "predict_proba")
    )
    return [
        "import calibrant as cb",
        f"calibrator = {made}.fit(P_calibration, y_calibration{fit})",
        f"{result} = calibrator.{method}(P_new{X})",
    ]


def _weighted(record: Any) -> str:
    return "" if record.weight is None else ", sample_weight=weight_calibration"


def _choice_of_numbers(calibrator: Any, record: Any) -> list[str]:
    normal = isinstance(record.forecast, NormalForecast)
    groups = ", groups=groups_new" if calibrator.tags.uses_groups else ""
    fit = (
        "mean_calibration, y_calibration, std=std_calibration"
        if normal
        else "forecast_calibration, y_calibration"
    )
    new = f"{'mean_new, std_new' if normal else 'forecast_new'}{groups}"
    fit += groups.replace("_new", "_calibration") + _weighted(record)
    return [
        "import calibrant as cb",
        f"calibrator = {made_by(calibrator)}.fit({fit})",
        f"forecast = calibrator.predict({new})  # .mean .std .interval(0.9) .quantile(q)",
    ]


CODE: Facet[Any] = Facet("code to apply a calibrator")
CODE.register(CLASSIFICATION, lambda: _choice_of_classes)
CODE.register(REGRESSION, lambda: _choice_of_numbers)
