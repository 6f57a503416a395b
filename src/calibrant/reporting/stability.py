"""Section of a report on label stability: search for the noise, iterations, and three rows."""

from typing import Any

import numpy as np

from calibrant.calibrators.hoki import HokiCalibrator
from calibrant.calibrators.label_stability import LabelStability
from calibrant.core.predictions import Predictions
from calibrant.core.text_table import percent
from calibrant.displays.axes import COLOURS, draw_grid, scale_axes
from calibrant.reporting.figures import FLAT, figure

__all__ = ["label_stability", "stability_figures"]


def label_stability(calibrator: Any, record: Predictions) -> dict[str, Any] | None:
    """Describe the noise of a calibrator that uses label stability, the iterations of Hoki, and the
    surest, the least stable and the most stable wrong row; None for other calibrators.
    """
    signal = getattr(calibrator, "signal_", None)
    if not isinstance(signal, LabelStability) or signal.transform is not None:
        return None
    gamma, confidence = signal.score_record(record), calibrator.confidence_record(record)
    order, right = np.lexsort((record.confidence, gamma)), record.correct > 0.5
    chosen = {
        "Surest row": order[right[order]][-1:],
        "Least stable row": order[:1],
        "Wrong but stable row": order[~right[order]][-1:],
    }
    names = record.classes.astype(str).tolist()
    return {
        "scale": signal.scale_,
        "scales": getattr(signal, "scales_", np.zeros(0)),
        "spread": getattr(signal, "spread_", np.zeros(0)),
        "iterations": _iterations(calibrator) if isinstance(calibrator, HokiCalibrator) else None,
        "rows": [
            {
                "kind": kind,
                "row": int(i),
                "label": names[record.predicted[i]],
                "true": names[record.labels[i]],
                "stability": gamma[i],
                "confidence": confidence[i],
                "curve": signal.stability_curve(record.values[[i]]),
            }
            for kind, rows in chosen.items()
            for i in rows
        ],
    }


def _iterations(calibrator: HokiCalibrator) -> dict[str, Any]:
    """Return the number of iterations and their end, and the bins of the last one that hold
    rows.
    """
    alpha, beta = calibrator.alpha_[-1], calibrator.beta_[-1]
    return {
        "count": calibrator.n_iter_,
        "status": calibrator.status_,
        "accuracy": calibrator.accuracy_,
        "n_bins": calibrator.n_bins,
        "bins": [
            {
                "from": j / calibrator.n_bins,
                "to": (j + 1) / calibrator.n_bins,
                "kept": alpha[j],
                "changed": beta[j],
            }
            for j in np.flatnonzero(~np.isnan(alpha))
        ],
    }


def stability_figures(found: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Draw the search, and the stability of each row by noise width; ``found`` is from
    ``label_stability``.
    """
    if found is None:
        return []
    scale = found["scale"]
    searched = (
        "Standard deviation of the confidence on one bin for each noise width tried. Little noise"
        " changes no label, and much noise changes all alike; the search takes the largest spread."
        f" Chosen: {scale:.3g}."
    )
    drawn = [("noise-search", "Search for the noise", searched, "Spread", found)]
    for number, row in enumerate(found["rows"]):
        next_class = row["curve"]["classes"][1]
        share = np.interp(scale, row["curve"]["scale"], [p[1] for p in row["curve"]["probability"]])
        words = (
            f"Row {row['row']}, predicted {row['label']}, true {row['true']}: noise of the chosen"
            f" width keeps the label in {percent(row['stability'])} of draws. Class {next_class}"
            f" takes over first, in {percent(share)}."
        )
        curve = {
            "scales": row["curve"]["scale"],
            "spread": [p[0] for p in row["curve"]["probability"]],
        }
        drawn.append((f"row-stability-{number}", row["kind"], words, "Label kept", curve))
    return [_figure(*one, scale) for one in drawn if one[-1]["scales"]]


def _figure(
    key: str, title: str, words: str, label: str, curve: dict[str, Any], scale: float
) -> dict[str, Any]:
    """Draw one curve over the noise width, with a line at the chosen width."""
    pairs = list(zip(curve["scales"], curve["spread"], strict=True))
    points = [(*one, f"noise {one[0]:.3g}: {label} {one[1]:.3f}") for one in pairs]
    rows = [[f"{a:.4g}", f"{b:.4f}"] for a, b in pairs]
    display = _OverNoise(np.array(pairs), label, scale)
    return figure(key, title, words, display, points, ["Noise width", label], rows, size=FLAT)


class _OverNoise:
    """Curve over the noise width, with a line at the chosen width."""

    def __init__(self, curve: np.ndarray, label: str, scale: float) -> None:
        self.curve, self.label, self.scale = curve, label, scale

    def plot(self, ax: Any) -> None:
        """Draw it on ``ax``."""
        x, y = self.curve.T
        draw_grid(ax)
        ax.axvline(self.scale, color=COLOURS["muted"], linewidth=1, linestyle=(0, (4, 3)))
        ax.plot(x, y, color=COLOURS["main"], linewidth=1.4, marker="o", markersize=4)
        scale_axes(ax, "log", 0.9 * x.min(), 1.1 * x.max(), "x")
        ax.set(ylim=(0.0, 1.05 * max(y.max(), 0.01)), xlabel="Noise width", ylabel=self.label)
