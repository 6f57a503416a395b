"""Tests of the slices of an evaluation, with correction for their number."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special, stats

from calibrant._numerics.intervals import quotient
from calibrant.core.estimators import require_option
from calibrant.core.extras import import_extra
from calibrant.core.guarantee import plain
from calibrant.core.text_table import MOST_SHOWN, text_table
from calibrant.errors import InputError
from calibrant.monitoring.claims import PitClaim
from calibrant.tables.evaluation import Evaluation, ForecastEvaluation, named_by_target

__all__ = ["SliceTests", "worst_slices"]

#: Bins whose hits vary less than this are tested together, because each bin alone would only add
#: noise.
LEAST_VARIANCE = 3.0


@dataclass(frozen=True, eq=False, repr=False)
class SliceTests:
    """Table with one entry a slice, worst first: by adjusted p-value, then by the size of the gap;
    it displays the first.

    Attributes
    ----------
    by : names of the columns of slices.
    slices : list of tuples, the values.
    n, confidence, accuracy, gap : (S,) arrays; the gap is accuracy minus confidence.
    p_value, adjusted : (S,) for each slice alone, and with correction for all slices.
    flagged : (S,) bool, adjusted <= alpha.
    alpha, method : the options of the test.
    target : "answer", "event" or "forecast". In tables confidence and accuracy are named mean_risk
        and event_rate for an event, and level and coverage for forecasts: those of the interval
        between the outermost levels.
    """

    by: list[Any]
    slices: list[Any]
    n: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray
    gap: np.ndarray
    p_value: np.ndarray
    adjusted: np.ndarray
    flagged: np.ndarray
    alpha: float
    method: str
    target: Literal["answer", "event", "forecast"] = "answer"

    def columns(self) -> dict[str, Any]:
        """Column name -> values, one for each slice."""
        keys = {name: [part[j] for part in self.slices] for j, name in enumerate(self.by)}
        found = {
            name: getattr(self, name)
            for name in ("n", "confidence", "accuracy", "gap", "p_value", "adjusted", "flagged")
        }
        return keys | named_by_target(found, self.target)

    def frame(self) -> Any:
        """Return one row a slice, worst first, as a pandas data frame."""
        return import_extra("pandas", "a data frame of slices", "frames").DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Return the results, ready for JSON."""
        columns = self.columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return plain({"by": self.by, "method": self.method, "alpha": self.alpha, "slices": rows})

    def __repr__(self) -> str:
        columns = self.columns()
        rows = [tuple(map(_cell, row)) for row in zip(*columns.values(), strict=True)]
        flagged = (
            f"{int(self.flagged.sum()):,} of {len(self.slices):,} slices flagged ({self.method},"
            f" alpha {self.alpha:g})"
        )
        return "\n".join([flagged, *text_table([str(name) for name in columns], rows, MOST_SHOWN)])


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def worst_slices(
    evaluation: Evaluation | ForecastEvaluation,
    *,
    by: str | Sequence[str] | None = None,
    alpha: float = 0.05,
    method: Literal["bh", "holm"] = "bh",
    tolerance: float = 0.0,
) -> SliceTests:
    r"""Test the calibration of every slice of an evaluation, with correction for the number of
    slices.

    .. math:: p_b = 2 \min\left\{ P(B(n_b, \bar s_b + \epsilon) \ge h_b),\; P(B(n_b, \bar s_b -
        \epsilon) \le h_b) \right\},
        \qquad p = P\Big(\chi^2_{2m} \ge -2 \sum_b \log p_b\Big)

    over the m bins of a slice. Hits of rows with different scores have thinner tails than the
    binomial distribution B at their mean, one row or more away from it (Hoeffding), so p is valid
    for any number of rows. For forecasts the events are outcomes below the quantile of each level,
    and p is the smallest of the levels' p-values times their number (Bonferroni).

    Parameters
    ----------
    evaluation : Evaluation or ForecastEvaluation
        A result of :func:`calibrant.evaluate`; its sums are enough.
    by : list of str, optional
        Some of the names in ``evaluation.by``, with rows merged over the others; default all.
    alpha : float, default 0.05
    method : {"bh", "holm"}
        "bh" (Benjamini-Hochberg): among the flagged slices, the expected share of false ones is at
        most alpha. "holm": the probability of any false one is at most alpha.
    tolerance : float, default 0
        Gaps up to this count as calibrated.

    Returns
    -------
    SliceTests
        ``.frame()`` and ``.to_dict()`` are sorted worst first.

    Raises
    ------
    InputError

    See Also
    --------
    evaluate : makes its input.
    metrics.worst_group : one metric, for rows in memory.

    Notes
    -----
    Use it on one period of time; for several in succession, use :func:`calibrant.monitor`. Sums of
    weighted rows make it reject too often: the rows must be independent.

    References
    ----------
    Hoeffding, "On the distribution of the number of successes in independent trials", Annals of
    Mathematical Statistics 27, 1956. Benjamini and Hochberg, "Controlling the false discovery
    rate", JRSS B 57, 1995. Holm, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> import pandas as pd
    >>> import calibrant as cb
    >>> logs = pd.DataFrame(
    ...     {
    ...         "p": [0.9] * 200,
    ...         "label": [1] * 90 + [0] * 10 + [1] * 60 + [0] * 40,
    ...         "site": ["a"] * 100 + ["b"] * 100,
    ...     }
    ... )
    >>> found = cb.monitoring.worst_slices(cb.evaluate(logs, probabilities="p", by="site"))
    >>> found.slices, found.flagged.tolist()
    ([('b',), ('a',)], [True, False])
    """
    if not isinstance(evaluation, Evaluation | ForecastEvaluation):
        raise InputError(
            f"evaluation must be a result of calibrant.evaluate; got a {type(evaluation).__name__}."
        )
    require_option("method", method, ("bh", "holm"))
    names = evaluation.by if by is None else [by] if isinstance(by, str) else list(by)
    unknown = [name for name in names if name not in evaluation.by]
    if unknown or not names:
        raise InputError(f"by must be some of {evaluation.by}; got {by!r}.")
    at = [evaluation.by.index(name) for name in names]
    slices, sums = evaluation.calibration_sums(lambda slice_: tuple(slice_[j] for j in at))
    if isinstance(evaluation, ForecastEvaluation):
        p = np.array([_forecast_p_value(each, evaluation.levels, tolerance) for each in sums])
        stated = PitClaim(evaluation.levels).stated(sums)
    else:
        p, stated = np.array([_p_value(each, tolerance) for each in sums]), sums.sum(axis=1)
    adjusted = _adjusted(p, method)
    n, total, hits = stated.T
    confidence, accuracy = quotient(total, n), quotient(hits, n)
    order = np.lexsort([-np.abs(accuracy - confidence), p])
    n, confidence, accuracy, p, adjusted = (
        column[order] for column in (n, confidence, accuracy, p, adjusted)
    )
    slices = [slices[i] for i in order]
    found = n, confidence, accuracy, accuracy - confidence, p, adjusted, adjusted <= alpha
    return SliceTests(names, slices, *found, alpha, method, evaluation.target)


def _p_value(sums: np.ndarray, tolerance: float) -> float:
    """Return the p-value of one slice's bins (B, 3)."""
    share = quotient(sums[:, 1], sums[:, 0])
    small = sums[:, 1] * (1.0 - np.where(sums[:, 0] > 0.0, share, 1.0)) < LEAST_VARIANCE
    n, total, hits = np.concatenate([sums[~small], sums[small].sum(axis=0, keepdims=True)]).T
    n, total, hits = (column[n > 0.0] for column in (n, total, hits))
    score = total / n
    above = _tail(hits, n, np.minimum(score + tolerance, 1.0))
    below = _tail(n - hits, n, np.minimum(1.0 - score + tolerance, 1.0))
    p = np.clip(2.0 * np.minimum(above, below), np.finfo(np.float64).tiny, 1.0)
    return float(stats.chi2.sf(-2.0 * np.log(p).sum(), 2 * len(p)))


def _forecast_p_value(counts: np.ndarray, levels: np.ndarray, tolerance: float) -> float:
    """Return the p-value of one slice's (C, C) counts, over levels by Bonferroni: too many rows
    certainly below a level, or too few possibly below.
    """
    n = np.full(len(levels), counts.sum())
    surely, maybe = (np.cumsum(counts.sum(axis=axis))[:-1] for axis in (0, 1))
    above = _tail(surely, n, np.minimum(levels + tolerance, 1.0))
    below = _tail(n - maybe, n, np.minimum(1.0 - levels + tolerance, 1.0))
    return float(
        np.clip(2.0 * len(levels) * np.minimum(above, below).min(), np.finfo(np.float64).tiny, 1.0)
    )


def _tail(hits: np.ndarray, n: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return P(B(n, rate) >= hits), or 1 if the hits exceed their expectation by less than one,
    where the bound does not hold.
    """
    tail = np.where(
        hits > 0.0,
        special.betainc(np.maximum(hits, 1e-300), np.maximum(n - hits, 0.0) + 1.0, rate),
        1.0,
    )
    return np.where(hits >= n * rate + 1.0, tail, 1.0)


def _adjusted(p: np.ndarray, method: str) -> np.ndarray:
    if method == "bh":
        return stats.false_discovery_control(p, method="bh")
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted
