"""What an evaluation holds: the sums, and every number that follows from them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from calibrant._kernels.bins import equal_width_edges
from calibrant._kernels.debias import binned_errors
from calibrant._kernels.intervals import quotient, wilson
from calibrant.contracts.sum_metric import SumMetric
from calibrant.errors import InputError
from calibrant.frames.kernel import fine_edges, widths
from calibrant.frames.mass_bins import merged_to_mass
from calibrant.frames.sliced import Sliced, require_width, value_and_limits
from calibrant.metrics.curves.reliability_curve import ReliabilityCurve
from calibrant.metrics.in_the_large import observed_expected_ratio
from calibrant.metrics.proper import brier_score, log_loss
from calibrant.metrics.sums import accuracy

__all__ = ["Evaluation", "named_by_target"]

#: What numbers of the predicted label are called of an event.
EVENT_NAMES = {
    "confidence": "mean_risk", "accuracy": "event_rate", "accuracy_low": "event_rate_low", "accuracy_high": "event_rate_high",
    "ece": "event_ece", "ece_bound": "event_ece_bound", "mce": "event_mce", "brier_score": "event_brier_score",
    "brier_score_low": "event_brier_score_low", "brier_score_high": "event_brier_score_high",
}  # fmt: skip
#: What they are called of forecasts: the interval between the outermost levels, and the gaps of all levels.
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
        Those asked for besides.

    See Also
    --------
    evaluate : makes one.
    worst_slices, monitor : what to ask of it.
    """

    strategy: str = "width"
    n_bins: int = 15
    metrics: tuple[SumMetric, ...] = ()

    def __add__(self, other: Any) -> Any:
        return replace(self, state=self.state + other.state) if isinstance(other, Evaluation) else NotImplemented

    @property
    def target(self) -> Literal["event", "answer"]:
        """Whose probability was counted."""
        return "event" if self.state.settings["mode"] == "event" else "answer"

    def columns(self, *, per_class: bool = False) -> dict[str, Any]:
        """Column name -> array, one entry a slice (and predicted class, with ``per_class``)."""
        return self._columns(lambda g: g, [*self.by, "predicted"]) if per_class else super().columns()

    def calibration_sums(self, part: Callable[..., Any]) -> tuple[list[tuple[Any, ...]], np.ndarray]:
        """(parts in order, (P, B, 3) rows, summed score and hits of each bin), joined over slices of one ``part``."""
        parts, bins, _ = self.state.by(lambda group: part(group[:-1]))
        return parts, bins

    @property
    def _bins(self):
        return {"strategy": self.strategy, "n": self.n_bins}

    def _slice(self, group):
        # The last of a group is the predicted class.
        return group[:-1]

    def _numbers(self, bins, sums):
        require_width(sums, 10 + sum(widths(self.metrics, self.state.settings["classes"])))
        found = _numbers(bins, sums, self.state.settings["mode"] == "score") | self._errors(bins) | self._asked_for(sums)
        return _of_event(found, sums, bins) if self.target == "event" else found

    def _asked_for(self, sums):
        out, rest = {}, sums[:, 10:]
        keys = [metric.key for metric in self.metrics]
        for metric, width in zip(self.metrics, widths(self.metrics, self.state.settings["classes"]), strict=True):
            name = metric.key if keys.count(metric.key) == 1 else repr(metric)
            out |= value_and_limits(name, metric, np.concatenate([sums[:, :1], rest[:, :width]], axis=1))
            rest = rest[:, width:]
        return out

    def reliability_curve(self, *slice_: Any) -> ReliabilityCurve:
        """The reliability curve of one slice, given by its values in the order of ``by``; of all rows when none are given."""
        parts, bins, _ = self.state.by(lambda g: g[:-1] if slice_ else ())
        if tuple(slice_) not in parts:
            raise InputError(f"the slice must be one of those seen, {len(self.by)} values in the order {self.by}; got {slice_}.")
        sums = bins[parts.index(tuple(slice_))]
        if self.strategy == "mass":
            group = merged_to_mass(sums, self.n_bins)[1]
            edges = fine_edges(len(sums))
            used = group >= 0
            lower = np.array([edges[0][group == g].min() for g in range(group.max() + 1)])
            upper = np.array([edges[1][group == g].max() for g in range(group.max() + 1)])
            sums = np.stack([np.bincount(group[used], weights=column[used]) for column in sums.T], axis=1)
        else:
            edges = equal_width_edges(len(sums))
            filled = sums[:, 0] > 0
            lower, upper, sums = edges[:-1][filled], edges[1:][filled], sums[filled]
        n, total, hits = sums.T
        return ReliabilityCurve(lower, upper, n, total / n, hits / n, *wilson(hits, n, 0.95))

    def _errors(self, bins):
        if self.strategy == "width":
            return {name: binned_errors(bins[..., 0], bins[..., 1] - bins[..., 2], norm) for name, norm in (("ece", 1), ("mce", "max"))}
        found = [merged_to_mass(sums, self.n_bins) for sums in bins]
        out = {name: [] for name in ("ece", "ece_bound", "mce")}
        for sums, _, bound in found:
            gap = sums[:, 1] - sums[:, 2]
            out["ece"].append(float(binned_errors(sums[:, 0], gap, 1)))
            out["mce"].append(float(binned_errors(sums[:, 0], gap, "max")))
            out["ece_bound"].append(bound)
        return {name: np.array(values) for name, values in out.items()}


def named_by_target(columns: dict[str, Any], target: Any) -> dict[str, Any]:
    """Columns of numbers of the answer as they are, of any event by its names, or of forecasts by theirs."""
    names = {"answer": {}, "forecast": FORECAST_NAMES}.get(target, EVENT_NAMES) if isinstance(target, str) else EVENT_NAMES
    return {names.get(name, name): values for name, values in columns.items()}


def _of_event(found, sums, bins):
    """The same by the names of an event: how likely it was said to be, how often it happened, and their ratio."""
    totals = np.stack([sums[:, 0], sums[:, 1], bins[..., 1].sum(axis=-1)], axis=-1)
    out = {}
    for name, values in found.items():
        out[EVENT_NAMES.get(name, name)] = values
        if name == f"{accuracy.key}_high":
            out |= value_and_limits(observed_expected_ratio.key, observed_expected_ratio, totals)
    return out


def _numbers(bins, sums, score_only):
    """Name -> array of the metrics that come from sums, with their 95 % intervals."""
    n, right = sums[:, 0], sums[:, 1]
    out = {"n": n, "confidence": quotient(bins[..., 1].sum(axis=-1), n)}
    # Of the score alone, the losses are those of "right" as a binary outcome: another number, so another name.
    names = (f"confidence_{log_loss.key}", f"confidence_{brier_score.key}") if score_only else (log_loss.key, brier_score.key)
    wanted = (
        (accuracy.key, accuracy, [n, right]),
        (names[0], log_loss, [n, *sums[:, 2:6].T]),
        (names[1], brier_score, [n, *sums[:, 6:10].T]),
    )
    for name, metric, totals in wanted:
        out |= value_and_limits(name, metric, np.stack(totals, axis=-1))
    return out
