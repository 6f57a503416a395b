"""Results of the evaluation of a table of any size, for classes and for forecasts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from calibrant._numerics.bins import binned_errors, equal_width_edges
from calibrant._numerics.intervals import quotient, wilson
from calibrant.core.forecast_record import read_forecast
from calibrant.core.metric_kinds import SumMetric
from calibrant.errors import InputError
from calibrant.metrics.all_classes import accuracy
from calibrant.metrics.curves.reliability import ReliabilityCurve
from calibrant.metrics.event_calibration import observed_expected_ratio
from calibrant.metrics.forecast_calibration import interval_calibration_error
from calibrant.metrics.forecast_spread import UncertaintyCalibrationError
from calibrant.metrics.proper import brier_score, log_loss
from calibrant.tables.kernel import CELLS, SUMMED, fine_edges, sketched, widths
from calibrant.tables.state import Sliced, require_width, value_and_limits

__all__ = ["Evaluation", "ForecastEvaluation", "merged_to_mass", "named_by_target"]


def merged_to_mass(sums: np.ndarray, n_bins: int) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Merge fine bins (F, 3) into at most ``n_bins`` bins of equal weight.

    Returns (merged sums (B, 3), bin of each fine bin, bound). Each fine bin goes whole to the bin
    that holds the middle of its weight. The exact bins of equal weight would cut each fine bin that
    contains a multiple of w / B; only rows of these cut bins can be in a wrong bin. Moving rows of
    a fine bin [l, u) with r right and q wrong changes two gaps by at most max(q u, r (1 - l)). So
    the error differs from the exact one by at most

    .. math:: \frac{2}{w} \sum_{c\ \mathrm{cut}} \max\left(q_c u_c,\ r_c (1 - l_c)\right)

    which is the ``bound``.
    """
    mass = sums[:, 0]
    filled = np.flatnonzero(mass > 0.0)
    group = np.full(len(mass), -1, dtype=np.intp)
    if len(filled) == 0:
        return np.zeros((0, 3)), group, 0.0
    own, end = mass[filled], np.cumsum(mass[filled])
    whole = end[-1]
    part = np.minimum(((end - 0.5 * own) / whole * n_bins).astype(np.intp), n_bins - 1)
    used, part = np.unique(part, return_inverse=True)
    group[filled] = part
    joined = np.stack(
        [np.bincount(part, weights=sums[filled, j], minlength=len(used)) for j in range(3)], axis=1
    )
    # A fine bin is cut if a multiple of whole / n_bins lies strictly inside it. If the multiple
    # equals an end, no row moves.
    cut = np.ceil(end / whole * n_bins - 1e-9) - np.floor((end - own) / whole * n_bins + 1e-9) > 1.0
    lower, upper = (edge[filled[cut]] for edge in fine_edges(len(mass)))
    right = sums[filled[cut], 2]
    moved = np.maximum((own[cut] - right) * upper, right * (1.0 - lower))
    return joined, group, float(min(2.0 * moved.sum() / whole, 1.0))


#: Columns of the predicted class -> their names for an event.
EVENT_NAMES = {
    "confidence": "mean_risk",
    "accuracy": "event_rate",
    "accuracy_low": "event_rate_low",
    "accuracy_high": "event_rate_high",
    "ece": "event_ece",
    "ece_bound": "event_ece_bound",
    "mce": "event_mce",
    "brier_score": "event_brier_score",
    "brier_score_low": "event_brier_score_low",
    "brier_score_high": "event_brier_score_high",
}
#: The same for forecasts: the interval between the outermost levels, and the gaps of all levels.
FORECAST_NAMES = {"confidence": "level", "accuracy": "coverage", "ece": "quantile_error"}


@dataclass(frozen=True, eq=False)
class Evaluation(Sliced):
    """The metrics of each slice of a table; evaluations of parts of a table add up.

    Attributes
    ----------
    state : GroupState
        Sums by slice, predicted class and bin; ``state.save(path)`` keeps them.
    strategy : {"width", "mass"}
    n_bins : int
    metrics : tuple of SumMetric
        The further metrics that were requested.

    See Also
    --------
    evaluate : returns an Evaluation.
    worst_slices, monitor : analyse it further.
    """

    strategy: str = "width"
    n_bins: int = 15
    metrics: tuple[SumMetric, ...] = ()

    def __add__(self, other: Any) -> Any:
        return (
            replace(self, state=self.state + other.state)
            if isinstance(other, Evaluation)
            else NotImplemented
        )

    @property
    def target(self) -> Literal["event", "answer"]:
        """The probability that was evaluated."""
        return "event" if self.state.settings["mode"] == "event" else "answer"

    def columns(self, *, per_class: bool = False) -> dict[str, Any]:
        """Column name -> array, one entry per slice (per slice and predicted class on request)."""
        return (
            self._columns(lambda g: g, [*self.by, "predicted"]) if per_class else super().columns()
        )

    def calibration_sums(
        self, part: Callable[..., Any]
    ) -> tuple[list[tuple[Any, ...]], np.ndarray]:
        """Sums over slices with the same ``part``: (parts in order, (P, B, 3)).

        The last axis holds the rows, summed score and hits of each bin.
        """
        parts, bins, _ = self.state.by(lambda group: part(group[:-1]))
        return parts, bins

    @property
    def _bins(self) -> dict[str, Any]:
        return {"strategy": self.strategy, "n": self.n_bins}

    def _slice(self, group: tuple[Any, ...]) -> tuple[Any, ...]:
        # The last element of a group is the predicted class.
        return group[:-1]

    def _numbers(self, bins: np.ndarray, sums: np.ndarray) -> dict[str, np.ndarray]:
        require_width(sums, 10 + sum(widths(self.metrics, self.state.settings["classes"])))
        found = (
            _numbers(bins, sums, self.state.settings["mode"] == "score")
            | self._errors(bins)
            | self._asked_for(sums)
        )
        return _of_event(found, sums, bins) if self.target == "event" else found

    def _asked_for(self, sums: np.ndarray) -> Any:
        out, rest = {}, sums[:, 10:]
        keys = [metric.key for metric in self.metrics]
        for metric, width in zip(
            self.metrics, widths(self.metrics, self.state.settings["classes"]), strict=True
        ):
            name = metric.key if keys.count(metric.key) == 1 else repr(metric)
            out |= value_and_limits(
                name, metric, np.concatenate([sums[:, :1], rest[:, :width]], axis=1)
            )
            rest = rest[:, width:]
        return out

    def reliability_curve(self, *slice_: Any) -> ReliabilityCurve:
        """The reliability curve of one slice, given by its values in the order of ``by``.

        Without values it is the curve of all rows.
        """
        state = self.state.merged(lambda g: g[:-1] if slice_ else ())
        parts = state.groups
        if tuple(slice_) not in parts:
            raise InputError(
                f"the slice must be one of the evaluated slices, {len(self.by)} values in the"
                f" order {self.by}; got {slice_}."
            )
        row = parts.index(tuple(slice_))
        sums = state.dense(row, row + 1)[0]
        if self.strategy == "mass":
            group = merged_to_mass(sums, self.n_bins)[1]
            edges = fine_edges(len(sums))
            used = group >= 0
            lower = np.array([edges[0][group == g].min() for g in range(group.max() + 1)])
            upper = np.array([edges[1][group == g].max() for g in range(group.max() + 1)])
            sums = np.stack(
                [np.bincount(group[used], weights=column[used]) for column in sums.T], axis=1
            )
        else:
            edges = equal_width_edges(len(sums))
            filled = sums[:, 0] > 0
            lower, upper, sums = edges[:-1][filled], edges[1:][filled], sums[filled]
        n, total, hits = sums.T
        return ReliabilityCurve(lower, upper, n, total / n, hits / n, *wilson(hits, n, 0.95))

    def _errors(self, bins: np.ndarray) -> dict[str, np.ndarray]:
        if self.strategy == "width":
            return {
                name: binned_errors(bins[..., 0], bins[..., 1] - bins[..., 2], norm)
                for name, norm in (("ece", 1), ("mce", "max"))
            }
        found = [merged_to_mass(sums, self.n_bins) for sums in bins]
        out = {name: [] for name in ("ece", "ece_bound", "mce")}
        for sums, _, bound in found:
            gap = sums[:, 1] - sums[:, 2]
            out["ece"].append(float(binned_errors(sums[:, 0], gap, 1)))
            out["mce"].append(float(binned_errors(sums[:, 0], gap, "max")))
            out["ece_bound"].append(bound)
        return {name: np.array(values) for name, values in out.items()}


def named_by_target(columns: dict[str, Any], target: Any) -> dict[str, Any]:
    """Rename the columns for the target: "answer" keeps them, events and forecasts have their own.

    Any other target is an event.
    """
    names = (
        {"answer": {}, "forecast": FORECAST_NAMES}.get(target, EVENT_NAMES)
        if isinstance(target, str)
        else EVENT_NAMES
    )
    return {names.get(name, name): values for name, values in columns.items()}


def _of_event(
    found: dict[str, np.ndarray], sums: np.ndarray, bins: np.ndarray
) -> dict[str, np.ndarray]:
    """The columns by their names for an event, with the observed-expected ratio added."""
    totals = np.stack([sums[:, 0], sums[:, 1], bins[..., 1].sum(axis=-1)], axis=-1)
    out = {}
    for name, values in found.items():
        out[EVENT_NAMES.get(name, name)] = values
        if name == f"{accuracy.key}_high":
            out |= value_and_limits(observed_expected_ratio.key, observed_expected_ratio, totals)
    return out


def _numbers(bins: np.ndarray, sums: np.ndarray, score_only: bool) -> dict[str, np.ndarray]:
    """Name -> array of the metrics computed from sums, with their 95 % intervals."""
    n, right = sums[:, 0], sums[:, 1]
    out = {"n": n, "confidence": quotient(bins[..., 1].sum(axis=-1), n)}
    # With a score alone, the losses are those of the binary outcome "right". They are different
    # quantities, so they have different names.
    names = (
        (f"confidence_{log_loss.key}", f"confidence_{brier_score.key}")
        if score_only
        else (log_loss.key, brier_score.key)
    )
    wanted = (
        (accuracy.key, accuracy, [n, right]),
        (names[0], log_loss, [n, *sums[:, 2:6].T]),
        (names[1], brier_score, [n, *sums[:, 6:10].T]),
    )
    for name, metric, totals in wanted:
        out |= value_and_limits(name, metric, np.stack(totals, axis=-1))
    return out


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
        return (
            ForecastEvaluation(self.state + other.state, self.n_bins)
            if isinstance(other, ForecastEvaluation)
            else NotImplemented
        )

    @property
    def _bins(self) -> dict[str, Any]:
        return {"strategy": "mass", "n": self.n_bins}

    @property
    def target(self) -> Literal["forecast"]:
        """The kind of prediction that was evaluated."""
        return "forecast"

    @property
    def levels(self) -> np.ndarray:
        """(L,) levels; outcomes were counted in the cells between them."""
        return np.array(self.state.settings["levels"])

    def calibration_sums(
        self, part: Callable[..., Any]
    ) -> tuple[list[tuple[Any, ...]], np.ndarray]:
        """Counts over slices with the same ``part``: (parts in order, (P, C, C)).

        Rows are counted by the cells between the levels that contain their PIT.
        """
        parts, _, sums = self.state.by(part)
        cells = len(self.levels) + 1
        return parts, sums[:, -cells * cells :].reshape(-1, cells, cells)

    def _slice(self, group: tuple[Any, ...]) -> tuple[Any, ...]:
        return group

    def _numbers(self, bins: np.ndarray, sums: np.ndarray) -> dict[str, np.ndarray]:
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
            ence.key: ence.finalise(bins),
            uce.key: uce.finalise(gaps),
            interval_calibration_error.key: interval_calibration_error.finalise(
                rest[:, None, :of_levels]
            ),
        }
