"""Hoki: confidence from the label's stability under noise, calibrated bin by bin until the bins
stay.
"""

from typing import Any, Literal

import numpy as np

from calibrant._numerics import bins
from calibrant.calibrators.label_stability import LabelStability
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.core.estimators import require_count
from calibrant.core.given import Inputs
from calibrant.core.kinds import require_signal
from calibrant.core.map import Signal, fitted_signal
from calibrant.errors import InputError

__all__ = ["HokiCalibrator"]

# Confidences within this distance below a bin edge are on it, so that rounding cannot move a row to
# another bin.
EDGE_TOLERANCE = 1e-12
# A smaller share of kept (or changed) rows in a bin is due to rounding alone.
NEGLIGIBLE = 1e-12


class HokiCalibrator(
    Calibrator,
    examples=[
        {"start": "confidence"},
        {"signal": LabelStability(noise="uniform"), "n_bins": 10},
        {"stop": "unchanged"},
    ],
    family="signal and map",
    use="How often noise on the logits changes the label",
    common=True,
):
    r"""Hoki: in each bin of the confidence, mix the accuracies of kept and changed labels by the
    row's label stability, and iterate.

    .. math:: p_n \leftarrow \alpha_j \gamma_n + \beta_j (1 - \gamma_n), \qquad
        \alpha_j = \frac{\sum_{n \in j} w_n c_n \gamma_n}{\sum_{n \in j} w_n \gamma_n}, \quad
        \beta_j = \frac{\sum_{n \in j} w_n c_n (1 - \gamma_n)}{\sum_{n \in j} w_n (1 - \gamma_n)}

    over the rows n with confidence in bin j, with :math:`\gamma_n` the probability that the label
    survives noise on the logits (:class:`LabelStability`). The updated confidences define new bins
    until a partition recurs. Prediction repeats the iterations.

    Parameters
    ----------
    signal : Signal, optional
        Default ``LabelStability()``, Gaussian noise on the logits at the width that spreads the
        confidences most. Any signal in [0, 1] that is the probability of a kept label works, also
        under transformations of the input.
    n_bins : int, default 15
        Equal-width bins of the confidence.
    max_iter : int, default 20
    start : {"accuracy", "confidence"}
        Start from the overall accuracy (one bin), or from the uncalibrated confidence.
    stop : {"repeated", "unchanged"}
        End when the partition into bins equals any earlier one, or, as in the paper's algorithm 1,
        only the previous one; a cycle of partitions then runs to ``max_iter``.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    signal_ : the fitted signal.
    accuracy_ : accuracy of the rows of the fit.
    alpha_, beta_ : (T, n_bins) of every iteration; nan for an empty bin, which leaves a confidence
        unchanged.
    n_iter_ : int, T
    status_ : "fixed point" (a partition equal to the one before), "cycle" (equal to an earlier one)
        or "max iterations".

    Raises
    ------
    InputError
        For an option out of range, or a signal outside [0, 1].

    See Also
    --------
    LabelStability : the default signal.
    ConfidenceCalibrator : combines any signal and one map.

    Notes
    -----
    At a fixed point the calibration error of the fitted rows on these bins is 0 by construction:
    never report it. Few bins hold rows, so the confidences may be nearly constant; report their
    spread beside any calibration error, and the log loss. Confidences jump at the edges of bins and
    need not rise with the stability. All predicted classes are pooled, as published; with two
    dissimilar classes, such as a rare event, use ``PerClass(HokiCalibrator())``. For a monotone use
    of the same signal with proper scoring use ``ConfidenceCalibrator(signal=LabelStability(),
    map=Isotonic())``.

    Single rows can affect single confidences: leaving out one of 5,000 fitted rows moved the
    calibration error by at most .002 on three networks, but some row's confidence by up to .29.
    Cycling partitions never converge, and the last one is as good as the others; ``status_``
    reports this. They cycled in 2 of 99 splits of 21 models' outputs, where both values of ``stop``
    gave the same confidences, and on another machine in 4 of 52, where they differed by up to .11.
    The calibration error on new rows follows the gap between the
    accuracies on fitted and on new rows (correlation .7 to .8 in simulations; .2 to .3 for
    temperature scaling).

    References
    ----------
    Jang, Ivanov, Lee and Weimer, "Confidence calibration using logits transformations", 2021,
    theorem 1, algorithms 1 and 2. Here the stability is exact, not sampled, and by default a cycle
    of partitions ends the iterations too.

    Examples
    --------
    >>> logits = [[3.0, 0.0], [2.0, 0.0], [0.2, 0.0], [0.0, 0.1]]
    >>> cal = HokiCalibrator(inputs="logit").fit(logits, [0, 0, 1, 0])
    >>> bool(cal.predict_confidence([[3.0, 0.0]]) > cal.predict_confidence([[0.1, 0.0]]))
    True
    """

    alpha_: np.ndarray
    beta_: np.ndarray
    n_iter_: int

    def __init__(
        self,
        *,
        signal: Signal | None = None,
        n_bins: int = 15,
        max_iter: int = 20,
        start: Literal["accuracy", "confidence"] = "accuracy",
        stop: Literal["repeated", "unchanged"] = "repeated",
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.signal: Signal | None = signal
        self.n_bins: int = n_bins
        self.max_iter: int = max_iter
        self.start: Literal["accuracy", "confidence"] = start
        self.stop: Literal["repeated", "unchanged"] = stop

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags; the signal determines the inputs beside P."""
        needs = self._unfitted_signal().tags
        return Tags(
            output="confidence",
            random=needs.random,
            uses_features=needs.uses_features,
            needs_reference=needs.needs_reference,
            label="Hoki",
        )

    def _unfitted_signal(self) -> Any:
        return LabelStability() if self.signal is None else require_signal(self.signal)

    def _fit(self, record: Any) -> None:
        self._check()
        signal = self._unfitted_signal()
        if signal.tags.domain != "unit":
            raise InputError(
                f"HokiCalibrator needs a signal in [0, 1]; got {type(signal).__name__}, which"
                " returns any real score."
            )
        self.signal_: Signal = fitted_signal(signal, record)
        gamma = self.signal_.score_record(record)
        self.accuracy_: float = float(record.weights @ record.correct / record.weights.sum())
        alphas, betas, self.status_ = self._iterate(
            self._first(record), gamma, record.correct, record.weights
        )
        self.alpha_, self.beta_, self.n_iter_ = np.array(alphas), np.array(betas), len(alphas)

    def _check(self) -> None:
        require_count("n_bins", self.n_bins)
        require_count("max_iter", self.max_iter)
        self._option("start", "accuracy", "confidence")
        self._option("stop", "repeated", "unchanged")

    def _first(self, record: Any) -> np.ndarray:
        return (
            np.full(len(record), self.accuracy_) if self.start == "accuracy" else record.confidence
        )

    def _iterate(
        self, p: np.ndarray, gamma: np.ndarray, correct: np.ndarray, weight: np.ndarray
    ) -> tuple[list[np.ndarray], list[np.ndarray], str]:
        """Return the alphas and betas of every iteration (Algorithm 1), and the status."""
        alphas, betas, seen = [], [], []
        for _ in range(self.max_iter):
            index = self._bin(p)
            repeated = [
                np.array_equal(index, earlier)
                for earlier in (seen if self.stop == "repeated" else seen[-1:])
            ]
            if any(repeated):
                return alphas, betas, "fixed point" if repeated[-1] else "cycle"
            seen.append(index)
            alpha, beta = _accuracies(index, self.n_bins, gamma, correct, weight)
            alphas.append(alpha)
            betas.append(beta)
            p = _mix(p, index, alpha, beta, gamma)
        ended = np.array_equal(self._bin(p), seen[-1])
        return alphas, betas, "fixed point" if ended else "max iterations"

    def _predict_confidence(self, record: Any) -> np.ndarray:
        gamma = self.signal_.score_record(record)
        p = self._first(record)
        for alpha, beta in zip(self.alpha_, self.beta_, strict=True):
            p = _mix(p, self._bin(p), alpha, beta, gamma)
        return p

    def _bin(self, p: np.ndarray) -> np.ndarray:
        return bins.equal_width_index(p, self.n_bins, EDGE_TOLERANCE)


def _accuracies(
    index: np.ndarray, n_bins: int, gamma: np.ndarray, correct: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the accuracy of kept and of changed labels in each bin, (n_bins,) each; if one kind is
    missing both are the bin's, and nan if it is empty.
    """
    sums = bins.grouped_sums(
        index,
        n_bins,
        [correct, gamma, correct * gamma, 1.0 - gamma, correct * (1.0 - gamma)],
        weight,
    )
    total, right, kept, kept_right, changed, changed_right = sums.T
    none = np.full(n_bins, np.nan)
    accuracy = np.divide(right, total, out=none.copy(), where=total > 0)
    both = (kept > NEGLIGIBLE * total) & (changed > NEGLIGIBLE * total)
    alpha = np.divide(kept_right, kept, out=accuracy.copy(), where=both)
    beta = np.divide(changed_right, changed, out=accuracy.copy(), where=both)
    return alpha, beta


def _mix(
    p: np.ndarray, index: np.ndarray, alpha: np.ndarray, beta: np.ndarray, gamma: np.ndarray
) -> np.ndarray:
    """Return updated confidences; rows in a bin that was empty in ``fit`` keep theirs."""
    mixed = alpha[index] * gamma + beta[index] * (1.0 - gamma)
    return np.where(np.isnan(mixed), p, np.clip(mixed, 0.0, 1.0))
