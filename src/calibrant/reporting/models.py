"""Models of the same rows in one report (each one's scores, their paired differences, and their
curves in one picture), and the context of its page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from numpy.typing import ArrayLike

from calibrant.core.domain import domain_of
from calibrant.core.estimators import seeded
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind, clustered, n_clusters
from calibrant.core.guarantee import plain
from calibrant.core.metric import require_level
from calibrant.core.text_table import rounded
from calibrant.errors import InputError
from calibrant.metrics.comparison import Comparison, PairRow, compare, read_models
from calibrant.reporting.compared_scores import Estimate
from calibrant.reporting.event.task import EVENT
from calibrant.reporting.figures import calibration_drawing, calibration_figure
from calibrant.reporting.judge import STATES
from calibrant.reporting.markdown import Tile, head
from calibrant.reporting.measure import TABLES
from calibrant.reporting.options import ReportOptions, Settings
from calibrant.reporting.report_table import ReportTable
from calibrant.reporting.summary import SCHEMA, About, Since, Verdict, since_then

__all__ = [
    "FILTERS",
    "Model",
    "ModelsSummary",
    "context",
    "main_display",
    "summarise_comparison",
    "summarise_models",
    "tiles",
]


#: States of a comparison, from the one that says most.
DECIDED, TIED = "one is better", "no clear difference"


@dataclass(frozen=True)
class Model:
    """One of the models: its name, its scores by key with their intervals, and its curve."""

    name: str
    scores: dict[str, Estimate]
    curve: Any


@dataclass(frozen=True)
class ModelsSummary:
    """Content of a report on several models; ``metrics`` are {key: name}, the first decides;
    ``since`` is of later rows, by model.
    """

    title: str
    level: float
    about: About
    data: dict[str, Any]
    verdict: Verdict
    metrics: dict[str, str]
    models: list[Model]
    pairs: list[PairRow]
    correction: str
    call: list[str]
    since: dict[str, Since] = field(default_factory=dict[str, Since])

    def to_dict(self) -> dict[str, Any]:
        """Only strings, numbers, None, lists and dictionaries, with ``schema``."""
        fixed = {"schema": SCHEMA, "task": "comparison", "target": "models", "cautions": []}
        return plain({**fixed, **vars(self)})


@seeded
def summarise_models(
    y: ArrayLike,
    P: Mapping[str, Any],
    *,
    metrics: Sequence[Any] | None = None,
    level: float = 0.95,
    baseline: str | None = None,
    cluster: ArrayLike | None = None,
    n_resamples: int = 1000,
    random_state: int = 0,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
    new: Mapping[str, Any] | None = None,
    **named: str | None,
) -> ModelsSummary:
    """Compare {name: predictions} of the same rows by ``metrics``, the first of which decides.

    Parameters
    ----------
    y, P, metrics, level, baseline, cluster, n_resamples, random_state, sample_weight, weight_kind,
    classes, inputs
        As for :func:`calibrant.compare`.
    new : {name: predictions of later rows without labels}, optional
        The performance of each model on them is estimated, as for :func:`calibrant.report`.
    **named
        ``title``, ``event``, ``period`` and ``version``, as for :func:`calibrant.report`.

    Returns
    -------
    ModelsSummary

    Raises
    ------
    InputError
        When predictions or an option are invalid, or there are fewer than two predictions.

    Examples
    --------
    >>> y, p = [0, 1] * 50, [0.1, 0.8, 0.3, 0.9] * 25
    >>> summarise_models(y, {"model": p, "rate": [0.5] * 100}).verdict.action
    'Use model.'
    """
    require_level(level)
    measured, records = read_models(y, P, metrics, sample_weight, classes, inputs)
    records = {name: clustered(record, cluster, weight_kind) for name, record in records.items()}
    drawn = {"n_resamples": n_resamples, "random_state": random_state}
    found = compare.of(records, measured, level=level, baseline=baseline, **drawn)
    summary = summarise_comparison(records, measured, found, drawn, **named)
    if new is None:
        return summary
    beside = {"sample_weight": sample_weight, "cluster": cluster, "classes": classes}
    options = ReportOptions(**beside, inputs=inputs, level=level, random_state=random_state)
    since = _since(y, P, new, next(iter(records.values())), options)
    of_best, verdict = since.get(summary.verdict.model or ""), summary.verdict
    return replace(
        summary, since=since, verdict=verdict if of_best is None else of_best.judged(verdict)
    )


def _since(
    y: Any, P: Mapping[str, Any], new: Any, record: Any, options: ReportOptions
) -> dict[str, Since]:
    """Estimate the performance of each model on later rows."""
    if not isinstance(new, Mapping) or {*cast(Any, new)} != {*P}:
        got = [*cast(Any, new)] if isinstance(new, Mapping) else f"a {type(new).__name__}"
        raise InputError(
            f"new must hold later rows of every model, {[*P]}; got {got}; pass a dictionary of"
            " their predictions."
        )
    table = TABLES[domain_of(record)]
    target = table.question(None, record, ())
    return {
        name: cast(Since, since_then(replace(options, new=new[name]), (one, y), target))
        for name, one in P.items()
    }


def summarise_comparison(
    records: Mapping[str, Any],
    metrics: Sequence[Any],
    found: Comparison,
    drawn: Mapping[str, Any] | None = None,
    *,
    title: str | None = None,
    event: str | None = None,
    period: str | None = None,
    version: str | None = None,
) -> ModelsSummary:
    """Return the summary of a comparison ``found`` of the ``records`` by ``metrics``; ``drawn`` are
    ``n_resamples`` and ``random_state``.
    """
    first = next(iter(records.values()))
    table = TABLES[domain_of(first)]
    models = [
        Model(
            name,
            _scores(record, metrics, found.level, drawn or {}),
            table.curve(record, found.level),
        )
        for name, record in records.items()
    ]
    return ModelsSummary(
        title or "Which model is better?",
        found.level,
        About.of(first, {"event": event, "period": period, "version": version}),
        {
            "n": float(first.weights.sum()),
            "rows": len(first),
            "clusters": n_clusters(first),
            "weighted": first.weight is not None,
        },
        _checked(table, records, found.level) or _verdict(metrics[0], models, found.rows),
        {one.key: one.name for one in metrics},
        models,
        found.rows,
        found.correction,
        [],
    )


def _scores(record: Any, named: Sequence[Any], level: float, drawn: Any) -> dict[str, Estimate]:
    found = {}
    for one in named:
        try:
            interval = one.interval_of(record, level=level, **drawn)
        except InputError:  # for example conformal intervals, which have no density
            found[one.key] = Estimate(None)
            continue
        value = interval.value if interval.plain is None else interval.plain
        found[one.key] = Estimate(value, interval.low, interval.high, value, interval.method)
    return found


def _checked(table: ReportTable, records: Mapping[str, Any], level: float) -> Verdict | None:
    """Return the verdict where the rows of a model must be checked before any comparison."""
    settings = Settings(table.n_bins, level, 0, 0)
    for name, record in records.items():
        event = table.event(table.question(None, record, ()))
        kind, view = (table, record) if event is None else (EVENT, record.as_pair(event))
        for output in view.outputs():
            states = kind.seen(output, settings)
            for caution in kind.vetoes(states, kind.quality(states, None)):
                action = "Check the data before you compare the models."
                return Verdict(STATES[0], f"{name}: {caution}", action, "", "none")
    return None


def _verdict(metric: Any, models: list[Model], pairs: list[PairRow]) -> Verdict:
    """Return the verdict by the first metric: the model that is better than all others, or none."""
    sign = -1.0 if metric.direction == "maximize" else 1.0
    order = sorted(models, key=lambda one: sign * one.scores[metric.key].value)
    best, others = order[0], order[1:]
    way = "higher is better" if sign < 0.0 else "lower is better"
    shown = ", ".join(f"{one.name} {rounded(one.scores[metric.key].value)}" for one in order)
    shown = f"{shown}; {way}"
    of_best = [
        row for row in pairs if row.metric == metric.key and best.name in (row.first, row.second)
    ]
    clear = [row for row in of_best if _favours(row, best.name)]
    if len(clear) == len(others):
        sentence = f"{best.name} is better than all others in {metric.name} ({shown})."
        if len(others) == 1:
            sentence = f"{best.name} is better than {others[0].name} in {metric.name} ({shown})."
        return Verdict(DECIDED, sentence, f"Use {best.name}.", best.name, "none")
    tied = [one.name for one in others if not any(one.name in (r.first, r.second) for r in clear)]
    sentence = (
        f"{best.name} has the best {metric.name} ({shown}), but it cannot be told from"
        f" {' and '.join(tied)} on these rows."
    )
    action = "Choose by cost or simplicity, or compare on more rows."
    return Verdict(TIED, sentence, action, best.name, "none")


def _favours(row: PairRow, name: str) -> bool:
    """Whether the pair shows that the model named is better."""
    return row.meaning == ("better" if row.second == name else "worse")


FILTERS: dict[Any, Any] = {}


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the head, each model's main score as a tile, and all curves in one figure."""
    states, target = _curves(summary)
    words = f"Points on the dashed diagonal are calibrated. Bars are {100 * summary['level']:g} %"
    title = "Predicted and observed" if target else "Coverage of intervals"
    return {
        **head(summary),
        "badge": _badge(summary["verdict"]),
        "whom": "not compared by group; a report on one model with groups= shows it.",
        "bands": ("answer.html", "models.html"),
        "tiles": tiles(summary),
        "main": calibration_figure(
            "models", title, f"{words} intervals.", states, "", target=target
        ),
    }


def tiles(summary: dict[str, Any]) -> list[Tile]:
    """Return each model's main score."""
    key, name = next(iter(summary["metrics"].items()))
    found = []
    for one in summary["models"]:
        score = one["scores"][key]
        ends = (
            "" if score["low"] is None else f"{rounded(score['low'])} to {rounded(score['high'])}"
        )
        found.append(Tile(f"{one['name']}: {name}", rounded(score["value"]), ends))
    return found


def main_display(summary: dict[str, Any]) -> Any:
    """Return the calibration curve of every model on the same axes."""
    states, target = _curves(summary)
    return calibration_drawing(states, "", target=target)


def _badge(verdict: dict[str, str]) -> str:
    decided = verdict["state"] == "one is better"
    return f"{verdict['model']} is better" if decided else verdict["state"].capitalize()


def _curves(summary: dict[str, Any]) -> tuple[dict[str, dict[str, Any]], str | None]:
    """Return the curves as states of a drawing and its target; of forecasts, the coverage of their
    intervals.
    """
    curves = {one["name"]: one["curve"] for one in summary["models"]}
    if "coverage" not in next(iter(curves.values())):
        return {"": curves}, "event"
    n = summary["data"]["n"]
    return {"": {name: _as_shares(curve, n) for name, curve in curves.items()}}, None


def _as_shares(curve: dict[str, list[float]], n: float) -> dict[str, list[float]]:
    """Return the coverage of intervals over the level as shares over what is predicted."""
    level, seen = curve["level"], curve["coverage"]
    ends = {name: curve[name] for name in ("low", "high")}
    return {
        "lower": level,
        "upper": level,
        "n": [n] * len(level),
        "confidence": level,
        "accuracy": seen,
        **ends,
    }
