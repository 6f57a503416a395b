"""Kernels that turn Arrow batches into sums by slice, predicted class and bin."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from calibrant._numerics.bins import equal_width_index, grouped_sums
from calibrant._numerics.intervals import powers
from calibrant._numerics.logistic import ZERO_FLOOR, log_odds, sigmoid
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.domain import Domain
from calibrant.core.forecast import NormalForecast
from calibrant.core.forecast_record import PIT_LEVELS, pit_counts, read_forecast
from calibrant.core.labels import label_key, places
from calibrant.core.metric_kinds import SumMetric
from calibrant.core.predictions import Predictions, read
from calibrant.core.quantile_forecast import QuantileForecast
from calibrant.core.reading import CLASSIFICATION
from calibrant.errors import InputError, naming
from calibrant.metrics.forecast_calibration import (
    interval_calibration_error,
    interval_coverage,
    interval_width,
)
from calibrant.metrics.forecast_scores import (
    coefficient_of_variation,
    continuous_ranked_probability_score,
    mean_absolute_error,
    negative_log_likelihood,
    root_mean_squared_error,
    sharpness,
)
from calibrant.metrics.forecast_spread import ExpectedNormalizedCalibrationError
from calibrant.metrics.proper import brier_score, log_loss
from calibrant.tables.batching import gathered, runs
from calibrant.tables.columns import (
    Layout,
    at_most_one,
    coded,
    distinct,
    event_places,
    numbers,
    pair_of,
)
from calibrant.tables.state import GroupState

__all__ = [
    "SUMMED",
    "ForecastKernel",
    "Kernel",
    "Tally",
    "fine_edges",
    "record_of",
    "sketched",
    "widths",
]

#: Every bin of every group has its place in an array while there are at most this many times more
#: of them than rows in a run of batches.
SPARSEST = 4


class Tally:
    """Sums by group and bin over a run of batches, whose slices are encoded together.

    Parameters
    ----------
    state : GroupState
        The run's sums are moved into it by ``empty``.
    slices : encoded columns, (values, index of each row's value)
    n : int
        The number of the run's rows.
    """

    def __init__(self, state: GroupState, slices: Sequence[Any], n: int) -> None:
        self.state, self.n, self.names = state, n, {}
        self.levels = [values for values, _ in slices]
        self.codes, self.slice = distinct(slices, n)
        self.bins, self.sums = np.zeros((3, 0)), np.zeros((max(state.n_sums - 2, 0), 0))
        self.rows: list[tuple[np.ndarray, ...]] = []

    def add(self, at: slice, rows: "_Rows", bin_: np.ndarray) -> None:
        """Add the rows of a batch, which are at ``at`` in the run, with their bins (n,)."""
        part = self.slice[at] if rows.kept is None else self.slice[at][rows.kept]
        place = [self.names.setdefault(name, len(self.names)) for name in rows.names]
        group = np.array(place)[rows.predicted] * len(self.codes) + part
        n_groups, n_bins = len(self.names) * len(self.codes), self.state.n_bins
        cell, columns = group * n_bins + bin_, [rows.score, rows.hit, *rows.columns]
        if n_groups * n_bins > SPARSEST * self.n:
            weights = np.ones(len(cell)) if rows.weight is None else rows.weight
            self.rows.append((cell, weights, *(column * weights for column in columns)))
            return
        if n_groups > self.sums.shape[1]:
            # New names of classes come last.
            self.bins = np.pad(self.bins, ((0, 0), (0, n_groups * n_bins - self.bins.shape[1])))
            self.sums = np.pad(self.sums, ((0, 0), (0, n_groups - self.sums.shape[1])))
        _add_at(self.bins, cell, [None, *columns[:2]], rows.weight)
        _add_at(self.sums, group, columns[2:], rows.weight)

    def empty(self) -> GroupState:
        """Move the sums into the state, and return it."""
        cell = np.flatnonzero(self.bins[0])
        self._move(cell, self.bins[:, cell], lambda group, _: self.sums[:, group])
        if self.rows:
            cell, *columns = (np.concatenate(column) for column in zip(*self.rows, strict=True))
            cell, index = np.unique(cell, return_inverse=True)

            def summed(columns: Sequence[np.ndarray], index: np.ndarray, n: int) -> np.ndarray:
                sums = [np.bincount(index, column, minlength=n) for column in columns]
                return np.reshape(sums, (len(columns), n))

            self._move(
                cell,
                summed(columns[:3], index, len(cell)),
                lambda group, of_cell: summed(columns[3:], of_cell[index], len(group)),
            )
        return self.state

    def _move(
        self,
        cell: np.ndarray,
        cells: np.ndarray,
        columns: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> None:
        """Add the sums (3, M) of these cells, and the further columns (S - 2, G) of the groups, a
        function of the groups and the index of each cell's group.
        """
        n_bins = self.state.n_bins
        group, of_cell = np.unique(cell // n_bins, return_inverse=True)
        name, part = np.divmod(group, len(self.codes))
        whole = grouped_sums(of_cell, len(group), cells[::2])[:, 1:]
        self.state.add(
            [*self.levels, list(self.names)],
            np.column_stack([self.codes[part], name]),
            of_cell * n_bins + cell % n_bins,
            cells.T,
            np.concatenate([whole, columns(group, of_cell).T], axis=1)[:, : self.state.n_sums],
        )


def _add_at(
    totals: np.ndarray, index: np.ndarray, columns: Sequence[Any], weight: np.ndarray | None
) -> None:
    """Add each weighted column (None: ones) to its row of the totals."""
    for total, column in zip(totals, columns, strict=True):
        if weight is not None:
            column = weight if column is None else column * weight
        if len(total) > len(index):
            np.add.at(total, index, 1.0 if column is None else column)
        else:
            total += np.bincount(index, column, minlength=len(total))


#: The fine bins span -18 to 18 in the logit, up to 1.5e-8 from 0 and 1. The outermost of them also
#: hold the scores beyond, except for exact 0 and 1.
REACH = 18.0


@dataclass(frozen=True)
class _Rows:
    """The quantities of a batch's rows that are summed, (n,) each.

    They are the predicted class's probability, whether it is right, its index among ``names``, and
    the metrics' columns. Rows of weight 0 are left out: ``kept`` masks the others (None: all).
    """

    score: np.ndarray
    hit: np.ndarray
    predicted: np.ndarray
    names: Sequence
    columns: list[Any]
    weight: np.ndarray | None
    kept: np.ndarray | None
    resolution: float


class Kernel:
    """Kernel that sums classification batches; it is pickled and sent to a cluster's workers.

    Parameters
    ----------
    layout : Layout
    n_bins : int
    grid : {"width", "logit"}
        Bins of equal width on [0, 1], or fine bins of equal width in the logit of the score.
    losses : bool
        Whether log loss and Brier score are summed too.
    metrics : tuple of SumMetric
        Further metrics to sum.
    """

    #: The domain whose metrics it can sum.
    domain: ClassVar[Domain] = CLASSIFICATION
    layout: Layout
    n_bins: int
    grid: str
    summed: tuple[SumMetric, ...]

    def __init__(
        self,
        layout: Layout,
        n_bins: int,
        grid: Literal["width", "logit"] = "width",
        losses: bool = True,
        metrics: Sequence[Any] = (),
    ) -> None:
        self.layout, self.n_bins, self.grid = layout, n_bins, grid
        self.summed = ((log_loss, brier_score) if losses else ()) + tuple(metrics)

    def empty(self) -> GroupState:
        """The state of no rows."""
        mode = self.layout.mode if self.layout.mode in ("score", "event") else "probability"
        classes = ("others", self.layout.event) if mode == "event" else self.layout.classes
        settings = {
            "mode": mode,
            "classes": None if classes is None else list(classes),
            "by": list(self.layout.group_names),
            "n_bins": self.n_bins,
            "grid": self.grid,
        }
        if self.summed[2:]:
            settings["metrics"] = [repr(metric) for metric in self.summed[2:]]
        # The sums are: weight, right, four columns of the log loss, four of the Brier score, then
        # the columns of further metrics.
        return GroupState(
            settings,
            self.n_bins,
            2 + sum(widths(self.summed, self.layout.classes)) if self.summed else 0,
        )

    def checked(self, state: GroupState) -> GroupState:
        """The state of all rows; refuse labels whose event is one of several pairs."""
        names = state.levels[-1]
        if self.layout.mode in ("score", "event") and self.layout.predicted is None:
            pairs = [name for name in names if name != self.layout.mode]
            if len(pairs) > 1:
                raise InputError(
                    f"{self.layout.label!r} must hold labels of one pair; it holds those of"
                    f" {', and of '.join(pairs)}; write them alike in every row."
                )
            state.levels[-1] = [self.layout.mode] * len(names)
        return state

    def over(self, batches: Sequence[Any]) -> GroupState:
        """The state of all Arrow record batches."""
        import pyarrow as pa

        _keep_freed_memory()
        state, names = self.empty(), [*self.layout.by, *filter(None, [self.layout.time])]
        for run in runs(gathered(batches)):
            # Naming slices costs more than adding up their rows, so it is done once a run.
            parts = [batch.select(names) for batch in run]
            whole = pa.Table.from_batches(parts).combine_chunks().to_batches()[0] if names else None
            slices = self.layout.slices(whole)
            tally, start = Tally(state, slices, sum(batch.num_rows for batch in run)), 0
            for batch in run:
                at = slice(start, start := start + batch.num_rows)
                naming("sample_weight", "weight")(self._add)(tally, batch, at)
            tally.empty()
        return state

    def _add(self, tally, batch, at):
        weight = None if self.layout.weight is None else numbers(batch, self.layout.weight)
        if weight is not None and not weight.any():
            return
        rows = (
            self._scored(batch, weight)
            if self.layout.mode in ("score", "event")
            else self._classified(batch, weight)
        )
        tally.add(at, rows, self._bin(rows.score, rows.resolution))

    def _bin(self, score, resolution):
        if self.grid == "width":
            return equal_width_index(score, self.n_bins, resolution)
        # The first and the last bin hold exact 0 and 1, which maps treat separately.
        inner = self.n_bins - 2
        place = 1 + np.clip(
            ((log_odds(score) + REACH) * (inner / (2.0 * REACH))).astype(np.intp), 0, inner - 1
        )
        return np.where(score <= 0.0, 0, np.where(score >= 1.0, inner + 1, place))

    def _classified(self, batch, weight):
        record, names = record_of(self.layout, batch, weight)
        record = replace(record, classes=np.array(names, dtype=object))
        parts = [self._block(block) for block in record.blocks()]
        score, hit, predicted, *columns = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        return _Rows(
            score, hit, predicted, names, columns, record.weight, record.kept, record.resolution
        )

    def _block(self, block):
        return (
            block.confidence,
            block.correct,
            block.predicted,
            *(c for metric in self.summed for c in metric.columns_of(block)),
        )

    def _scored(self, batch, weight):
        score = numbers(batch, self.layout.values[0])
        true_names, true = coded(batch, self.layout.label, self.layout.named)
        if self.layout.predicted is None:
            happened = _happened if self.layout.mode == "event" else _right
            hit, pair = happened(true_names, true, self.layout.event)
            named = [" and ".join(pair or [self.layout.mode])]
            said = np.zeros(len(true), dtype=np.intp)
        else:
            named, said = coded(batch, self.layout.predicted, self.layout.named)
            hit = said == np.array(places(true_names, named))[true]
        resolution = arrays.resolution(None, score)
        if not (score.min() >= 0.0 and score.max() <= 1.0):
            score = arrays.scores(at_most_one(score), self.layout.values[0], domain="unit")
        p, hit, (weight, kept) = (
            score.astype(np.float64),
            hit.astype(np.float64),
            arrays.weights(weight, len(score)),
        )
        if kept is not None:
            p, hit, said = p[kept], hit[kept], said[kept]
        columns = []
        if self.summed:
            own = np.abs(1.0 - hit - p)
            seen, unseen = (-np.log(np.maximum(share, ZERO_FLOOR)) for share in (own, 1.0 - own))
            columns = [*powers(seen), unseen, *powers(np.square(1.0 - own)), np.square(own)]
        return _Rows(
            p, hit, said, [_class_name(v) for v in named], columns, weight, kept, resolution
        )


def widths(metrics: Sequence[SumMetric], classes: Sequence[Any] | None) -> list[int]:
    """The number of columns that each metric sums, besides the weight."""
    classes = (0, 1) if classes is None else classes
    record = replace(
        read(np.full((1, len(classes)), 1.0 / len(classes)), [0]),
        classes=np.array(classes, dtype=object),
    )
    return [len(metric.columns_of(record)) for metric in metrics]


def record_of(
    layout: Layout, batch: ArrayLike, weight: np.ndarray | None = None
) -> tuple[Predictions, tuple[Any, ...]]:
    """Return (predictions of a batch, names of the classes).

    The values are not checked yet.
    """
    values = layout.probabilities(batch)
    if layout.classes is not None and values.ndim == 2 and values.shape[1] != len(layout.classes):
        raise InputError(
            f"{layout.values[0]!r} must hold {len(layout.classes)} values per row; it holds"
            f" {values.shape[1]}."
        )
    values_seen, codes = coded(batch, layout.label, layout.named)
    if layout.mode == "event":
        names: tuple[Any, ...] = (0, 1)
        label = _happened(values_seen, codes, layout.event)[0].astype(np.intp)
    else:
        names = layout.classes or tuple(range(values.shape[1]))
        label = _positions(values_seen, codes, names, layout.mode == "second")
    return (
        read(values, label, inputs=layout.inputs, sample_weight=weight, check_values=False),
        names,
    )


def _keep_freed_memory():
    """Make the C library keep freed blocks that are smaller than this one.

    Allocating new ones for every batch takes a third of the time.
    """
    np.empty(2**22 - 2**12)


def fine_edges(n_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) scores of the fine bins.

    The first holds exact 0 and the last exact 1; those between have equal width in the logit.
    """
    cuts = sigmoid(np.linspace(-REACH, REACH, n_bins - 1))[1:-1]
    return np.concatenate([[0.0, 0.0], cuts, [1.0]]), np.concatenate([[0.0], cuts, [1.0, 1.0]])


def _class_name(value):
    """A name of a class that is the same in every table: an integer if the value is one."""
    key = label_key(value)
    return int(key) if isinstance(key, bool) else key


def _happened(values, codes, event):
    """Return (whether the label of each row is the event, (n,); the pair that shows the event)."""
    seen = np.bincount(codes, minlength=len(values)) > 0
    there = [value for value, is_seen in zip(values, seen, strict=True) if is_seen]
    own = np.zeros(len(values), dtype=bool)
    own[seen] = event_places(there, event, spellings=True)
    return own[codes], pair_of(there) if event is None else None


def _right(values, codes, event):
    """``_happened`` for labels that mark the answer as right."""
    try:
        return _happened(values, codes, event)
    except InputError:
        raise InputError(
            "score= without predicted= needs labels that tell whether the answer was right, as 0"
            f" and 1, booleans, or no and yes; got {str(list(values[:6]))[1:-1]}; pass predicted=,"
            " the column of predicted classes."
        ) from None


def _positions(values, codes, names, one_column):
    """Labels as positions among the classes, (n,).

    With one column of risks, no and yes or false and true need no ``classes``.
    """
    label = np.array(places(values, names), dtype=np.intp)[codes]
    if label.min() >= 0:
        return label
    if one_column and list(names) == [0, 1]:
        with suppress(InputError):
            return _happened(values, codes, None)[0].astype(np.intp)
    unknown, order = (
        values[codes[label < 0][0]],
        "with the label of the event last" if one_column else "in column order",
    )
    raise InputError(
        f"labels must be among the classes {list(names)[:6]}; got {unknown!r}; pass classes="
        f" {order}."
    )


#: Column -> metric that is a function of sums over rows. The state holds the sums of all of them,
#: side by side after the weight.
SUMMED = {
    metric.key: metric
    for metric in (
        negative_log_likelihood,
        continuous_ranked_probability_score,
        root_mean_squared_error,
        mean_absolute_error,
        sharpness,
        coefficient_of_variation,
        interval_coverage,
        interval_width,
    )
}
#: Cells per factor of 2 of the std: 4,096 in all. Bin edges are inexact by at
#: most 2 %.
CELLS = 32


def sketched(n_bins: int) -> ExpectedNormalizedCalibrationError:
    """The ENCE, computed from cells of predicted std."""
    return ExpectedNormalizedCalibrationError(n_bins=n_bins, cells=CELLS)


class ForecastKernel:
    """Kernel that sums batches of forecasts; it is pickled and sent to the workers of a cluster.

    Parameters
    ----------
    layout : Layout
        A layout with the mode "forecast".
    n_bins : int
        Bins of the ENCE; the state does not depend on it.
    """

    grid = "std"
    layout: Layout
    n_bins: int

    def __init__(self, layout: Layout, n_bins: int) -> None:
        self.layout, self.n_bins = layout, n_bins

    def empty(self) -> GroupState:
        """The state of no rows; its bins are the ENCE's cells.

        Its sums are the weight, those of each metric, rows by interval level, and rows by PIT.
        """
        record = read_forecast([0.0], [1.0], [0.0])
        widths = sum(len(metric.columns_of(record)) for metric in SUMMED.values())
        settings = {
            "mode": "forecast",
            "by": list(self.layout.group_names),
            "grid": self.grid,
            "cells": CELLS,
            "levels": self.levels.tolist(),
        }
        cells, levels = (
            len(sketched(1).totals_of(record)),
            interval_calibration_error.totals_of(record).shape[1],
        )
        return GroupState(settings, cells, 1 + widths + levels + (len(self.levels) + 1) ** 2)

    @property
    def levels(self) -> np.ndarray:
        """Levels between which outcomes are counted: those of the quantiles, or ``PIT_LEVELS``."""
        return np.array(PIT_LEVELS if self.layout.levels is None else self.layout.levels)

    def over(self, batches: Sequence[Any]) -> GroupState:
        """The state of all Arrow record batches."""
        state = self.empty()
        for batch in gathered(batches):
            naming("sample_weight", "weight")(self._add)(state, batch)
        return state

    def _add(self, state, batch):
        weight = None if self.layout.weight is None else numbers(batch, self.layout.weight)
        if weight is not None and not weight.any():
            return
        *values, y = (numbers(batch, name) for name in (*self.layout.values, self.layout.label))
        forecast = (
            NormalForecast(*values)
            if self.layout.levels is None
            else QuantileForecast(self.levels, np.stack(values, axis=1))
        )
        record = read_forecast(forecast, None, y, sample_weight=weight)
        slices = [(values, record.per_row(code)) for values, code in self.layout.slices(batch)]
        codes, group = distinct(slices, len(record))
        n = len(codes)
        sums = [metric.group_totals_of(record, group, n) for metric in SUMMED.values()]
        levels = interval_calibration_error.group_totals_of(record, group, n)[:, 0]
        ence = sketched(1)
        at, index = np.unique(group * state.n_bins + ence._cell(record), return_inverse=True)
        places = pit_counts(record, self.levels, group, n).reshape(n, -1)
        whole = [sums[0][:, :1], *(each[:, 1:] for each in sums), levels, places]
        state.add(
            [values for values, _ in slices],
            codes,
            at,
            ence._sums(record, index, len(at)),
            np.concatenate(whole, axis=1),
        )
