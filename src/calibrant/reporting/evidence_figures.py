"""The figures of the evidence behind confidences, each as SVG, words and table."""

from dataclasses import fields

import numpy as np

from calibrant.confidence.signal_accuracy import SignalAccuracy, SignalBins, SignalFits
from calibrant.displays.latent_function import LatentFunctionDisplay
from calibrant.displays.signal_accuracy import SignalAccuracyDisplay
from calibrant.displays.svg import as_svg
from calibrant.scalings.gaussian_process import LatentFunction

__all__ = ["evidence_figures"]

SIZE = (3.7, 3.4)
TABLE_ROWS = 25


def evidence_figures(summary) -> list[dict]:
    """One dictionary a figure, as :func:`calibrant.reporting.figures.figures` makes them."""
    made = [_signal(found) for found in summary["signals"]]
    return made if summary["latent"] is None else [*made, _latent(summary["latent"], summary["calibrator"]["name"])]


def _signal(found):
    bins, fits = _made(SignalBins, found["bins"]), _made(SignalFits, found["fits"])
    stability = found["name"] == "LabelStability"
    key, title = ("stability", "Accuracy by label stability") if stability else ("separation", "Accuracy by separation")
    words = _of_stability(bins) if stability else _of_separation(bins)
    rows = list(zip(bins.lower, bins.upper, bins.n, bins.accuracy, bins.low, bins.high, strict=True))
    points = [
        (x, share, f"{a:.4g} to {b:.4g}: {share:.3f} right ({low:.3f} to {high:.3f}), {n:,.0f} rows")
        for x, (a, b, n, share, low, high) in zip(bins.score, rows, strict=True)
    ]
    display = SignalAccuracyDisplay(SignalAccuracy(found["name"], bins, fits))
    return {
        "key": key, "title": title, "description": words,
        "svg": as_svg(display, key=key, title=title, description=words, size=SIZE, points=points),
        "columns": ["Bin", "Rows", "Share right", "Interval"],
        "rows": [[f"{a:.4g} to {b:.4g}", f"{n:,.0f}", f"{s:.4f}", f"{low:.4f} to {high:.4f}"] for a, b, n, s, low, high in rows],
    }  # fmt: skip


def _of_stability(bins):
    return (
        "How often predictions are right over the probability that their label survives noise on the logits, in bins of equal weight. "
        f"In the least stable bin {bins.accuracy[0]:.1%} are right, in the most stable {bins.accuracy[-1]:.1%}."
    )


def _of_separation(bins):
    words = (
        "How often predictions are right over how much nearer the training points of the predicted class are than all others, in bins of "
        "equal weight: below 0 the row lies among another class. "
    )
    parts = [
        f"{bins.n[side] @ bins.accuracy[side] / bins.n[side].sum():.1%} are right in the bins {where} 0"
        for where, side in (("below", bins.score < 0.0), ("above", bins.score >= 0.0))
        if side.any()
    ]
    return words + ", ".join(parts) + "."


def _latent(found, name):
    curve = _made(LatentFunction, {field.name: found[field.name] for field in fields(LatentFunction)})
    title = f"Latent function of {name}"
    moved = int(np.abs(curve.mean - curve.prior).argmax())
    words = (
        "What the calibrator makes of each score: where the curve lies above the dashed prior mean a score counts for more than the model "
        "said, below it for less; a constant added to the curve changes nothing. The ticks are scores of the data. Farthest from the "
        f"prior: at {curve.score[moved]:.3g}, {curve.mean[moved]:.3g} instead of {curve.prior[moved]:.3g}."
    )
    some = np.unique(np.linspace(0, len(curve.score) - 1, TABLE_ROWS).round().astype(int))
    rows = [tuple(getattr(curve, field)[i] for field in ("score", "prior", "mean", "low", "high")) for i in some]
    points = [(x, mean, f"score {x:.3g}: {mean:.3g} ({low:.3g} to {high:.3g}), prior {prior:.3g}") for x, prior, mean, low, high in rows]
    display = LatentFunctionDisplay(curve, scores=np.array(found["ticks"]))
    return {
        "key": "latent", "title": title, "description": words,
        "svg": as_svg(display, key="latent", title=title, description=words, size=SIZE, points=points),
        "columns": ["Score", "Prior mean", "Latent mean", "Band"],
        "rows": [[f"{x:.4g}", f"{prior:.4g}", f"{mean:.4g}", f"{low:.4g} to {high:.4g}"] for x, prior, mean, low, high in rows],
    }  # fmt: skip


def _made(record, columns):
    return record(**{name: np.array(values, dtype=np.float64) for name, values in columns.items()})
