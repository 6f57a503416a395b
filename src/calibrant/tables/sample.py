"""Samples of the rows of a table of any size, to fit calibrators of whole probability vectors."""

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from calibrant.calibrators.multiclass import as_calibrator
from calibrant.core.calibrator import Calibrator
from calibrant.core.estimators import require_count, seeded
from calibrant.core.saving import Saved
from calibrant.errors import InputError
from calibrant.tables.batching import gathered
from calibrant.tables.columns import Layout, layout, numbers
from calibrant.tables.engines.choosing import choose, columns_of, fold
from calibrant.tables.kernel import Kernel, record_of
from calibrant.tables.state import Drawn

__all__ = ["RowSample", "sample"]


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

    def fit(self, calibrator: Calibrator) -> Self:
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
    module = choose(source, engine)
    kinds = columns_of(source, module)
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
        group[0]: total for group, total in zip(counted.groups, counted.bins[:, 0, 0], strict=False)
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
