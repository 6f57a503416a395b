"""Samples of the rows of a table of any size, to fit calibrators of whole probability vectors, and
fine score histograms from which maps and calibrators by group are fitted.

The histograms summarise a billion rows in megabytes.
"""

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant._numerics.bins import grouped_sums
from calibrant.calibrators.groups import GroupCalibrator
from calibrant.calibrators.multiclass import as_calibrator
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator
from calibrant.core.estimators import clone, require_count, seeded
from calibrant.core.kinds import require_calibrator, require_map
from calibrant.core.labels import array_of, places
from calibrant.core.map import Map
from calibrant.core.saving import Saved
from calibrant.errors import InputError
from calibrant.tables.batching import gathered
from calibrant.tables.columns import Layout, layout, numbers
from calibrant.tables.engines.choosing import fold, table_of
from calibrant.tables.kernel import Kernel, record_of
from calibrant.tables.state import Drawn, GroupState

__all__ = ["RowSample", "ScoreSketch", "sample", "sketch"]


class RowSample(Saved):
    """Sampled rows of a table, each weighted by the rows that it represents.

    Attributes
    ----------
    probabilities : (m, K) as in the table, or (m,) for the second class
    labels : (m,) true classes, as positions among ``classes``
    predicted : (m,) predicted classes, likewise
    weight : (m,) weights under which sums over the sample are unbiased for sums over the table
    classes : list of K

    See Also
    --------
    tables.sample : draws a RowSample.
    report : makes a page of its rows.
    """

    probabilities: np.ndarray
    labels: np.ndarray
    predicted: np.ndarray
    weight: np.ndarray
    classes: Any

    def __init__(
        self,
        probabilities: Any,
        labels: Any,
        predicted: Any,
        weight: Any,
        classes: ArrayLike | None,
    ) -> None:
        self.probabilities, self.labels, self.predicted, self.weight, self.classes = (
            probabilities,
            labels,
            predicted,
            weight,
            classes,
        )

    def __len__(self) -> int:
        return len(self.labels)

    def fit(self, calibrator: Calibrator) -> Calibrator:
        """A fitted copy of the calibrator."""
        names = np.array(self.classes)
        # A weight means repetition, so the raw weights would make penalties treat the sample as the
        # whole table. The scaled weights sum to Kish's effective sample size.
        weight = self.weight * (self.weight.sum() / np.square(self.weight).sum())
        return (
            clone(as_calibrator(calibrator))
            .set_params(classes=names)
            .fit(self.probabilities, names[self.labels], sample_weight=weight)
        )


@seeded
def sample(
    source: Any,
    n: int,
    *,
    label: str = "label",
    probabilities: str,
    weight: Any = None,
    classes: Any = None,
    engine: str = "auto",
    random_state: int = 0,
) -> RowSample:
    r"""Draw about ``n`` rows of a table of any size, stratified by predicted class.

    Half of the rows are allotted in proportion to the size of the predicted classes, and half in
    equal parts, so that each of many classes has enough rows for its parameters. The weights make
    sums over the sample unbiased. With :math:`N_c` rows of predicted class c in the table, of which
    :math:`m_c` were drawn,

    .. math:: w_i \frac{N_c}{m_c}, \qquad
        \mathbb{E}\,[m_c] = \min\left(N_c,\ \tfrac{n}{2} \tfrac{N_c}{N} + \tfrac{n}{2}
        \tfrac{1}{K}\right)

    is the weight of a row of weight :math:`w_i`.

    Parameters
    ----------
    source, label, probabilities, weight, classes, engine
        As in :func:`calibrant.evaluate`.
    n : int
        Number of rows, at least twenty per class. The sample size is within a few :math:`\sqrt{n}`
        of it, or smaller if classes have too few rows.
    random_state : int, default 0

    Returns
    -------
    RowSample

    See Also
    --------
    tables.sketch : summarise all rows as a histogram of the score.
    tables.apply : apply the fitted calibrator.

    Notes
    -----
    It takes two passes over the table, one that counts and one that draws. Memory is that of the
    sample. Use it for scalings with many classes. For maps of a score,
    :func:`calibrant.tables.sketch` is more precise, because it uses every row.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from calibrant.calibrators.temperature import TemperatureScaling
    >>> rng = np.random.default_rng(0)
    >>> logs = pd.DataFrame({"p": rng.random(5000)})
    >>> logs["label"] = (rng.random(5000) < logs["p"]).astype(int)
    >>> drawn = sample(logs, 1000, probabilities="p")
    >>> bool(0.8 < drawn.fit(TemperatureScaling()).temperature_ < 1.25), round(drawn.weight.sum())
    (True, 5000)
    """
    require_count("n", n, most=10**12)
    source, module, kinds = table_of(source, engine)
    columns = layout(
        kinds,
        label=label,
        probabilities=probabilities,
        score=None,
        predicted=None,
        weight=weight,
        classes=classes,
    )
    counted: Any = fold(module, source, Kernel(replace(columns, weight=None), 1, losses=False))
    rows = {
        group[0]: total for group, total in zip(counted.groups, counted.cells[:, 0], strict=True)
    }
    drawn: Any = fold(module, source, Sampler(columns, _rates(n, rows), random_state))
    if not drawn.parts:
        raise InputError("the table has no rows; pass a table with rows to draw from.")
    values, labels, predicted, weight = (
        np.concatenate(column) for column in zip(*drawn.parts, strict=True)
    )
    names = columns.classes or tuple(range(values.shape[1]))
    stands_for = np.array([rows.get(name, 0.0) for name in names]) / np.maximum(
        np.bincount(predicted, minlength=len(names)), 1
    )
    return RowSample(values, labels, predicted, weight * stands_for[predicted], list(names))


def _rates(n: int, rows: Any) -> Any:
    """Predicted class -> fraction of its rows to draw."""
    whole = sum(rows.values())
    return {
        name: min(1.0, n / 2 * (1 / whole + 1 / (len(rows) * count)))
        for name, count in rows.items()
    }


class Sampler:
    """Kernel that draws rows from batches; it is pickled and sent to the workers of a cluster."""

    layout: Layout
    rates: dict[int, float]
    seed: int

    def __init__(self, layout: Layout, rates: dict[int, float], seed: int) -> None:
        self.layout, self.rates, self.seed = layout, rates, seed

    def empty(self) -> Drawn:
        """A sample without rows."""
        return Drawn()

    def over(self, batches: Sequence[Any]) -> Drawn:
        """The rows drawn from all Arrow record batches."""
        return Drawn(part for part in map(self._draw, gathered(batches)) if len(part[1]))

    def _draw(self, batch):
        record, names = record_of(self.layout, batch)
        weight = (
            np.ones(len(record))
            if self.layout.weight is None
            else numbers(batch, self.layout.weight).astype(np.float64)
        )
        rate = np.array([self.rates.get(name, 0.0) for name in names])
        # Workers do not know the index of their batch, so the seed includes a checksum of its
        # values, which differ between batches.
        rng = np.random.default_rng(
            [self.seed, zlib.crc32(np.ascontiguousarray(record.values[:256]).tobytes())]
        )
        chosen = np.flatnonzero(rng.random(len(record)) < rate[record.predicted])
        return (
            record.values[chosen],
            record.labels[chosen],
            record.predicted[chosen],
            weight[chosen],
        )


class ScoreSketch(Saved):
    """Weighted histogram of the score by slice and predicted class.

    Every map and every calibrator by group can be fitted to it. Sketches add up, ``save`` writes
    one to a file, and :func:`calibrant.audit` accepts one.

    Attributes
    ----------
    state : GroupState

    See Also
    --------
    tables.sketch : computes a ScoreSketch.
    ConfidenceCalibrator, GroupCalibrator : calibrators that can be fitted to it.
    """

    def __init__(self, state: GroupState) -> None:
        self.state: GroupState = state

    @property
    def groups(self) -> list[tuple[int]]:
        """(slice values..., predicted class) of each histogram."""
        return self.state.groups

    def __add__(self, other: Any) -> Any:
        return (
            ScoreSketch(self.state + other.state)
            if isinstance(other, ScoreSketch)
            else NotImplemented
        )

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else NotImplemented

    def points(
        self, slice_: Any = None, predicted: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(score, correct, weight) that represent the rows of one slice and one predicted class.

        None means all slices or classes. Each fine bin gives two points, one right and one wrong,
        at the mean score of the bin.
        """
        chosen = np.array(
            [
                (slice_ is None or group[:-1] == _tuple(slice_))
                and (predicted is None or places(group[-1:], [predicted]) == [0])
                for group in self.groups
            ],
            dtype=bool,
        )
        if not chosen.any():
            raise InputError(
                f"the sketch must hold rows of slice {slice_!r} and predicted class {predicted!r};"
                f" it holds {self.groups[:6]}."
            )
        row, place = np.divmod(self.state.at, self.state.n_bins)
        used = chosen[row]
        filled, index = np.unique(place[used], return_inverse=True)
        weight, total, hits = grouped_sums(index, len(filled), self.state.cells[used].T)[:, 1:].T
        score = np.clip(total / weight, 0.0, 1.0)
        wrong = np.maximum(weight - hits, 0.0)
        correct = np.repeat([1.0, 0.0], len(score))
        return np.tile(score, 2), correct, np.concatenate([hits, wrong])

    def fit(self, map: Map, *, slice_: Any = None, predicted: Any = None) -> Map:
        """A fitted copy of the map for one slice and predicted class (None: all)."""
        score, correct, weight = self.points(slice_, predicted)
        return clone(require_map(map)).fit(score, correct, sample_weight=weight)

    def fit_per_class(self, map: Any, *, slice_: Any = None) -> Any:
        """Predicted class -> a fitted copy of the map."""
        classes = dict.fromkeys(
            g[-1] for g in self.groups if slice_ is None or g[:-1] == _tuple(slice_)
        )
        return {name: self.fit(map, slice_=slice_, predicted=name) for name in classes}

    def fit_groups(self, calibrator: Calibrator | None = None) -> Calibrator:
        """A fitted copy of a calibrator by group, whose groups are the columns of the slices.

        Parameters
        ----------
        calibrator : Calibrator, default ``GroupCalibrator()``
            A calibrator that uses groups. It is fitted to two rows for each bin of a slice, with
            and without the event, at the mean score of the bin. The fit of a ``GroupCalibrator``
            with a smooth base (temperature, Platt, identity) is close to that of all rows: within
            1e-3 with 512 bins (0.07 wide in the logit), and within 2e-4 with 4,096. Others have no
            such limit. An isotonic base jumps at other scores (0.01 apart on average, 0.1 at a
            jump). :class:`Multicalibration` assigns bins instead of rows to its folds, so it
            differs as it does with another ``random_state`` (of 30,000 rows: 0.005 apart on
            average, 0.04 at most).

        Returns
        -------
        Calibrator
            It predicts from probabilities and a frame with the same group columns, or through
            :func:`calibrant.tables.apply`.

        Raises
        ------
        InputError
            If there are no slices, or the score is not the probability of an event.
        """
        settings, of = (
            self.state.settings,
            GroupCalibrator() if calibrator is None else require_calibrator(calibrator),
        )
        if settings["mode"] != "event" or not settings["by"]:
            raise InputError(
                "fit_groups needs a sketch of an event by groups; sketch again with"
                ' target="event" and by=, the group columns.'
            )
        if not of.tags.takes_groups:
            raise InputError(
                f"calibrator must use groups, as GroupCalibrator() does; got {type(of).__name__}."
            )
        row, (n, total, hits) = self.state.at // self.state.n_bins, self.state.cells.T
        mass = np.concatenate([hits, n - hits])
        kept = mass > 1e-12 * np.tile(n, 2)
        at = np.tile(row, 2)[kept]
        groups = {name: array_of(self.state.column(j))[at] for j, name in enumerate(settings["by"])}
        p, happened = (
            np.tile(np.clip(total / n, 0.0, 1.0), 2)[kept],
            np.repeat([1, 0], len(n))[kept],
        )
        return (
            clone(of)
            .set_params(inputs="probability")
            .fit(p, happened, sample_weight=mass[kept], groups=groups)
        )


def sketch(
    source: Any,
    *,
    label: str = "label",
    probabilities: str | None = None,
    score: str | None = None,
    predicted: str | None = None,
    by: tuple[Any, ...] = (),
    time: Any = None,
    every: str = "day",
    weight: np.ndarray | None = None,
    classes: ArrayLike | None = None,
    n_bins: int = 32_768,
    engine: str = "auto",
    target: Any = None,
) -> ScoreSketch:
    r"""Summarise a table of any size, in one pass, as a histogram to which every map can be fitted.

    Parameters
    ----------
    source, label, probabilities, score, predicted, by, time, every, weight, classes, engine, target
        As in :func:`calibrant.evaluate`. For calibrators by group, pass ``target="event"`` and the
        group columns as ``by=``.
    n_bins : int, default 32768
        Bins of equal width in the logit of the score from -18 to 18, and one each for exact 0 and
        1. A histogram takes 32 bytes for each bin with rows, at most 1 MB by default. Use 512 for
        groups.

    Returns
    -------
    ScoreSketch

    See Also
    --------
    tables.sample : draw rows for calibrators of whole probability vectors.
    tables.apply : apply the fitted calibrator.

    Notes
    -----
    A point of the sketch differs from its rows by at most a bin's width, 0.0011 in the logit and
    0.00028 in the score, and equals their mean. Platt and kernel density fits are within 1e-3 of
    the exact fit at every score. Isotonic regression, which jumps, is within 1e-3 on average.

    Examples
    --------
    >>> import pandas as pd
    >>> from calibrant.calibrators.maps.sigmoids import Platt
    >>> logs = pd.DataFrame({"p": [0.1, 0.4, 0.6, 0.8, 0.9], "label": [0, 1, 0, 1, 1]})
    >>> sketch(logs, probabilities="p").fit(Platt()).predict([0.9]).round(3).tolist()
    [0.847]
    """
    require_count("n_bins", n_bins, 3)
    source, module, kinds = table_of(source, engine)
    columns = layout(
        kinds,
        label=label,
        probabilities=probabilities,
        score=score,
        predicted=predicted,
        weight=weight,
        by=by,
        time=time,
        every=every,
        classes=classes,
        target=target,
    )
    if columns.label in columns.by:
        raise InputError(
            f"by must name columns that are known before the outcome; {columns.label!r} is the"
            " label; leave it out."
        )
    kernel = Kernel(columns, n_bins, "logit", losses=False)
    return ScoreSketch(kernel.checked(fold(module, source, kernel)))


def _tuple(slice_: int) -> tuple[int]:
    return tuple(slice_) if isinstance(slice_, tuple | list) else (slice_,)
