"""Section of a report on later rows without labels: how good the model is there, by estimate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.errors import InputError
from calibrant.monitoring.estimates import PerformanceEstimate, estimates

__all__ = ["Since", "since_then"]

#: What is estimated, by the target of a report; by None for forecasts.
KEYS = {"event": ("event_auroc", "log_loss", "event_brier_score"), None: ("mae", "rmse")}
#: The same for any other target.
OTHERS = ("accuracy", "log_loss", "brier_score")
#: Names of these metrics in a sentence.
NAMES = {
    "accuracy": "Accuracy",
    "event_auroc": "AUROC",
    "log_loss": "Log loss",
    "brier_score": "Brier score",
    "event_brier_score": "Brier score",
    "mae": "Mean absolute error",
    "rmse": "Root mean squared error",
}
#: Options of a report that change the labelled rows in ways that the estimate does not know.
REFUSED = ("sample_weight", "cluster", "test")


@dataclass(frozen=True)
class Since:
    """Performance on later rows, as predicted, and what they say of it in one sentence."""

    sentence: str
    note: str
    rows: list[dict[str, Any]]


def since_then(
    new: Any, reference: tuple[Any, Any], target: str | None, options: Mapping[str, Any]
) -> Since | None:
    """Estimate the performance on rows ``new`` without labels, from the rows of the report with its
    ``options``; None without such rows.
    """
    if new is None:
        return None
    given = [name for name in REFUSED if options.get(name) is not None]
    if given or reference[1] is None:
        raise InputError(
            "new takes rows of equal weight that are independent, with one model's predictions; got"
            f" {' and '.join(given) or 'a log of answers'}; call estimate_performance on its own."
        )
    known = {k: options[k] for k in ("inputs", "classes", "level", "random_state") if k in options}
    several = target == "event" and np.shape(new)[1:] > (2,)
    keys = OTHERS if several else KEYS.get(target, OTHERS)
    found = estimates(new, keys, reference=reference, **known)
    rows = [{**one.to_dict(), "key": one.metric, "metric": NAMES[one.metric]} for one in found]
    return Since(_sentence(found[0]), found[0].note, rows)


def _sentence(one: PerformanceEstimate) -> str:
    """Say whether the performance has changed, or why nobody can tell."""
    name, rows = NAMES[one.metric], f"{one.n_new:,} rows since then"
    if one.state != "holds":
        return f"How good the model is on the {rows} cannot be told: {'; '.join(one.reasons)}."
    moved = not one.change_low <= 0.0 <= one.change_high
    changed = "has changed" if moved else "has not changed by more than chance"
    columns = f" The rows differ most in {', '.join(one.changed[:3])}." if one.changed else ""
    return (
        f"{name} on the {rows} is about {one.value:.3g} ({one.low:.3g} to {one.high:.3g}), from"
        f" {one.before:.3g}: it {changed}.{columns}"
    )
