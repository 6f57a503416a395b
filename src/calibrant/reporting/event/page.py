"""What the page on the risk of an event shows, beside the summary itself."""

from typing import Any

from calibrant.reporting.drawing import rows_of
from calibrant.reporting.drift_charts import drift_charts
from calibrant.reporting.event.charts import hero
from calibrant.reporting.event.figures import answer_figures, decision_figures, event_figures
from calibrant.reporting.event.verdict import share

__all__ = ["FILTERS", "SECTIONS", "context"]

SECTIONS = (
    "header.html", "event/trust.html", "event/off.html", "event/metrics.html", "figures.html", "event/decide.html",
    "event/promises.html", "wrong.html", "over_time.html", "choice.html", "event/answer.html", "method.html",
)  # fmt: skip


def _share(value: float | None) -> str:
    return "–" if value is None else share(value)


#: One way of writing a share on a page of risks, rare ones with digits that count.
FILTERS: dict[Any, Any] = {"share": _share, "percent": _share}
NOTES = (
    "The ECE of the event is the mean gap between the risk and the share that happened over bins of equal width; the figures group rows "
    "in equal numbers.",
)


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Facts of the header, figures and charts, and notes on the method."""
    data, table = summary["data"], summary["thresholds"]
    return {
        "facts": f"risk of {data['event']} · {'logits' if data['inputs'] == 'logit' else 'probabilities'}", "hero": hero(summary),
        "figures": event_figures(summary), "decision_figures": decision_figures(summary), "answer_figures": answer_figures(summary),
        "threshold_rows": rows_of(table), "notes": NOTES,
        "trusted": "Can its risk be trusted?", "over": "too high", "under": "too low", "watched": "risk and outcome",
        "columns": (("Said", "risk"), ("Happened", "rate")), "place": "Risk", "ends": "%.3g",
        "told": "the mean risk said, the share that happened, the gap between the two and their ratio (O/E), with "
        f"{100.0 * summary['level']:g} % intervals that hold for all rows of a table together",
        "drift_charts": drift_charts(summary["drift"]), "dated": summary["drift"] is not None,
    }  # fmt: skip
