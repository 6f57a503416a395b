"""What an evaluation of forecasts holds: the sums, and every number that follows from them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant.forecasts.read import read_forecast
from calibrant.frames.forecast_kernel import CELLS, SUMMED, sketched
from calibrant.frames.sliced import Sliced, require_width, value_and_limits
from calibrant.metrics.regression.levels import interval_calibration_error
from calibrant.metrics.regression.spread import UncertaintyCalibrationError

__all__ = ["ForecastEvaluation"]


@dataclass(frozen=True, eq=False)
class ForecastEvaluation(Sliced):
    """The metrics of forecasts in each slice of a table; evaluations of parts of a table add up.

    Attributes
    ----------
    state : GroupState
        Sums by slice; ``state.save(path)`` keeps them.
    n_bins : int
    """

    n_bins: int = 10

    def __add__(self, other: Any) -> Any:
        return ForecastEvaluation(self.state + other.state, self.n_bins) if isinstance(other, ForecastEvaluation) else NotImplemented

    @property
    def _bins(self):
        return {"strategy": "mass", "n": self.n_bins}

    @property
    def target(self) -> Literal["forecast"]:
        """What was counted."""
        return "forecast"

    @property
    def levels(self) -> np.ndarray:
        """(L,) levels between which outcomes were counted."""
        return np.array(self.state.settings["levels"])

    def calibration_sums(self, part: Callable[..., Any]) -> tuple[list[tuple[Any, ...]], np.ndarray]:
        """(parts in order, (P, C, C) rows by the cells between the levels that hold their PIT), joined over slices of one ``part``."""
        parts, _, sums = self.state.by(part)
        cells = len(self.levels) + 1
        return parts, sums[:, -cells * cells :].reshape(-1, cells, cells)

    def _slice(self, group):
        return group

    def _numbers(self, bins, sums):
        n, rest = sums[:, :1], sums[:, 1:]
        out = {"n": n[:, 0]}
        record = read_forecast([0.0], [1.0], [0.0])
        widths = {name: len(metric.columns_of(record)) for name, metric in SUMMED.items()}
        of_levels = interval_calibration_error.totals_of(record).shape[1]
        require_width(sums, 1 + sum(widths.values()) + of_levels + (len(self.levels) + 1) ** 2)
        for name, metric in SUMMED.items():
            width = widths[name]
            totals, rest = np.concatenate([n, rest[:, :width]], axis=1), rest[:, width:]
            out |= value_and_limits(name, metric, totals)
        ence = sketched(self.n_bins)
        uce = UncertaintyCalibrationError(n_bins=self.n_bins, cells=CELLS)
        gaps = np.stack([bins[..., 0], bins[..., 2] - bins[..., 1]], axis=-1)
        return out | {
            ence.key: ence.finalise(bins), uce.key: uce.finalise(gaps),
            interval_calibration_error.key: interval_calibration_error.finalise(rest[:, None, :of_levels]),
        }  # fmt: skip
