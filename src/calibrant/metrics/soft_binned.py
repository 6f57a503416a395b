"""Soft-binned calibration decision loss (SCDL): each score is spread over its two nearest knots."""

from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.bins import equal_width_index, grouped_sums
from calibrant._kernels.thresholds import decision_loss
from calibrant.contracts.tags import Promises
from calibrant.metrics.pair import PairMetric

__all__ = ["SoftBinnedCalibrationDecisionLoss", "soft_binned_calibration_decision_loss"]

#: Finest cells of a state: knots are 2^-j apart, with j at most 10.
FINEST = 10


class SoftBinnedCalibrationDecisionLoss(
    PairMetric,
    name="SCDL",
    key="scdl",
    direction="minimize",
    range=(0.0, 1.0),
    mergeable_=True,
    examples=({"target": "answer"},),
):
    r"""Calibration decision loss of soft bins: each score is spread over its two nearest knots,
    about :math:`n^{-1/3}` apart (SCDL).

    .. math:: \sup_\mu \frac{1}{\max(\mu, 1 - \mu)} \sum_t w_t \left| \bar c_t - \mu \right| 1\{\mu
        \text{ between } \bar s_t
        \text{ and } \bar c_t\}, \quad w_t = \frac1n \sum_i \phi_t(s_i)

    with :math:`\phi_t` the hat function of knot t, and :math:`\bar s_t, \bar c_t` the means of
    scores and hits under these weights. Knots are :math:`2^{-j}` apart, with the j nearest to
    :math:`\frac13 \log_2 n`, at most 10.

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    calibration_decision_loss : the loss of the distinct scores themselves.

    Notes
    -----
    Use it to bound the loss of decision makers who trust the scores, however many distinct values
    they have. Acting on the mean score of a knot drawn by these weights loses at most twice this
    value, for any payoffs in [0, 1]. It is continuous in the scores (the knots' means never change
    their order) and tends to 0 for calibrated ones. Its sums add up exactly, so it has a state of
    fixed size.

    **Derived.** The paper's definition was not available: name and guarantees follow its abstract,
    and the construction is our own, so values may differ from the authors' by constants. It is not
    truthful: coarser scores can lower it.

    References
    ----------
    Bairaktari, Hu, Nguyen and Ullman, "Soft-binned calibration decision loss", 2026 (arXiv
    2605.17749; the abstract alone was read).

    Examples
    --------
    >>> round(soft_binned_calibration_decision_loss([0, 1, 1, 1], [0.4, 0.4, 0.4, 0.4]), 3)
    0.583
    """

    target: Any = "event"

    promises: ClassVar[Promises] = Promises(
        "no", "yes", "yes", "as CDL, for acting on the soft-binned score", derived=True
    )

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        return float(self._finalise(_sums(score, hit, weight, 0, 1)[0]))

    def _value(self, record: Any) -> float:
        return float(self._finalise(self._all_totals(record)))

    def _totals(self, record: Any) -> np.ndarray:
        return self._group_totals(record, 0, 1)[0]

    def _group_totals(self, record: Any, group: np.ndarray | int, n_groups: int) -> np.ndarray:
        score, hit = record.pair(self.target)
        return _sums(score, hit, record.weight, group, n_groups)

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        flat = totals.reshape(-1, *totals.shape[-2:])
        return np.array([_loss(each) for each in flat]).reshape(totals.shape[:-2])


def _sums(
    score: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray | None,
    group: np.ndarray | int,
    n_groups: int,
) -> np.ndarray:
    """Sums by cell of width 2^-FINEST: weight, place in the cell, its square, hits, hits times
    place, (groups, cells, 5).
    """
    cells = 2**FINEST
    cell = equal_width_index(score, cells)
    place = score * cells - cell
    sums = grouped_sums(
        cell + group * cells, n_groups * cells, [place, place * place, hit, hit * place], weight
    )
    return sums.reshape(n_groups, cells, 5)


def _loss(sums: np.ndarray) -> float:
    n = sums[:, 0].sum()
    if n <= 0.0:
        return np.nan
    depth = int(np.clip(round(np.log2(max(n, 1.0)) / 3.0), 0, FINEST))
    mass, score, hits = _coarsened(_knots(*sums.T), FINEST - depth)
    used = mass > 1e-12 * n
    mass, score, hits = mass[used], score[used], hits[used]
    return min(
        decision_loss(np.clip(score / mass, 0.0, 1.0), np.clip(hits / mass, 0.0, 1.0), mass), 1.0
    )


def _knots(
    mass: np.ndarray,
    place: np.ndarray,
    square: np.ndarray,
    hits: np.ndarray,
    hits_place: np.ndarray,
) -> np.ndarray:
    """Sums of weight, score and hits by knot, (3, cells + 1); each row is spread over the two ends
    of its cell.
    """
    edge, width = np.arange(len(mass)) / len(mass), 1.0 / len(mass)
    score = edge * mass + width * place
    right = np.array([place, edge * place + width * square, hits_place])
    left = np.array([mass, score, hits]) - right
    out = np.zeros((3, len(mass) + 1))
    out[:, :-1] = left
    out[:, 1:] += right
    return out


def _coarsened(knots: np.ndarray, times: int) -> np.ndarray:
    """Sums for knots 2^times as far apart: a coarse knot's hat is its own plus half of each
    neighbour's.
    """
    for _ in range(times):
        middle = 0.5 * knots[:, 1::2]
        knots = knots[:, ::2].copy()
        knots[:, :-1] += middle
        knots[:, 1:] += middle
    return knots


soft_binned_calibration_decision_loss: SoftBinnedCalibrationDecisionLoss = (
    SoftBinnedCalibrationDecisionLoss()
)
