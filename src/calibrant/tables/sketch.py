"""Fine score histograms from which maps and calibrators by group are fitted.

They summarise a billion rows in megabytes.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from calibrant.calibrators.groups import GroupCalibrator
from calibrant.core.calibrator import Calibrator
from calibrant.core.estimators import require_count
from calibrant.core.kinds import require_calibrator, require_map
from calibrant.core.labels import array_of, places
from calibrant.core.map import Map
from calibrant.core.saving import Saved
from calibrant.errors import InputError
from calibrant.tables.columns import layout
from calibrant.tables.engines.choosing import choose, columns_of, fold
from calibrant.tables.kernel import Kernel
from calibrant.tables.state import GroupState

__all__ = ["ScoreSketch", "sketch"]


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
        chosen = [
            row
            for group, row in self.state.rows.items()
            if (slice_ is None or group[:-1] == _tuple(slice_))
            and (predicted is None or places(group[-1:], [predicted]) == [0])
        ]
        if not chosen:
            raise InputError(
                f"the sketch must hold rows of slice {slice_!r} and predicted class {predicted!r};"
                f" it holds {self.groups[:6]}."
            )
        weight, total, hits = self.state.bins[chosen].sum(axis=0).T
        filled = weight > 0.0
        weight, hits = weight[filled], hits[filled]
        score = np.clip(total[filled] / weight, 0.0, 1.0)
        wrong = np.maximum(weight - hits, 0.0)
        correct = np.repeat([1.0, 0.0], len(score))
        return np.tile(score, 2), correct, np.concatenate([hits, wrong])

    def fit(self, map: Map, *, slice_: Any = None, predicted: Any = None) -> Self:
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
        row, place = np.nonzero(self.state.bins[: len(self.groups), :, 0] > 0.0)
        n, total, hits = self.state.bins[row, place].T
        mass = np.concatenate([hits, n - hits])
        kept = mass > 1e-12 * np.tile(n, 2)
        at = np.tile(row, 2)[kept]
        groups = {
            name: array_of([group[j] for group in self.groups])[at]
            for j, name in enumerate(settings["by"])
        }
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
        1. A histogram takes 24 bytes per bin, 0.8 MB by default. Use fewer bins for thousands of
        slices, and 512 for groups.

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
    module = choose(source, engine)
    kinds = columns_of(source, module)
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
    return ScoreSketch(fold(module, source, Kernel(columns, n_bins, "logit", losses=False)))


def _tuple(slice_: int) -> tuple[int]:
    return tuple(slice_) if isinstance(slice_, tuple | list) else (slice_,)
