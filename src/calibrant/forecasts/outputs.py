"""Several outputs side by side, each a forecast of its own."""

from collections.abc import Sequence

import numpy as np

from calibrant.forecasts.forecast import Forecast

__all__ = ["SeveralOutputs", "join_outputs"]


class SeveralOutputs(Forecast):
    """(n, d) from d forecasts of (n,)."""

    def __init__(self, columns: Sequence[Forecast]) -> None:
        self.columns: list[Forecast] = list(columns)
        self.shape: tuple[int, ...] = (len(self.columns[0]), len(self.columns))

    def _each(self, values):
        return np.stack(list(values), axis=1)

    @property
    def mean(self) -> np.ndarray:
        """Mean of each distribution."""
        return self._each(c.mean for c in self.columns)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each distribution."""
        return self._each(c.std for c in self.columns)

    def _at(self, z):
        z = np.broadcast_to(z, (*self.shape, z.shape[-1]))
        return self._each(c.at(z[:, j]) for j, c in enumerate(self.columns))

    def _score(self, y):
        return self._each(c.score_at(y[:, j]) for j, c in enumerate(self.columns))

    def _log_slope(self, y):
        return self._each(c.log_slope(y[:, j]) for j, c in enumerate(self.columns))

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) of each output's own interval."""
        ends = [c.interval(level) for c in self.columns]
        return self._each(low for low, _ in ends), self._each(high for _, high in ends)

    def _pick(self, key):
        if isinstance(key, tuple):
            return self.columns[key[1]]
        return SeveralOutputs([c.take(key) for c in self.columns])


def join_outputs(columns: Sequence[Forecast], shape: tuple[int, ...]) -> Forecast:
    """The one forecast of an (n,) input as it is, several side by side."""
    return columns[0] if len(shape) == 1 else SeveralOutputs(columns)
