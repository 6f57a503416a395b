"""Combined forecasts: several outputs side by side, and rows from several fits."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant.core.forecast import Forecast

__all__ = ["ForecastParts", "SeveralOutputs", "gather", "join_outputs"]


class SeveralOutputs(Forecast):
    """Forecast (n, d) from d forecasts of (n,)."""

    def __init__(self, columns: Sequence[Forecast]) -> None:
        self.columns: list[Forecast] = list(columns)
        self.shape: tuple[int, ...] = (len(self.columns[0]), len(self.columns))

    def _each(self, values: Any) -> np.ndarray:
        return np.stack(list(values), axis=1)

    @property
    def mean(self) -> np.ndarray:
        """Mean of each distribution."""
        return self._each(c.mean for c in self.columns)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each distribution."""
        return self._each(c.std for c in self.columns)

    def _at(self, z: np.ndarray) -> np.ndarray:
        z = np.broadcast_to(z, (*self.shape, z.shape[-1]))
        return self._each(c.at(z[:, j]) for j, c in enumerate(self.columns))

    def _score(self, y: np.ndarray) -> np.ndarray:
        return self._each(c.score_at(y[:, j]) for j, c in enumerate(self.columns))

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        return self._each(c.log_slope(y[:, j]) for j, c in enumerate(self.columns))

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return (low, high) of each output's own interval."""
        ends = [c.interval(level) for c in self.columns]
        return self._each(low for low, _ in ends), self._each(high for _, high in ends)

    def _pick(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return self.columns[key[1]]
        return SeveralOutputs([c.take(key) for c in self.columns])


def join_outputs(columns: Sequence[Forecast], shape: tuple[int, ...]) -> Forecast:
    """Return the one forecast of an (n,) input itself, or several side by side."""
    return columns[0] if len(shape) == 1 else SeveralOutputs(columns)


class ForecastParts(Forecast):
    """One forecast of all rows from one for each fold: row i is row ``position[i]`` of
    ``parts[part[i]]``.
    """

    parts: list[Forecast]
    part: np.ndarray
    position: np.ndarray

    def __init__(self, parts: Sequence[Forecast], part: np.ndarray, position: np.ndarray) -> None:
        self.parts, self.part, self.position = list(parts), part, position
        self.shape: tuple[int, ...] = (len(part), *self.parts[0].shape[1:])

    def _each(self, make: Any) -> Any:
        """Apply ``make(forecast of some rows, these rows)`` to every part, and put each result at
        its rows.
        """
        out = None
        for k, forecast in enumerate(self.parts):
            rows = np.flatnonzero(self.part == k)
            if len(rows):
                values = make(forecast.take(self.position[rows]), rows)
                out = np.empty((len(self.part), *values.shape[1:])) if out is None else out
                out[rows] = values
        return out

    @property
    def mean(self) -> np.ndarray:
        """Mean of each distribution."""
        return self._each(lambda forecast, _: forecast.mean)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each distribution."""
        return self._each(lambda forecast, _: forecast.std)

    def _at(self, z: np.ndarray) -> np.ndarray:
        if z.ndim == 1:
            return self._each(lambda forecast, _: forecast.at(z))
        return self._each(lambda forecast, rows: forecast.at(z[rows]))

    def _score(self, y: np.ndarray) -> np.ndarray:
        return self._each(lambda forecast, rows: forecast.score_at(y[rows]))

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        return self._each(lambda forecast, rows: forecast.log_slope(y[rows]))

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return (low, high) of each part's own interval."""
        ends = self._each(lambda forecast, _: np.stack(forecast.interval(level), axis=-1))
        return ends[..., 0], ends[..., 1]

    def _pick(self, key: np.ndarray) -> "ForecastParts":
        if isinstance(key, tuple):
            return ForecastParts(
                [forecast.column(key[1]) for forecast in self.parts],
                self.part[key[0]],
                self.position[key[0]],
            )
        return ForecastParts(self.parts, self.part[key], self.position[key])


def gather(parts: Sequence[Forecast], rows: Sequence[np.ndarray]) -> Forecast:
    """Join the forecasts of several folds in row order: ``rows[k]`` are the rows of ``parts[k]``;
    each row is in one.

    Kinds that can be joined keep their kind, and their closed forms.

    Examples
    --------
    >>> from calibrant.core.normal import NormalForecast
    >>> gather(
    ...     [NormalForecast([2.0], [1.0]), NormalForecast([1.0, 3.0], [1.0, 1.0])], [[1], [0, 2]]
    ... ).mean.tolist()
    [1.0, 2.0, 3.0]
    """
    first = parts[0]
    if isinstance(first, SeveralOutputs):
        return SeveralOutputs(
            [gather([f.column(j) for f in parts], rows) for j in range(first.shape[1])]
        )
    order = np.argsort(np.concatenate(rows), kind="stable")
    if type(first).joined is not Forecast.joined and all(type(f) is type(first) for f in parts):
        return first.joined(parts[1:]).select(order)
    part = np.repeat(np.arange(len(parts)), [len(r) for r in rows])
    position = np.concatenate([np.arange(len(r)) for r in rows])
    return ForecastParts(parts, part[order], position[order])
