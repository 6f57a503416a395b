"""What the page on error bars shows, beside the summary itself."""

from typing import Any

from calibrant.reporting.drift_charts import drift_charts
from calibrant.reporting.regression.charts import output_charts
from calibrant.reporting.regression.figures import output_figures

__all__ = ["FILTERS", "SECTIONS", "context"]

SECTIONS = (
    "header.html", "regression/outputs.html", "regression/trust.html", "regression/off.html", "regression/metrics.html",
    "regression/wrong.html",
    "regression/over_time.html", "choice.html", "method.html",
)  # fmt: skip
FORMS: dict[Any, Any] = {
    "NormalForecast": "mean and std", "QuantileForecast": "quantiles", "SampleForecast": "samples", "FrozenForecast": "distributions",
}  # fmt: skip
NOTES = (
    "ENCE is the mean over bins of predicted std of the relative gap between the std and the error seen there; the interval calibration "
    "error the mean gap between the coverage that intervals claim and what they hold, over all levels.",
    "Regions are cut by what was predicted, never by the outcome: among the largest outcomes every honest model is too low.",
)


def _number(value):
    return "–" if value is None else f"{value:.4g}"


def _signed(value):
    return "–" if value is None else f"{value:+.3g}".replace("-", "−")


#: For numbers in units of y, of any size.
FILTERS: dict[Any, Any] = {"number": _number, "signed": _signed}


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Facts of the header, charts by output, notes on the method, and filters for numbers of any size."""
    data, name = summary["data"], summary["calibrator"]["name"]
    outputs = f" · {len(data['outputs'])} outputs" if len(data["outputs"]) > 1 else ""
    charts = [output_charts(part, number, name) for number, part in enumerate(summary["outputs"])]
    figures = [output_figures(part, number, name) for number, part in enumerate(summary["outputs"])]
    rows = {name: [row for row in summary["metrics"] if row["output"] == name] for name in data["outputs"]}
    by_key = {name: {row["key"]: row for row in of} for name, of in rows.items()}
    drifts = [drift_charts(part["drift"], f"drift-{number}") for number, part in enumerate(summary["outputs"])]
    if outputs:
        _name(data["outputs"], charts, figures, drifts)
    return {
        "drift_charts": drifts, "dated": drifts[0] is not None,
        "facts": f"forecasts as {FORMS.get(data['form'], 'distributions')}{outputs}", "charts": charts, "figures": figures,
        "notes": NOTES, "rows_of": rows, "by_key": by_key, "several": len(data["outputs"]) > 1,
    }  # fmt: skip


def _name(names, charts, figures, drifts):
    """Say of which output each drawing is: their tables must not bear the same names."""
    for name, drawn, pictures, drift in zip(names, charts, figures, drifts, strict=True):
        over_time = [] if drift is None else [drift["all"], *drift["groups"]]
        for one in (*drawn, *pictures, *over_time):
            one["of"] = f": {name}"
