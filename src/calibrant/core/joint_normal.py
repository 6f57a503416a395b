"""Forecasts of several outputs: joint ones by mean and covariance, several side by side, and rows
gathered from several fits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from calibrant.core.arrays import ArrayLike, to_array, weights
from calibrant.core.forecast import (
    Forecast,
    NormalForecast,
    finite_values,
    require_finite,
    require_level,
)
from calibrant.core.given import PlainRows
from calibrant.errors import InputError

__all__ = [
    "ForecastParts",
    "JointNormalForecast",
    "JointRecord",
    "SeveralOutputs",
    "as_joint",
    "gather",
    "join_outputs",
    "read_joint",
]


#: Minimum ratio of the smallest to the largest eigenvalue of a covariance for an accurate inverse;
#: and maximum asymmetry.
SINGULAR, ASYMMETRIC = 1e-12, 1e-6


class JointNormalForecast:
    r"""Joint normal distributions of d outputs, by mean and covariance.

    .. math:: Y_i \sim N(\mu_i, \Sigma_i), \qquad \Sigma_i = Q_i \, \mathrm{diag}(v_i) \, Q_i^\top

    Parameters
    ----------
    mean : (n, d), in the units of y
    cov : (n, d, d), or (d, d) for all rows; symmetric and positive definite

    Attributes
    ----------
    mean : (n, d)
    cov : (n, d, d)
    shape : (n, d)
    marginals : NormalForecast of shape (n, d)
        Separate forecasts of the outputs, for the metrics and calibrators of one output.
    principal_variance : (n, d)
        Variances along the principal directions, in ascending order.
    directions : (n, d, d)
        Principal directions, in columns, in that order.

    Raises
    ------
    InputError
        When the shapes differ, a value is not finite, or a covariance is not symmetric and positive
        definite (the message names the row).

    See Also
    --------
    NormalForecast : separate outputs.
    CovarianceScaling : calibrates it.
    metrics.energy_score, metrics.ellipse_coverage : evaluate it.

    Examples
    --------
    >>> forecast = JointNormalForecast([[0.0, 0.0]], [[4.0, 0.0], [0.0, 1.0]])
    >>> forecast.distance([[2.0, 1.0]]).tolist(), forecast.marginals.std.tolist()
    ([2.0], [[2.0, 1.0]])
    """

    def __init__(self, mean: ArrayLike, cov: ArrayLike) -> None:
        self.mean: np.ndarray = finite_values(mean, "mean")
        if self.mean.ndim != 2:
            raise InputError(
                f"mean must be (n, d) for joint outputs; got shape {self.mean.shape}; use"
                " NormalForecast for one output."
            )
        self.shape: tuple[int, ...] = self.mean.shape
        n, d = self.shape
        cov = to_array(cov, "cov").astype(np.float64, copy=False)
        if cov.shape not in ((d, d), (n, d, d)):
            raise InputError(
                f"cov must be {(n, d, d)}, or {(d, d)} for all rows, because the mean is {(n, d)};"
                f" got {cov.shape}."
            )
        cov = np.broadcast_to(cov, (n, d, d))
        require_finite(cov, "cov")
        size = np.abs(cov).max(axis=(1, 2))
        off = np.abs(cov - cov.transpose(0, 2, 1)).max(axis=(1, 2)) > ASYMMETRIC * size
        _require_none(off, cov, "symmetric; pass the covariance, not its Cholesky factor")
        self.cov: np.ndarray = 0.5 * (cov + cov.transpose(0, 2, 1))
        self.principal_variance: np.ndarray
        self.directions: np.ndarray
        self.principal_variance, self.directions = np.linalg.eigh(self.cov)
        singular = ~(self.principal_variance[:, 0] > SINGULAR * self.principal_variance[:, -1])
        _require_none(
            singular,
            cov,
            "positive definite; leave out outputs that are functions of others, or add to the"
            " diagonal",
        )

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,} rows of {self.shape[1]} outputs together>"

    @cached_property
    def marginals(self) -> NormalForecast:
        """Return each output's own forecast."""
        return NormalForecast(self.mean, np.sqrt(np.diagonal(self.cov, axis1=1, axis2=2)))

    def along(self, y: ArrayLike) -> np.ndarray:
        """Return (n, d) distances of y from the mean along the principal directions, in the order
        of ``principal_variance``.
        """
        y = np.asarray(y, dtype=np.float64)
        if y.shape != self.shape:
            raise InputError(f"y must have the shape of the forecast, {self.shape}; got {y.shape}.")
        return np.einsum("nij,ni->nj", self.directions, y - self.mean)

    def whitened(self, y: ArrayLike) -> np.ndarray:
        """Return (n, d) errors times the symmetric root of the inverse covariance, which are
        independent standard normal under calibration.
        """
        return np.einsum(
            "nij,nj->ni", self.directions, self.along(y) / np.sqrt(self.principal_variance)
        )

    def distance(self, y: ArrayLike) -> np.ndarray:
        """Return (n,) squared Mahalanobis distances of y, which are chi-squared with d degrees of
        freedom under calibration.
        """
        return (np.square(self.along(y)) / self.principal_variance).sum(axis=1)

    def log_density(self, y: ArrayLike) -> np.ndarray:
        """Return (n,) logarithm of the density at y."""
        return -0.5 * (self.distance(y) + np.log(2.0 * np.pi * self.principal_variance).sum(axis=1))

    def box(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return (low, high), (n, d) each, of boxes that hold all outputs with probability at least
        ``level``, and exactly that for independent outputs.
        """
        require_level(level, usual=0.9)
        # Sidak's inequality: for a normal vector the box is at least as probable as with
        # independent outputs.
        half = -special.ndtri(-0.5 * np.expm1(np.log(level) / self.shape[1])) * self.marginals.std
        return self.mean - half, self.mean + half

    def sample(self, n: int = 1, random_state: int | None = None) -> np.ndarray:
        """Return (n rows, d, n) independent draws."""
        z = np.random.default_rng(random_state).standard_normal((*self.shape, n))
        return self.mean[..., None] + np.einsum(
            "nij,njs->nis", self.directions, np.sqrt(self.principal_variance)[..., None] * z
        )

    def take(self, rows: Any) -> "JointNormalForecast":
        """Return the forecasts of some rows: indices, mask or slice."""
        return self._like(self.mean[rows], self.principal_variance[rows], self.directions[rows])

    def scaled(self, factor: ArrayLike) -> "JointNormalForecast":
        """Return the same means with the variances multiplied by ``factor``: one number, one for
        each direction, (d,), or (d, d).

        The last is the covariance of the ``whitened`` errors; the symmetric roots of each row's
        covariance multiply it from both sides.
        """
        if np.ndim(factor) == 2:
            root = np.einsum(
                "nij,nj,nkj->nik",
                self.directions,
                np.sqrt(self.principal_variance),
                self.directions,
            )
            return JointNormalForecast(
                self.mean, root @ np.asarray(factor, dtype=np.float64) @ root
            )
        return self._like(self.mean, self.principal_variance * factor, self.directions)

    @staticmethod
    def _like(mean: np.ndarray, variance: np.ndarray, axes: np.ndarray) -> "JointNormalForecast":
        out = object.__new__(JointNormalForecast)
        order = np.argsort(variance, axis=1, kind="stable")
        out.principal_variance = np.take_along_axis(variance, order, axis=1)
        out.directions = np.take_along_axis(axes, order[:, None, :], axis=2)
        out.mean, out.shape = mean, mean.shape
        out.cov = np.einsum(
            "nij,nj,nkj->nik", out.directions, out.principal_variance, out.directions
        )
        return out


def _require_none(bad: np.ndarray, cov: np.ndarray, rule: str) -> None:
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        seen = np.array2string(cov[row], precision=4, threshold=20).replace("\n", "")
        raise InputError(f"cov must be {rule}; row {row} is {seen} ({int(bad.sum())} in all).")


@dataclass(frozen=True)
class JointRecord(PlainRows):
    """Validated outcomes of d outputs, with joint forecasts of them.

    Attributes
    ----------
    y : (n, d)
    forecast : JointNormalForecast, or None if draws were passed
    draws : (n, d, m), or None
    member_share : (n, m) shares of the draws of each row, or None if all have equal weight
    """

    y: np.ndarray
    forecast: JointNormalForecast | None
    draws: np.ndarray | None
    member_share: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def mark(self) -> np.ndarray:
        """Return (n,) a number that depends on each row's forecast and outcomes."""
        mean = self.draws.mean(axis=2) if self.forecast is None else self.forecast.mean
        return (mean - 0.5 * self.y).sum(axis=1)

    def _own(self, rows: Any) -> dict[str, Any]:
        return {
            "y": self.y[rows],
            "forecast": None if self.forecast is None else self.forecast.take(rows),
            "draws": None if self.draws is None else self.draws[rows],
            "member_share": None if self.member_share is None else self.member_share[rows],
        }

    @property
    def normal(self) -> JointNormalForecast:
        """The forecast; InputError if draws were passed."""
        if self.forecast is None:
            raise InputError(
                "the forecast must be JointNormalForecast(mean, cov) here; got draws; pass their"
                " mean and covariance."
            )
        return self.forecast


def as_joint(forecast: Any) -> JointNormalForecast:
    """Return a JointNormalForecast itself, or one of (mean, cov)."""
    if isinstance(forecast, JointNormalForecast):
        return forecast
    if isinstance(forecast, tuple) and len(forecast) == 2:
        return JointNormalForecast(*forecast)
    raise InputError(
        "a joint forecast of outputs must be JointNormalForecast(mean, cov) or (mean, cov); got"
        f" {type(forecast).__name__}; a std for each output does not determine their correlations."
    )


def read_joint(
    forecast: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    member_weight: ArrayLike | None = None,
) -> JointRecord:
    """Return the record of a joint forecast, as JointNormalForecast, (mean, cov) or draws (n, d,
    m), and outcomes (n, d); ``member_weight``, (m,) or (n, m), applies to draws.

    Examples
    --------
    >>> read_joint(([[0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]), [[2.0, 1.0]]).normal.distance(
    ...     [[2.0, 1.0]]
    ... ).tolist()
    [4.0]
    """
    draws = None
    if isinstance(forecast, np.ndarray) and forecast.ndim == 3:
        draws = forecast.astype(np.float64, copy=False)
        require_finite(draws, "the draws")
        shape = draws.shape[:2]
        joint = None
        if draws.shape[2] < 2:
            raise InputError(f"draws must be (n, d, m) with m at least 2; got {draws.shape}.")
    else:
        joint = as_joint(forecast)
        shape = joint.shape
    outcomes = finite_values(y, "y")
    if outcomes.shape != shape:
        raise InputError(
            f"y must have the shape of the forecast, {shape}; got {outcomes.shape}; pass all"
            " outputs of the same rows."
        )
    weight, kept = weights(sample_weight, len(outcomes))
    share = None if member_weight is None else _shares(member_weight, draws)
    whole = JointRecord(outcomes, joint, draws, share)
    return replace(whole if kept is None else whole.take(kept), weight=weight, kept=kept)


def _shares(weight, draws):
    """Return (n, m) shares of the members of each row."""
    if draws is None:
        raise InputError(
            "member_weight and estimator apply to draws; leave them out for a normal forecast,"
            " whose score is exact."
        )
    n, _, m = draws.shape
    weight = to_array(weight, "member_weight").astype(np.float64)
    if weight.shape not in ((m,), (n, m)):
        raise InputError(
            f"member_weight must be ({m},) or ({n}, {m}), one for each member; got shape"
            f" {weight.shape}."
        )
    if not (
        np.isfinite(weight).all()
        and (weight >= 0.0).all()
        and ((weight > 0.0).sum(axis=-1) >= 2).all()
    ):
        raise InputError(
            "member_weight must be finite, not below 0, and above 0 for two members of each row;"
            " drop other rows or members."
        )
    return np.broadcast_to(weight / weight.sum(axis=-1, keepdims=True), (n, m))


# -- Forecasts made of parts -----------------------------------------------------------------------


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
    >>> from calibrant.core.forecast import NormalForecast
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
