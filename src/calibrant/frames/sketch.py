"""Score histograms so fine that maps, and calibrators by group, are fitted from them: a billion
rows in megabytes.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from calibrant._support.options import require_count
from calibrant._support.saving import Saved
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.kinds import require_calibrator, require_map
from calibrant.contracts.map import Map
from calibrant.errors import InputError
from calibrant.frames.columns import layout
from calibrant.frames.engines.choosing import choose, columns_of, fold
from calibrant.frames.kernel import Kernel
from calibrant.frames.state import GroupState
from calibrant.labels import array_of, places
from calibrant.wrap.group_calibrator import GroupCalibrator

__all__ = ["ScoreSketch", "sketch"]


class ScoreSketch(Saved):
    """Weighted histogram of the score by slice and predicted class, which is data for every map and
    calibrator by group.

    Sketches add up; ``save`` keeps one, and :func:`calibrant.audit` takes one.

    Attributes
    ----------
    state : GroupState

    See Also
    --------
    frames.sketch : makes one.
    ConfidenceCalibrator, GroupCalibrator : what can be fitted to it.
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
        """(score, correct, weight) that stand for the rows of one slice (None: all) and one
        predicted class (None: all).

        Two points a fine bin, right and wrong, at the mean score of the bin.
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
        """A fitted copy of a calibrator by group, the columns of the slices being its groups.

        Parameters
        ----------
        calibrator : Calibrator, default ``GroupCalibrator()``
            One that uses groups. Each bin of a slice is two rows for it, with and without the
            event, at its mean score. With 512 bins, 0.07 wide in the logit, the probabilities of a
            ``GroupCalibrator`` on a smooth base (temperature, Platt, the identity) were within 1e-3
            of those of the fit of all rows, with 4,096 within 2e-4. Others have no such limit: an
            isotonic base jumps elsewhere (0.01 apart on average, 0.1 at a jump), and
            :class:`Multicalibration` deals its folds over bins in place of rows, so that it differs
            as it does with another ``random_state`` (0.005 apart on average, 0.04 at most, of
            30,000 rows).

        Returns
        -------
        Calibrator
            To be given probabilities and a frame of the same columns, or to
            :func:`calibrant.frames.apply`.

        Raises
        ------
        InputError
            Where there are no slices, or the score is not an event's.
        """
        settings, of = (
            self.state.settings,
            GroupCalibrator() if calibrator is None else require_calibrator(calibrator),
        )
        if settings["mode"] != "event" or not settings["by"]:
            raise InputError(
                "fit_groups takes the sketch of an event by groups; sketch again with"
                ' target="event" and by=, the columns.'
            )
        if not of.tags.takes_groups:
            raise InputError(
                "calibrator must be one that uses groups, such as GroupCalibrator(); got"
                f" {type(of).__name__}."
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
    r"""One pass over a table of any size to a histogram of the score from which every map can be
    fitted.

    Parameters
    ----------
    source, label, probabilities, score, predicted, by, time, every, weight, classes, engine, target
        As in :func:`calibrant.evaluate`. For calibrators by group, ``target="event"`` and ``by=``
        the columns of groups.
    n_bins : int, default 32768
        Bins of equal width in the logit of the score from -18 to 18, and one each for exact 0 and
        1. A histogram takes 24 bytes a bin, 0.8 MB by default: take fewer bins for thousands of
        slices, 512 for groups.

    Returns
    -------
    ScoreSketch

    See Also
    --------
    frames.sample : some rows, for calibrators of whole vectors.
    frames.apply : uses the calibrator that was fitted.

    Notes
    -----
    A point of the sketch is at most a bin's width from its rows, 0.0011 in the logit and 0.00028 in
    the score, and right on average. Platt and kernel density fits are within 1e-3 of the exact fit
    at every score; isotonic regression, which jumps, is so on average.

    Examples
    --------
    >>> import pandas as pd
    >>> from calibrant.maps.platt import Platt
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
            f"by must name columns that are known before anything comes true; {columns.label!r} is"
            " the label; leave it out."
        )
    return ScoreSketch(fold(module, source, Kernel(columns, n_bins, "logit", losses=False)))


def _tuple(slice_):
    return tuple(slice_) if isinstance(slice_, tuple | list) else (slice_,)
