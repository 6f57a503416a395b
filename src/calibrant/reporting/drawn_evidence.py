"""Figures of the evidence behind confidences: what a calibrator does, signals, latent function."""

from dataclasses import fields
from typing import Any

import numpy as np

from calibrant.calibrators.confidence import SignalAccuracy, SignalBins, SignalFits
from calibrant.calibrators.confidence_curve import ConfidenceBars, ConfidenceCurve, ConfidencePoints
from calibrant.calibrators.gaussian_process import LatentFunction
from calibrant.core.text_table import percent
from calibrant.displays.classes import LatentFunctionDisplay
from calibrant.displays.confidence import ConfidenceCurveDisplay, SignalAccuracyDisplay
from calibrant.reporting.figures import figure, made, points_along, rows_shown

__all__ = ["evidence_figures"]


def evidence_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """One dictionary a figure, as :func:`calibrant.reporting.figures.figure` makes them."""
    drawn = [] if summary["confidence"] is None else [_confidence(summary)]
    drawn += [_signal(found) for found in summary["signals"]]
    return (
        drawn
        if summary["latent"] is None
        else [*drawn, _latent(summary["latent"], summary["calibrator"]["name"])]
    )


def _confidence(summary: dict[str, Any]) -> dict[str, str]:
    """The calibrator's confidence over its score, beside the shares observed, with the densities
    of right and wrong scores.
    """
    found = summary["confidence"]
    curve = ConfidenceCurve(
        None,
        made(ConfidencePoints, found["points"]),
        made(ConfidenceBars, found["bars"]),
        *(found[name] for name in ("cloud", "n", "right", "wrong")),
    )
    title, bars = (
        f"What {summary['calibrator']['name']} does{' (in-sample)' if found['in_sample'] else ''}",
        curve.bars,
    )
    words = (
        (
            "Fitted on the very rows shown, so it agrees with them more than it will with new"
            " ones. "
            if found["in_sample"]
            else ""
        )
        + "The confidence it gives over the model's score, beside the share right in bins of"
        f" {found['n']:,.0f} rows, through whose intervals it should pass; above, the densities"
        f" of {found['right']:,.0f} right and {found['wrong']:,.0f} wrong predictions."
    )
    rows = list(zip(bars.lower, bars.upper, bars.n, bars.rate, bars.low, bars.high, strict=True))
    points = [
        (
            0.5 * (a + b),
            rate,
            (
                f"score {a:.3f} to {b:.3f}: share right {rate:.3f} ({low:.3f} to {high:.3f}),"
                f" {n:,.0f} rows"
            ),
        )
        for a, b, n, rate, low, high in rows
    ]
    points += [
        (x, y, f"score {x:.3f}: confidence {y:.3f}")
        for x, y in points_along(curve.points.score, curve.points.confidence)
    ]
    display = ConfidenceCurveDisplay(curve, name=" ")
    rows = [
        [f"{a:.3f} to {b:.3f}", f"{n:,.0f}", f"{r:.4f}", f"{low:.4f} to {high:.4f}"]
        for a, b, n, r, low, high in rows
    ]
    return figure(
        "confidence",
        title,
        words,
        display,
        points,
        ["Score", "Rows", "Share right", "Interval"],
        rows,
    )


def _signal(found: dict[str, Any]) -> dict[str, str]:
    bins, fits = made(SignalBins, found["bins"]), made(SignalFits, found["fits"])
    stability = found["name"] == "LabelStability"
    key, title = (
        ("stability", "Accuracy by label stability")
        if stability
        else ("separation", "Accuracy by separation")
    )
    words = _of_stability(bins) if stability else _of_separation(bins)
    rows = list(
        zip(bins.lower, bins.upper, bins.n, bins.accuracy, bins.low, bins.high, strict=True)
    )
    points = [
        (
            x,
            share,
            f"{a:.4g} to {b:.4g}: {share:.3f} right ({low:.3f} to {high:.3f}), {n:,.0f} rows",
        )
        for x, (a, b, n, share, low, high) in zip(bins.score, rows, strict=True)
    ]
    display = SignalAccuracyDisplay(SignalAccuracy(found["name"], bins, fits))
    rows = [
        [f"{a:.4g} to {b:.4g}", f"{n:,.0f}", f"{s:.4f}", f"{low:.4f} to {high:.4f}"]
        for a, b, n, s, low, high in rows
    ]
    return figure(
        key, title, words, display, points, ["Bin", "Rows", "Share right", "Interval"], rows
    )


def _of_stability(bins: SignalBins) -> str:
    return (
        "How often predictions are right over the probability that their label survives noise on"
        f" the logits, in bins of equal weight. In the least stable bin"
        f" {percent(bins.accuracy[0])} are"
        f" right, in the most stable {percent(bins.accuracy[-1])}."
    )


def _of_separation(bins: SignalBins) -> str:
    words = (
        "How often predictions are right over how much nearer the training points of the predicted"
        " class are than all others, in bins of equal weight: below 0 the row lies among another"
        " class. "
    )
    parts = [
        f"{percent(bins.n[side] @ bins.accuracy[side] / bins.n[side].sum())} are right in the bins"
        f" {where} 0"
        for where, side in (("below", bins.score < 0.0), ("above", bins.score >= 0.0))
        if side.any()
    ]
    return words + ", ".join(parts) + "."


def _latent(found: dict[str, list[Any]], name: str) -> dict[str, str]:
    curve = made(
        LatentFunction, {field.name: found[field.name] for field in fields(LatentFunction)}
    )
    title = f"Latent function of {name}"
    moved = int(np.abs(curve.mean - curve.prior).argmax())
    words = (
        "What the calibrator makes of each score: where the curve lies above the dashed prior mean"
        " a score counts for more than the model said, below it for less; a constant added to the"
        " curve changes nothing. The ticks are scores of the data. Farthest from the prior: at"
        f" {curve.score[moved]:.3g}, {curve.mean[moved]:.3g} instead of {curve.prior[moved]:.3g}."
    )
    some = rows_shown(len(curve.score))
    rows = [
        tuple(getattr(curve, field)[i] for field in ("score", "prior", "mean", "low", "high"))
        for i in some
    ]
    points = [
        (x, mean, f"score {x:.3g}: {mean:.3g} ({low:.3g} to {high:.3g}), prior {prior:.3g}")
        for x, prior, mean, low, high in rows
    ]
    display = LatentFunctionDisplay(curve, scores=np.array(found["ticks"]))
    rows = [
        [f"{x:.4g}", f"{prior:.4g}", f"{mean:.4g}", f"{low:.4g} to {high:.4g}"]
        for x, prior, mean, low, high in rows
    ]
    return figure(
        "latent",
        title,
        words,
        display,
        points,
        ["Score", "Prior mean", "Latent mean", "Band"],
        rows,
    )
