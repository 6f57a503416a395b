"""The figure of errors row by row: as SVG, with a text that can stand in for it and the table behind it."""

from dataclasses import fields
from typing import Any

import numpy as np

from calibrant.displays.real_std import RealStdDisplay
from calibrant.metrics.curves.real_std_curve import RealStdCurve
from calibrant.reporting.figure import figure, made

__all__ = ["error_figure"]

HEADS = {"n": "Rows", "std": "Predicted std", "real": "Error seen", "low": "Low", "high": "High", "reach": "90 % of errors up to",
         "reach_claimed": "Claimed"}  # fmt: skip


def error_figure(part: dict[str, Any], number: int, after_name: str) -> dict[str, Any]:
    """How far errors reach over the predicted std, after calibration where there is any: key, title, description, svg, columns, rows."""
    when = "before" if part["curves"]["after"] is None else "after"
    columns = {name: [np.inf if v is None else v for v in values] for name, values in part["curves"][when]["real_std"].items()}
    curve = made(RealStdCurve, {field.name: columns[field.name] for field in fields(RealStdCurve)})
    title = f"How far errors reach, {'as predicted' if when == 'before' else f'after {after_name}'}"
    ratio = curve.reach / curve.reach_claimed
    worst = int(np.abs(np.log(np.maximum(ratio, 1e-300))).argmax())
    words = (
        "Errors over the predicted std: the real std with its interval, and, dotted, how far half and 90 % of the errors reach, beside "
        f"what is claimed (shaded). Farthest off: 90 % of the errors reach {curve.reach[worst]:.4g} where {curve.reach_claimed[worst]:.4g} "
        f"is claimed ({curve.n[worst]:,.0f} rows)."
    )
    key = f"errors-{number}"
    points = [
        (std, real, f"predicted std {std:.4g}: real {real:.4g} ({low:.4g} to {high:.4g}), {n:,.0f} rows")
        for std, real, low, high, n in zip(curve.std, curve.real, curve.low, curve.high, curve.n, strict=True)
    ]
    rows = [[f"{row[0]:,.0f}", *(f"{v:.4g}" for v in row[1:])] for row in zip(*(getattr(curve, n) for n in HEADS), strict=True)]
    return figure(key, title, words, RealStdDisplay(curve), (3.7, 3.4), points, list(HEADS.values()), rows)
