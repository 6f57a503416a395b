"""Forecasts in any form with outcomes and weights, validated as one record, and the counts of their
probability integral transforms (PIT) between levels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from calibrant._numerics.bootstrap import halves
from calibrant.core.arrays import ArrayLike, rows_named, text_names, weights
from calibrant.core.forecast import (
    LOG_ROOT_TWO_PI,
    Forecast,
    NormalForecast,
    finite_values,
    require_positive_std,
    require_same_order,
)
from calibrant.core.given import Derived
from calibrant.core.groups import groups_given, take_rows
from calibrant.core.joint_normal import gather
from calibrant.core.quantile_forecast import QuantileForecast, SampleForecast
from calibrant.errors import InputError

__all__ = [
    "PIT_LEVELS",
    "ForecastRecord",
    "FrozenForecast",
    "as_forecast",
    "is_forecast",
    "levels_of",
    "pit_counts",
    "read_forecast",
]


class FrozenForecast(Forecast):
    """Distributions by a frozen continuous distribution of ``scipy.stats`` with arrays over the
    rows as parameters.
    """

    def __init__(self, frozen: Any) -> None:
        if not all(hasattr(frozen, name) for name in ("dist", "args", "kwds", "ppf", "logpdf")):
            raise InputError(
                "a scipy forecast must be a frozen continuous distribution; got"
                f" {type(frozen).__name__}."
            )
        self.frozen: Any = frozen
        self.shape: tuple[int, ...] = np.broadcast_shapes(
            *(np.shape(a) for a in (*frozen.args, *frozen.kwds.values()))
        )
        if len(self.shape) not in (1, 2):
            raise InputError(
                "the parameters of a scipy forecast must be (n,) or (n, d); got shape"
                f" {self.shape}."
            )

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean of each distribution; it may not exist."""
        return np.broadcast_to(np.asarray(self.frozen.mean(), dtype=np.float64), self.shape)

    @cached_property
    def std(self) -> np.ndarray:
        """Standard deviation of each distribution; it may not exist."""
        return np.broadcast_to(np.asarray(self.frozen.std(), dtype=np.float64), self.shape)

    def _at(self, z: np.ndarray) -> np.ndarray:
        z = np.broadcast_to(z, (*self.shape, z.shape[-1]))
        # The last axis first, as the parameters broadcast; each half uses the tail that keeps its
        # digits.
        z = np.moveaxis(z, -1, 0)
        out = np.where(
            z < 0.0,
            self.frozen.ppf(special.ndtr(np.minimum(z, 0.0))),
            self.frozen.isf(special.ndtr(-np.maximum(z, 0.0))),
        )
        return np.moveaxis(out, 0, -1)

    def _score(self, y: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            low, high = self.frozen.logcdf(y), self.frozen.logsf(y)
        return np.where(low < high, special.ndtri_exp(low), -special.ndtri_exp(high))

    def _log_slope(self, y: np.ndarray) -> np.ndarray:
        z, density = self._score(y), self.frozen.logpdf(y)
        with np.errstate(invalid="ignore"):
            # Outside the support z is infinite and the density 0.
            return np.where(np.isneginf(density), np.inf, -0.5 * z * z - LOG_ROOT_TWO_PI - density)

    def _pick(self, key: Any) -> "FrozenForecast":
        def pick(a: np.ndarray | float) -> np.ndarray:
            return np.broadcast_to(np.asarray(a), self.shape)[key]

        kwds = {name: pick(a) for name, a in self.frozen.kwds.items()}
        return FrozenForecast(self.frozen.dist(*(pick(a) for a in self.frozen.args), **kwds))


BLOCK_ROWS = 65_536
IRRATIONAL = float(np.sqrt(0.5))


@dataclass(frozen=True)
class ForecastRecord:
    """Validated forecasts with outcomes.

    Attributes
    ----------
    forecast : Forecast of shape (n,) or (n, d).
    y : float64 of the same shape, or None.
    weight : (n,) positive, or None if every row counts once; rows of weight 0 are dropped.
    kept : (n rows before dropping,) mask of the rows kept, or None.
    names : names of the d outputs, from a frame of the means or of the outcomes; else None.
    cluster : (n,) intp, clusters of dependent rows: intervals and tests then count clusters, not
        rows; or None.
    groups : (n,) labels, or a frame of n rows, for methods that treat groups separately; or None.
    X : (n, ...) features, or a frame of n rows, for methods that use them; or None.
    """

    forecast: Forecast
    y: np.ndarray | None = None
    weight: np.ndarray | None = None
    kept: np.ndarray | None = field(default=None, repr=False)
    names: list[str] | None = field(default=None, repr=False)
    cluster: np.ndarray | None = field(default=None, repr=False)
    groups: Any = field(default=None, repr=False)
    X: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.forecast)

    @cached_property
    def weights(self) -> np.ndarray:
        """(n,) float64, ones without weights."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def shares(self) -> None:
        """None, because regression has no soft labels."""

    @cached_property
    def derived(self) -> Derived:
        """Return a cache for values that several measurements of these rows share."""
        return Derived()

    @cached_property
    def mean(self) -> np.ndarray:
        """Means, which must be finite."""
        mean = self.forecast.mean
        if not np.isfinite(mean).all():
            raise InputError(
                "the forecast must have a finite mean in every row; this distribution has none;"
                " use quantile-based methods."
            )
        return mean

    @cached_property
    def std(self) -> np.ndarray:
        """Standard deviations, which must be finite and positive."""
        std = self.forecast.std
        if np.isnan(std).any() and not isinstance(self.forecast, NormalForecast):
            raise InputError(
                "the forecast must have a standard deviation in every row; the tails of this"
                " distribution are too heavy; use quantile-based methods."
            )
        if not isinstance(self.forecast, NormalForecast):
            require_positive_std(std, "the standard deviation of the forecast")
        return std

    @cached_property
    def error(self) -> np.ndarray:
        """y - mean."""
        return self.y - self.mean

    @cached_property
    def standardised(self) -> np.ndarray:
        """(y - mean) / std."""
        return self.error / self.std

    @cached_property
    def score(self) -> np.ndarray:
        """Normal scores of y."""
        return self.forecast.score_at(self.y)

    @property
    def mark(self) -> np.ndarray:
        """Return (n,) a number that depends on each row's forecast and outcome, by which clusters
        are numbered.
        """
        middle = np.asarray(self.forecast.quantile(0.5), dtype=np.float64)
        # An irrational multiple: with rounded numbers other pairs would have the same mark.
        both = middle if self.y is None else middle - IRRATIONAL * self.y
        return both if both.ndim == 1 else both.sum(axis=1)

    def held(self, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (low, high, whether the outcome is inside) of the intervals of a level."""
        low, high = self.forecast.interval(level)
        return low, high, (low <= self.y) & (self.y <= high)

    def per_row(self, values: Any, name: str = "values") -> np.ndarray:
        """Return values (n rows before dropping,) for the rows kept."""
        values = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
        n = len(self) if self.kept is None else len(self.kept)
        if values.shape != (n,):
            raise InputError(
                f"{name} must have one entry for each of the {n} rows; got shape {values.shape}."
            )
        return values if self.kept is None else values[self.kept]

    def one_output(self) -> "ForecastRecord":
        """Return the record itself; InputError if it has several outputs or no outcomes."""
        if self.y is None or len(self.forecast.shape) != 1:
            raise InputError(
                f"y_true and the forecast must have one output, (n,); got {self.forecast.shape};"
                " pass one column at a time."
            )
        return self

    def other_labels(self, other: "ForecastRecord") -> list[np.ndarray]:
        """Return None: regression has no other labels to list."""
        return []

    def halves(self) -> list["ForecastRecord"]:
        """Split the rows into two records by their content rather than their order; clusters stay
        whole.
        """
        keys = np.column_stack([np.asarray(self.y), self.forecast.mean, self.forecast.std])
        parts = halves(keys, self.weights, self.cluster)
        return [replace(self.take(part > 0.0), weight=part[part > 0.0]) for part in parts]

    def take(self, rows: Any) -> "ForecastRecord":
        """Return the record of some of the rows (indices, mask or slice)."""
        y, weight, cluster = self.y, self.weight, self.cluster
        return replace(
            self,
            forecast=self.forecast.take(rows),
            kept=None,
            y=None if y is None else y[rows],
            weight=None if weight is None else weight[rows],
            cluster=None if cluster is None else cluster[rows],
            groups=self._rows_of(self.groups, rows),
            X=self._rows_of(self.X, rows),
        )

    def _rows_of(self, table: Any, rows: np.ndarray) -> None:
        return table if table is None else take_rows(table, np.arange(len(self))[rows])

    def blocks(self, size: int = BLOCK_ROWS) -> "Iterator[ForecastRecord]":
        """Yield the record in slices of at most ``size`` rows."""
        if len(self) <= size:
            yield self
            return
        for start in range(0, len(self), size):
            yield self.take(slice(start, start + size))

    @property
    def several(self) -> bool:
        """Whether the forecast has several outputs, (n, d)."""
        return len(self.forecast.shape) > 1

    def outputs(self) -> list["ForecastRecord"]:
        """Return one (n,) record for each output."""
        if not self.several:
            return [self]
        columns = range(self.forecast.shape[1])
        return [
            replace(
                self,
                forecast=self.forecast.column(j),
                y=None if self.y is None else self.y[:, j],
                names=None,
            )
            for j in columns
        ]

    @property
    def strata(self) -> np.ndarray:
        """(n,) strata of folds: a single one, so that folds are random."""
        return np.zeros(len(self))

    @property
    def calibrator_params(self) -> dict[str, Any]:
        """Return the settings of a calibrator from the rows of its fit: none."""
        return {}

    def without_features(self) -> "ForecastRecord":
        """Return the record itself, which has no features to drop."""
        return self

    def gathered(self, parts: Sequence[Forecast], rows: Sequence[np.ndarray]) -> Forecast:
        """Join the calibrated forecasts of several fits, ``parts[k]`` of ``rows[k]``."""
        return gather(parts, rows)

    def recalibrated(self, result: Forecast, output: str = "distribution") -> "ForecastRecord":
        """Return the same rows with a calibrated forecast."""
        return replace(self, forecast=result)

    def agrees_with(self, other: "ForecastRecord") -> bool:
        """Return whether both forecasts agree in all rows, up to rounding, in mean, std and 90 %
        intervals.
        """
        said = [
            (one.forecast.mean, one.forecast.std, *one.forecast.interval(0.9))
            for one in (self, other)
        ]
        return all(
            np.allclose(a, b, rtol=1e-9, atol=0.0, equal_nan=True)
            for a, b in zip(*said, strict=True)
        )


def is_forecast(values: Any) -> bool:
    """Return whether an object is a forecast of calibrant or a frozen distribution of
    scipy.stats.
    """
    return isinstance(values, Forecast) or (hasattr(values, "ppf") and hasattr(values, "dist"))


def as_forecast(forecast: Any, std: ArrayLike | None = None) -> Forecast:
    """Return a Forecast itself, or one from (mean, std) or a frozen distribution of scipy.stats."""
    if std is not None:
        return NormalForecast(forecast, std)
    if is_forecast(forecast):
        return forecast if isinstance(forecast, Forecast) else FrozenForecast(forecast)
    if isinstance(forecast, tuple) and len(forecast) == 2:
        return NormalForecast(*forecast)
    raise InputError(
        "a forecast must be (mean, std), QuantileForecast(levels, values), SampleForecast(samples)"
        f" or a frozen scipy distribution; got {type(forecast).__name__}; pass the standard"
        " deviations too."
    )


def read_forecast(
    forecast: Any,
    std: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    groups: Any = None,
    X: Any = None,
) -> ForecastRecord:
    """Check a forecast (and outcomes) and return them as a :class:`ForecastRecord`.

    Parameters
    ----------
    forecast : Forecast, (mean, std), frozen scipy distribution, or mean with ``std``
    std : (n,) or (n, d), optional
    y : (n,) or (n, d) outcomes, optional
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 means no row.
    groups : (n,) labels, (n, c) of them, or a frame of n rows, optional
    X : (n, ...) features, or a frame of n rows, optional

    Raises
    ------
    InputError
        Names the argument, the rule, the value seen and the remedy.

    Examples
    --------
    >>> record = read_forecast([1.0, 2.0], [0.5, 0.5], [1.5, 1.0])
    >>> record.standardised.tolist()
    [1.0, -2.0]
    """
    means = forecast[0] if isinstance(forecast, tuple) and forecast else forecast
    if y is not None:
        require_same_order(y, "y", means, "the forecast")
    names = text_names(means, "the forecast") or text_names(y, "y")
    forecast = as_forecast(forecast, std)
    if y is not None:
        y = finite_values(y, "y")
        if y.shape != forecast.shape:
            raise InputError(
                f"y must have the shape of the forecast, {forecast.shape}; got {y.shape}; check"
                " that both come from the same rows, in the order: (mean, y, std=std) in fit, (y,"
                " mean, std) in metrics."
            )
    weight, kept = weights(sample_weight, len(forecast))
    beside = {"groups": groups_given(groups, len(forecast)), "X": rows_named(X, "X", len(forecast))}
    record = ForecastRecord(forecast, y, weight, names=names, **beside)
    return (
        record
        if kept is None
        else replace(replace(record, weight=None).take(kept), weight=weight, kept=kept)
    )


# -- Counts of PIT values --------------------------------------------------------------------------

#: Levels of the PIT: the median, and the ends of central intervals of 50, 80 and 95 %.
PIT_LEVELS = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975)


def levels_of(forecast: object) -> np.ndarray:
    """Return the levels that separate the PIT of outcomes: those of quantile forecasts, else
    ``PIT_LEVELS``.
    """
    if isinstance(forecast, QuantileForecast) and not isinstance(forecast, SampleForecast):
        return forecast.levels
    return np.array(PIT_LEVELS)


def pit_counts(
    record: ForecastRecord, levels: np.ndarray, group: np.ndarray | None = None, n_groups: int = 1
) -> np.ndarray:
    """Count the rows of each group by the cells between levels that hold the PIT of their outcomes,
    (n_groups, C, C) with C = L + 1.

    Entry (a, b) is the weight of rows whose PIT is in cells a to b. The two differ where an outcome
    equals some of the quantiles of a :class:`QuantileForecast`, which do not determine the
    probability below it.
    probability is below it.

    Parameters
    ----------
    record : ForecastRecord of one output, with outcomes
    levels : (L,) ascending, above 0 and below 1; of a QuantileForecast its own
    group : (n,) numbers of groups, optional

    Returns
    -------
    (n_groups, C, C) float64
        Ties of samples with the outcome are split evenly, in fractions of rows.

    Examples
    --------
    >>> from calibrant.core.forecast_record import read_forecast
    >>> levels = np.array([0.1, 0.5, 0.9])
    >>> pit_counts(read_forecast([0.0, 0.0], [1.0, 1.0], [0.5, 3.0]), levels)[0].diagonal().tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    group = np.zeros(len(record), dtype=np.intp) if group is None else group
    forecast, y, n = record.forecast, np.asarray(record.y), len(levels) + 1
    if isinstance(forecast, SampleForecast):
        return _of_samples(forecast.values, y, levels, group, n_groups, record.weights)
    if isinstance(forecast, QuantileForecast):
        if not np.array_equal(forecast.levels, levels):
            found, wanted = forecast.levels.tolist(), levels.tolist()
            raise InputError(
                f"all quantiles must be at the same levels, {wanted}; got {found}; monitor other"
                " levels separately."
            )
        below, upto = forecast.values < y[:, None], forecast.values <= y[:, None]
        first, last = below.sum(axis=-1), upto.sum(axis=-1)
    else:
        first = last = np.searchsorted(special.ndtri(levels), record.score, side="left")
    counts = np.bincount(
        (group * n + first) * n + last, weights=record.weights, minlength=n_groups * n * n
    )
    return counts.reshape(n_groups, n, n).astype(np.float64)


def _of_samples(
    samples: np.ndarray,
    y: np.ndarray,
    levels: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    weight: np.ndarray,
) -> np.ndarray:
    """An outcome from the distribution of its S samples has each of S + 1 ranks with equal
    probability, and so each rank that it shares with tied samples.
    """
    ranks = np.arange(1, samples.shape[-1] + 1) / (samples.shape[-1] + 1.0)
    first, last = (samples < y[:, None]).sum(axis=-1), (samples <= y[:, None]).sum(axis=-1)
    ends = np.concatenate([[0.0], ranks, [1.0]])
    low, high = ends[first, None], ends[last + 1, None]
    edges = np.concatenate([[0.0], levels, [1.0]])
    share = np.maximum(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0.0) / (
        high - low
    )
    cells = np.zeros((n_groups, len(levels) + 1))
    np.add.at(cells, group, share * weight[:, None])
    return cells[:, None] * np.eye(len(levels) + 1)
