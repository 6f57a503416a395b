"""Score histograms so fine that maps are fitted from them: a billion rows in megabytes."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from calibrant._support.options import require_count
from calibrant._support.saving import Saved
from calibrant.contracts.kinds import require_map
from calibrant.contracts.map import Map
from calibrant.errors import InputError
from calibrant.frames.columns import layout
from calibrant.frames.engines.choosing import choose, columns_of, fold
from calibrant.frames.kernel import Kernel
from calibrant.frames.state import GroupState
from calibrant.labels import places

__all__ = ["ScoreSketch", "sketch"]


class ScoreSketch(Saved):
    """Weighted histogram of the score by slice and predicted class, which is data for every map. Sketches add up; ``save`` keeps one.

    Attributes
    ----------
    state : GroupState

    See Also
    --------
    frames.sketch : makes one.
    ConfidenceCalibrator : what can be fitted to it.
    """

    def __init__(self, state: GroupState) -> None:
        self.state: GroupState = state

    @property
    def groups(self) -> list[tuple[int]]:
        """(slice values..., predicted class) of each histogram."""
        return self.state.groups

    def __add__(self, other: Any) -> Any:
        return ScoreSketch(self.state + other.state) if isinstance(other, ScoreSketch) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else NotImplemented

    def points(self, slice_: Any = None, predicted: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(score, correct, weight) that stand for the rows of one slice (None: all) and one predicted class (None: all).

        Two points a fine bin, right and wrong, at the mean score of the bin.
        """
        chosen = [
            row for group, row in self.state.rows.items()
            if (slice_ is None or group[:-1] == _tuple(slice_)) and (predicted is None or places(group[-1:], [predicted]) == [0])
        ]  # fmt: skip
        if not chosen:
            raise InputError(
                f"the sketch must hold rows of slice {slice_!r} and predicted class {predicted!r}; it holds {self.groups[:6]}."
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
        classes = dict.fromkeys(g[-1] for g in self.groups if slice_ is None or g[:-1] == _tuple(slice_))
        return {name: self.fit(map, slice_=slice_, predicted=name) for name in classes}


def sketch(
    source: Any, *, label: str = "label", probabilities: str | None = None, score: str | None = None, predicted: str | None = None,
    by: tuple[Any, ...] = (), time: Any = None, every: str = "day", weight: np.ndarray | None = None, classes: ArrayLike | None = None,
    n_bins: int = 32_768, engine: str = "auto",
) -> ScoreSketch:  # fmt: skip
    r"""One pass over a table of any size to a histogram of the score from which every map can be fitted.

    Parameters
    ----------
    source, label, probabilities, score, predicted, by, time, every, weight, classes, engine
        As in :func:`calibrant.evaluate`.
    n_bins : int, default 32768
        Bins of equal width in the logit of the score from -18 to 18, and one each for exact 0 and 1. A
        histogram takes 24 bytes a bin, 0.8 MB by default: take fewer bins for thousands of slices.

    Returns
    -------
    ScoreSketch

    See Also
    --------
    frames.sample : some rows, for calibrators of whole vectors.
    frames.apply : uses the calibrator that was fitted.

    Notes
    -----
    A point of the sketch is at most a bin's width from its rows, 0.0011 in the logit and 0.00028 in the score, and right on average.
    Platt and kernel density fits are within 1e-3 of the exact fit at every score; isotonic regression, which jumps, is so on average.

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
        kinds, label=label, probabilities=probabilities, score=score, predicted=predicted, weight=weight, by=by, time=time,
        every=every, classes=classes,
    )  # fmt: skip
    return ScoreSketch(fold(module, source, Kernel(columns, n_bins, "logit", losses=False)))


def _tuple(slice_):
    return tuple(slice_) if isinstance(slice_, tuple | list) else (slice_,)
