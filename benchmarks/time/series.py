"""Twelve series whose errors change, each with the forecasts of a simple model, one step ahead.

Three forecasts of the PM2.5 of Beijing and two series of an electricity market come from
CALIBRANT_DATA; two series from statsmodels, and five from Rdatasets (CALIBRANT_RDATASETS, see
``benchmarks.arena.table_sets``). A series whose source is absent is skipped, with the reason. The
settings of the library were chosen on other series: six simulated ones, and ``AER/NYSESW``,
``nycflights13/weather``, ``forecast/gas``, ``Ecdat/Garch``, ``ggplot2/economics`` and
``datasets/UKDriverDeaths``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.arena.outputs import FOLDER as STAGE2
from benchmarks.arena.table_sets import FOLDER

import calibrant as cb

__all__ = ["Series", "series"]

#: Rows of the forecaster's fit: a fifth, within these limits; rows of the calibration: a tenth.
FITTED, CALIBRATED = (30, 1_000), (50, 500)


@dataclass(frozen=True)
class Series:
    """A forecast of each row, its outcome, the number of calibration rows at the start, and the
    rows after which a late label arrives.
    """

    name: str
    forecast: Any
    y: np.ndarray
    calibrated: int
    late: int

    def part(self, rows: slice) -> Any:
        """Return the forecast of some rows."""
        if isinstance(self.forecast, tuple):
            return tuple(each[rows] for each in self.forecast)
        take = getattr(self.forecast, "take", None)
        return take(rows) if isinstance(self.forecast, cb.QuantileForecast) else self.forecast[rows]


def _table(name: str, column: str) -> np.ndarray:
    return pd.read_csv(FOLDER / "csv" / f"{name}.csv")[column].to_numpy(dtype=np.float64)


@cache
def _stored(name: str) -> dict[str, np.ndarray]:
    with np.load(STAGE2 / f"{name}.npz") as file:
        return {
            key: file[key].astype(np.float64) for key in file.files if file[key].dtype.kind in "if"
        }


def _shipped(name: str) -> np.ndarray:
    import statsmodels.api as sm

    table = getattr(sm.datasets, name).load_pandas().data
    if name == "elnino":
        table = table.drop(columns="YEAR").stack()
    return table.squeeze().interpolate().to_numpy(dtype=np.float64)


def naive(y: np.ndarray, period: int) -> np.ndarray:
    """The value one period ago."""
    return np.append(np.full(period, np.nan), y[:-period])


def autoregression(y: np.ndarray, lags: tuple[int, ...]) -> np.ndarray:
    """Least squares on past values, fitted on the first rows only."""
    X = np.column_stack([np.ones(len(y)), *(naive(y, lag) for lag in lags)])
    fit = slice(max(lags), max(lags) + _fitted(len(y)))
    return X @ np.linalg.lstsq(X[fit], y[fit], rcond=None)[0]


def smoothed(y: np.ndarray, share: float) -> np.ndarray:
    """Exponential smoothing of the past values."""
    out, level = np.full(len(y), np.nan), y[0]
    for t in range(1, len(y)):
        out[t] = level
        level += share * (y[t] - level)
    return out


def rolling_std(error: np.ndarray, window: int) -> np.ndarray:
    """Standard deviation of the last errors."""
    return pd.Series(error).shift(1).rolling(window).std().to_numpy()


def returns(price: np.ndarray) -> np.ndarray:
    """Daily returns in per cent."""
    return 100.0 * np.diff(np.log(price))


def _fitted(n: int) -> int:
    return int(np.clip(n // 5, *FITTED))


def _prices() -> tuple[Any, np.ndarray]:
    y = _stored("drift_elec2")["features"][:, 1]
    return autoregression(y, (1, 2, 48, 336)), y


def _demand() -> tuple[Any, np.ndarray]:
    y = _stored("drift_elec2")["features"][:, 2]
    return naive(y, 336), y


def _volatility() -> tuple[Any, np.ndarray]:
    y = returns(_table("AER/DJIA8012", "dat"))
    return (np.zeros(len(y)), rolling_std(y, 22)), y


def _quantiles() -> tuple[Any, np.ndarray]:
    z = _stored("drift_pm25_beijing")
    return cb.QuantileForecast(z["quantile_levels"], np.sort(z["quantiles"], axis=1)), z["label"]


def _own(forecaster: Callable[..., np.ndarray], y: np.ndarray, *options: Any) -> Any:
    return forecaster(y, *options), y


def _pm25(*names: str) -> tuple[Any, np.ndarray]:
    z = _stored("drift_pm25_beijing")
    return tuple(z[name] for name in names) if len(names) > 1 else z[names[0]], z["label"]


SERIES: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "PM2.5, ridge": lambda: _pm25("ridge_mean"),
    "PM2.5, forest": lambda: _pm25("rf_mean", "rf_tree_std"),
    "PM2.5, quantiles": _quantiles,
    "electricity price": _prices,
    "electricity demand": _demand,
    "sunspots": lambda: _own(smoothed, _table("datasets/sunspot.month", "value"), 0.5),
    "co2": lambda: _own(naive, _shipped("co2"), 52),
    "El Nino": lambda: _own(naive, _shipped("elnino"), 12),
    "tree rings": lambda: _own(autoregression, _table("datasets/treering", "value"), (1, 2, 3)),
    "DAX": lambda: _own(autoregression, returns(_table("datasets/EuStockMarkets", "DAX")), (1,)),
    "Dow Jones": _volatility,
    "half-hourly demand": lambda: _own(naive, _table("forecast/taylor", "x"), 336),
}


#: Rows of a day, a week, a quarter or a year: the delay of late labels.
LATE = {
    "PM2.5, ridge": 24,
    "PM2.5, forest": 24,
    "PM2.5, quantiles": 24,
    "electricity price": 48,
    "electricity demand": 48,
    "sunspots": 3,
    "co2": 13,
    "El Nino": 3,
    "tree rings": 1,
    "DAX": 5,
    "Dow Jones": 5,
    "half-hourly demand": 48,
}


def series() -> Iterator[Series]:
    """Yield each series whose source is there, after the rows of its forecaster's fit."""
    for name, load in SERIES.items():
        try:
            forecast, y = load()
        except (FileNotFoundError, ImportError) as error:
            print(f"{name}: skipped, {error}")
            continue
        means = np.zeros(0)
        if not isinstance(forecast, cb.QuantileForecast):
            means = np.column_stack([*forecast] if isinstance(forecast, tuple) else [forecast])
        blank = int(np.isnan(means).any(axis=1).sum()) if len(means) else 0
        start = max(blank, 0 if name.startswith("PM2.5") else _fitted(len(y)))
        whole = Series(name, forecast, y, 0, 0)
        count = int(np.clip(len(y) // 10, *CALIBRATED))
        yield Series(name, whole.part(slice(start, None)), y[start:], count, LATE[name])
