"""Accuracy of predictions over a signal, with the fits of two usual maps."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.bins import equal_mass_groups, group_ends, grouped_sums
from calibrant._numerics.clusters import group_worth
from calibrant._numerics.intervals import wilson
from calibrant.calibrators.maps.isotonic import Isotonic
from calibrant.calibrators.maps.platt import Platt
from calibrant.core.estimators import require_count
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Record
from calibrant.core.kinds import require_signal
from calibrant.core.map import Signal, fitted_signal
from calibrant.core.metric import require_level
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled

__all__ = ["SignalAccuracy", "SignalBins", "SignalFits", "accuracy_over", "signal_accuracy"]

POINTS = 101


@dataclass(frozen=True)
class SignalBins(Record):
    """Range and mean score of each bin of equal weight, the weight of its rows, and the share right
    with Wilson's interval.
    """

    lower: np.ndarray
    upper: np.ndarray
    score: np.ndarray
    n: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class SignalFits(Record):
    """Isotonic regression and a sigmoid of the share right, fitted to all rows, over the range of
    the score.
    """

    score: np.ndarray
    isotonic: np.ndarray
    sigmoid: np.ndarray


@dataclass(frozen=True)
class SignalAccuracy:
    """Bins, fits, and the name of the signal; ``bins.frame()`` and ``fits.frame()``
    return tables.
    """

    name: str
    bins: SignalBins
    fits: SignalFits


def signal_accuracy(
    y_true: ArrayLike,
    P: ArrayLike,
    signal: Any,
    *,
    n_bins: int = 20,
    level: float = 0.95,
    X: Any = None,
    reference: Any = None,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> SignalAccuracy:
    """Compute the share of right predictions over a signal: separation from the training set, label
    stability, or any other.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    signal : Signal
        A fitted one is used as it is, an unfitted one is fitted on these rows (and ``reference``).
    n_bins : int, default 20
        Number of bins of equal weight; tied scores stay together, so there may be fewer.
    level : float, default 0.95
        Level of the intervals.
    X, reference : features of the rows, and (X_train, y_train), for signals that need them.
    sample_weight : (n,), optional
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    SignalAccuracy

    See Also
    --------
    SignalAccuracyDisplay : draws it.
    metrics.reliability_curve : the same for the confidence.

    Notes
    -----
    It shows whether a signal is informative, where accuracy changes, and which map fits. The fits
    use the rows shown, so their closeness to the bins proves nothing.

    References
    ----------
    Chouraqui, Cohen, Einziger and Leman, "Uncertainty estimation based on geometric separation",
    figure 5.

    Examples
    --------
    >>> from calibrant.calibrators.from_probabilities import Margin
    >>> found = signal_accuracy(
    ...     [0, 0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.45, 0.55], [0.6, 0.4]], Margin(), n_bins=2
    ... )
    >>> found.bins.n.tolist(), found.bins.accuracy.tolist()
    ([2.0, 2.0], [0.5, 1.0])
    """
    require_level(level)
    require_signal(signal)
    require_count("n_bins", n_bins)
    record = read_labelled(
        y_true,
        P,
        inputs=inputs,
        classes=classes,
        sample_weight=sample_weight,
        X=X,
        reference=reference,
    )
    if not hasattr(signal, "classes_"):
        signal = fitted_signal(signal, record)
    return accuracy_over(signal, record, n_bins, level)


def accuracy_over(
    signal: Signal,
    record: Predictions,
    n_bins: int = 20,
    level: float = 0.95,
    score: np.ndarray | None = None,
) -> SignalAccuracy:
    """Return the accuracy over a fitted signal for a record with labels; ``score`` are its scores
    if they are known.
    """
    score = signal.score_record(record) if score is None else score
    rows = score, record.correct, record.weights
    return SignalAccuracy(
        type(signal).__name__, _bins(*rows, record.cluster, n_bins, level), _fits(*rows)
    )


def _bins(
    score: np.ndarray,
    correct: np.ndarray,
    weight: np.ndarray,
    cluster: Any,
    n_bins: int,
    level: float,
) -> SignalBins:
    index = equal_mass_groups(score, n_bins, weight)
    count = int(index.max()) + 1
    lower, upper = group_ends(score, index, count)
    n, right, total = grouped_sums(index, count, [correct, score], weight).T
    worth = 1.0 if cluster is None else group_worth(correct, weight, cluster, index, count, level)
    return SignalBins(
        lower, upper, total / n, n, right / n, *wilson(right * worth, n * worth, level)
    )


def _fits(score: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> SignalFits:
    at = np.linspace(score.min(), score.max(), POINTS)
    return SignalFits(
        at,
        *(
            map.fit_checked(score, correct, weight).predict(at)
            for map in (Isotonic(), Platt(scale="probability"))
        ),
    )
