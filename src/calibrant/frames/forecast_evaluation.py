"""What an evaluation of forecasts holds: the sums, and every number that follows from them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.forecasts.read import read_forecast
from calibrant.frames.forecast_kernel import CELLS, SUMMED, sketched
from calibrant.frames.sliced import Sliced, require_width, value_and_limits
from calibrant.metrics.regression.interval_calibration_error import interval_calibration_error
from calibrant.metrics.regression.uncertainty_calibration_error import UncertaintyCalibrationError

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

    def _slice(self, group):
        return group

    def _numbers(self, bins, sums):
        n, rest = sums[:, :1], sums[:, 1:]
        out = {"n": n[:, 0]}
        record = read_forecast([0.0], [1.0], [0.0])
        widths = {name: len(metric.columns_of(record)) for name, metric in SUMMED.items()}
        require_width(sums, 1 + sum(widths.values()) + interval_calibration_error.totals_of(record).shape[1])
        for name, metric in SUMMED.items():
            width = widths[name]
            totals, rest = np.concatenate([n, rest[:, :width]], axis=1), rest[:, width:]
            out |= value_and_limits(name, metric, totals)
        ence = sketched(self.n_bins)
        uce = UncertaintyCalibrationError(n_bins=self.n_bins, cells=CELLS)
        gaps = np.stack([bins[..., 0], bins[..., 2] - bins[..., 1]], axis=-1)
        return out | {
            ence.key: ence.finalise(bins), uce.key: uce.finalise(gaps),
            interval_calibration_error.key: interval_calibration_error.finalise(rest[:, None]),
        }  # fmt: skip
