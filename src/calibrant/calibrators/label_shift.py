"""Label shift: the correction by weights of class frequencies that differ at use, and the class
rates of unlabelled rows: shrunk estimates, intervals, and a test of what they assume.

The frequencies at use are estimated from unlabelled predictions.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy

from calibrant._numerics.bootstrap import resample_weights
from calibrant._numerics.fixed_order import sum_rows
from calibrant._numerics.logistic import ZERO_FLOOR, log_softmax, softmax
from calibrant.core import arrays
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import require_fitted
from calibrant.core.estimators import BaseEstimator
from calibrant.core.expression import Expression
from calibrant.core.given import Inputs
from calibrant.core.labels import array_of, encode_labels, is_missing
from calibrant.core.metric import require_level
from calibrant.core.predictions import read
from calibrant.core.reading import read_labelled
from calibrant.core.saving import Saved
from calibrant.errors import FitWarning, InputError, SparseDataWarning, naming, warn

__all__ = [
    "LabelShift",
    "MixtureGaps",
    "believed",
    "believed_change",
    "likely_rates",
    "resampled_rates",
]


#: Prior weight of the labelled class rates, in square roots of their rows; it keeps the rates of
#: weak models and few labels inside (0, 1).
PRIOR_ROWS = 1.0
#: A difference between mean predictions counts only beyond this multiple of its expected square. Of
#: 2 and 3, on 300 labelled rows of four laws without a shift, the one that made fewer than 5 % of
#: the runs worse by half a percent.
BY_CHANCE = 3.0
#: Smaller squares of differences between means are rounding errors.
ROUNDING = 1e-20
STEPS = 200
#: Up to this many classes the test looks at each probability, beyond at the largest of each row.
FEW_CLASSES = 20


def believed(chance: float, square: float) -> float:
    """Return the part of a change that is not expected by chance, by James and Stein's factor of
    its expected and its observed square.
    """
    return max(0.0, 1.0 - BY_CHANCE * chance / square) if square > ROUNDING else 0.0


def likely_rates(
    Q: np.ndarray,
    counts: np.ndarray,
    own: np.ndarray,
    weight: np.ndarray,
    share: np.ndarray | None = None,
) -> np.ndarray:
    """Estimate the class rates (K,) of unlabelled rows with calibrated probabilities Q, (m, K),
    from labelled class ``counts``, (K,).

    Expectation maximisation finds the most likely rates, with those of the n labelled rows as a
    prior of sqrt(n) rows; the m rows count as n at most. Their log-ratio to the labelled rates is
    then shrunk by the part expected by chance (James and Stein's factor): ``own``, (n, K), are the
    labelled rows' probabilities, whose means differ from those of Q only by chance if no rate has
    changed. ``share`` (m,) are weights that sum to 1, by default equal ones.
    """
    n = counts.sum()
    share = np.full(len(Q), 1.0 / len(Q)) if share is None else share
    seen = (counts + 0.5) / (n + 0.5 * len(counts))
    rows, prior, q = min(float(len(Q)), n), PRIOR_ROWS * n**0.5, seen
    for _ in range(STEPS):
        moved = Q * (q / seen)
        found = share @ (moved / moved.sum(axis=1, keepdims=True))
        q = (prior * seen + rows * found) / (prior + rows)
    return counts * (q / seen) ** believed_change(Q, own, weight, seen, share)


def believed_change(
    Q: np.ndarray, own: np.ndarray, weight: np.ndarray, rates: np.ndarray, share: np.ndarray
) -> float:
    """Return the shrinkage factor of a change in rates, from 0 to 1: 1 - 3 (expected square) /
    (observed square).
    """
    n = weight.sum()
    mean = weight @ own / n
    square = float(((share @ Q - mean) ** 2 / rates).sum())
    chance = float(((weight @ (own - mean) ** 2 / n * (1.0 / n + 1.0 / len(Q))) / rates).sum())
    return believed(chance, square)


@dataclass(frozen=True)
class MixtureGaps:
    """Gaps between the distribution of unlabelled scores and the mixture of those of each class.

    Attributes
    ----------
    own : (n, K) probabilities of the labelled rows
    labels : (n,)
    other : (m, K) probabilities of the unlabelled rows
    """

    own: np.ndarray
    labels: np.ndarray
    other: np.ndarray

    @cached_property
    def _columns(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The order of all rows by each score, and the last place of each value."""
        both = np.concatenate([self.own, self.other])
        few = both.shape[1] <= FEW_CLASSES
        found = list[tuple[np.ndarray, np.ndarray]]()
        for score in both.T[1:] if both.shape[1] == 2 else both.T if few else [both.max(axis=1)]:
            order = np.argsort(score, kind="stable")
            found.append((order, np.append(np.diff(score[order]) > 0.0, True)))
        return found

    def of(self, weight: np.ndarray, use_weight: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return the gaps of the distribution functions, at all values of all scores."""
        held = np.bincount(self.labels, weight, len(q))
        mixed = weight * (q / np.where(held > 0.0, held, 1.0))[self.labels]
        mass = np.concatenate([-mixed / mixed.sum(), use_weight / use_weight.sum()])
        return np.concatenate([np.cumsum(mass[order])[last] for order, last in self._columns])


def resampled_rates(
    gaps: MixtureGaps,
    weight: np.ndarray,
    use_weight: np.ndarray,
    q: np.ndarray,
    estimate: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    level: float,
    n_resamples: int,
) -> tuple[Any, Any, float]:
    """Return (low (K,), high (K,), p-value) by a bootstrap of the labelled and the unlabelled rows.

    ``estimate(weight, use_weight)`` are the rates of a resample. The p-value is of the largest gap
    of the mixture at the rates q, among the largest changes of the gaps in resamples.
    """
    rng, found, beyond = np.random.default_rng(0), list[np.ndarray](), 0
    here = gaps.of(weight, use_weight, q)
    largest = np.abs(here).max()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(n_resamples):
            drawn = resample_weights(weight, rng), resample_weights(use_weight, rng)
            found.append(estimate(*drawn))
            beyond += np.abs(gaps.of(*drawn, found[-1]) - here).max() >= largest
    low, high = np.quantile(found, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
    return low, high, (1.0 + beyond) / (1.0 + n_resamples)


#: Beyond this condition number of the confusion matrix its solution is unreliable.
ILL_CONDITIONED = 100.0
#: Bounds of the logarithm of the inverse temperature of "em".
LOG_BETA_BOUND = np.log(1e3)


class LabelShift(Saved, BaseEstimator):
    r"""Weights that change the class frequencies p of the calibration set into those of the use
    set, q.

    .. math:: w_i = q_{y_i} / p_{y_i}, \qquad P'_k = \frac{P_k q_k / p_k}{\sum_j P_j q_j / p_j}

    Weights apply by *true* class: as ``sample_weight`` of any calibrator, or on whole vectors that
    are already calibrated. The method assumes that each class looks the same in both sets, and only
    their frequencies differ.

    Parameters
    ----------
    frequencies : (K,) array, "em", "shrunk" or "bbse", default "em"
        The frequencies q, in column order (counts work too), or their estimation from unlabelled
        predictions of the use set. "em": maximum likelihood, after calibrating P with one
        temperature and a bias for each class. "shrunk": likewise, shrunk to p by the part of the
        change that is expected by chance. "bbse": from the frequency of each predicted class,
        by solving :math:`\sum_k \Pr(\hat y = j, y = k)\, w_k = \Pr_{use}(\hat y = j)`, clipped at
        0.
    level : float, default 0.95
        The level of the intervals of the frequencies.
    intervals : bool, default False
        Whether to compute the intervals, and the test of the assumption, from resamples of the
        labelled and the unlabelled rows.
    n_resamples : int, default 1000
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    calibration_frequencies_, frequencies_ : (K,) p and q.
    weights_ : (K,) q / p; 1, which changes nothing, for a class absent from the calibration set.
    condition_ : float, condition number of the matrix of "bbse"; nan otherwise. A large one means
        that classes are confused so much that q is little more than noise.
    low_, high_ : (K,) intervals of q, with ``intervals``.
    p_value_ : float
        Test of the assumption, with ``intervals``: the largest gap between the distribution
        functions of scores of the use set and of the mixture of classes at q.
    slope_ : float
        With labels of the use set, the slope s of :math:`P'_k \propto q_k (P_k / p_k)^s`, shrunk to
        1; else 1.
    status_ : "given", "converged", "max steps", or "ill-conditioned".

    See Also
    --------
    AutoCalibrator : fit it first, then shift its predictions.

    Notes
    -----
    Use it when class rates differ from those of the calibration set, because confidence depends on
    them. "em" is more accurate if P can be calibrated, "bbse" needs only the predicted labels.
    "shrunk" changes nothing where the change is expected by chance. A small ``p_value_`` means
    that a class is new, or looks different: then do not use it. A slope needs labels:
    :math:`P'_k \propto P_k^2 / p_k` is no correction of frequencies, but a slope of 2.

    References
    ----------
    Saerens et al., "Adjusting the outputs of a classifier to new a priori probabilities", Neural
    Computation 2002. Azizzadenesheli et al., "Regularized learning for domain adaptation under
    label shifts", ICLR 2019. Lipton et al., "Detecting and correcting for label shift with black
    box predictors", ICML 2018. Alexandari et al., "Maximum likelihood with bias-corrected
    calibration is hard-to-beat at label shift adaptation", ICML 2020.

    Examples
    --------
    >>> P, y = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]], [0, 0, 1, 1]
    >>> shift = LabelShift([3, 1]).fit(P, y)
    >>> shift.weights_.tolist(), shift.sample_weight(y).tolist()
    ([1.5, 0.5], [1.5, 1.5, 0.5, 0.5])
    >>> shift.predict_proba([[0.5, 0.5]]).tolist()
    [[0.75, 0.25]]
    """

    classes_: np.ndarray
    low_: np.ndarray
    high_: np.ndarray
    p_value_: float

    def __init__(
        self,
        frequencies: Any = "em",
        *,
        level: float = 0.95,
        intervals: bool = False,
        n_resamples: int = 1000,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        self.frequencies: Any = frequencies
        self.level: float = level
        self.intervals: bool = intervals
        self.n_resamples: int = n_resamples
        self.inputs: Inputs = inputs
        self.classes: ArrayLike | None = classes

    def fit(
        self,
        P: ArrayLike,
        y: ArrayLike,
        P_use: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        use_weight: ArrayLike | None = None,
        y_use: ArrayLike | None = None,
    ) -> Self:
        """Estimate the weights from predictions and labels.

        Parameters
        ----------
        P : (n, K), or (n,) for binary: predictions on the calibration set
        y : (n,) its labels
        P_use : (m, K) or (m,), predictions on the use set, unlabelled; not needed if the
            frequencies are passed.
        sample_weight, use_weight : (n,), (m,), optional
            Weight 2 means the row twice, weight 0 no row.
        y_use : (m,), optional
            Labels of the use set, None or NaN where missing, for ``slope_``.

        Returns
        -------
        self
        """
        record = read_labelled(
            y, P, inputs=self.inputs, classes=self.classes, sample_weight=sample_weight, called="y"
        )
        self.classes_, K = record.classes, record.n_classes
        counts = np.bincount(record.labels, weights=record.weights, minlength=K)
        self.calibration_frequencies_: np.ndarray = counts / counts.sum()
        self.condition_: float = float("nan")
        self.slope_: float = 1.0
        use = None
        if isinstance(self.frequencies, str):
            use = self._read_use(P_use, use_weight)
            weights = self._estimated(record, use)
        else:
            q = _checked(self.frequencies, K)
            self.status_: str = "given"
            weights = np.divide(
                q, self.calibration_frequencies_, out=np.ones(K), where=counts > 0.0
            )
        self._keep(weights, counts)
        if use is not None and self.intervals:
            self._limits(record, use)
        if y_use is not None:
            use = self._read_use(P_use, use_weight) if use is None else use
            self.slope_ = self._fitted_slope(use, y_use)
        return self

    def _read_use(self, P_use: ArrayLike | None, use_weight: ArrayLike | None) -> Any:
        if isinstance(self.frequencies, str) and self.frequencies not in ("em", "shrunk", "bbse"):
            raise InputError(
                'frequencies must be "em", "shrunk", "bbse" or one number for each class; got'
                f" {self.frequencies!r}."
            )
        if P_use is None:
            raise InputError(
                f"frequencies={self.frequencies!r} needs P_use, the predictions on the use set; got"
                " None."
            )
        with naming("P", "P_use"), naming("sample_weight", "use_weight"):
            use = read(P_use, inputs=self.inputs, classes=self.classes_, sample_weight=use_weight)
        if use.n_classes != len(self.classes_):
            raise InputError(
                f"P_use must have the {len(self.classes_)} columns of P; got {use.n_classes}."
            )
        return use

    def _estimated(self, record: Any, use: Any) -> np.ndarray:
        if self.frequencies != "bbse":
            given, target = (r.above(record.smallest) for r in (record, use))
            beta, bias = _fit_bias_temperature(given.logits, record.labels, record.weights)
            own, other = (softmax(beta * r.logits + bias) for r in (given, target))
            share, p = use.weights / use.weights.sum(), record.weights @ own / record.weights.sum()
            weights, self.status_ = _maximum_likelihood(other, share, p)
            if self.status_ != "converged":
                warn(
                    "the likelihood of the class frequencies had not converged after 1,000 steps.",
                    FitWarning,
                )
            if self.frequencies == "shrunk":
                weights = weights ** believed_change(other, own, record.weights, p, share)
            return weights
        K = record.n_classes
        joint = np.bincount(
            record.predicted * K + record.labels, weights=record.weights, minlength=K * K
        ).reshape(K, K)
        shares = np.bincount(use.predicted, weights=use.weights, minlength=K) / use.weights.sum()
        present = joint.sum(axis=0) > 0.0
        joint = joint[:, present] / joint.sum()
        self.condition_ = float(np.linalg.cond(joint / joint.sum(axis=0)))
        weights = np.ones(K)
        weights[present] = np.maximum(np.linalg.lstsq(joint, shares, rcond=None)[0], 0.0)
        self.status_ = "converged" if self.condition_ <= ILL_CONDITIONED else "ill-conditioned"
        if self.status_ != "converged":
            warn(
                f"the confusion matrix has condition number {self.condition_:.3g}: its classes are"
                ' confused too much for "bbse" to estimate their frequencies; use "em", or pass'
                " the frequencies.",
                FitWarning,
            )
        return weights

    def _keep(self, weights: np.ndarray, counts: np.ndarray) -> None:
        """Store the weights, scaled so that q sums to 1 over the classes of the calibration set;
        absent classes are ignored.
        """
        absent = counts == 0.0
        weights = np.where(absent, 1.0, weights)
        total = self.calibration_frequencies_ @ weights
        self.weights_: np.ndarray = np.where(absent, 1.0, weights / total if total > 0.0 else 1.0)
        self.frequencies_: np.ndarray = self.calibration_frequencies_ * self.weights_
        if absent.any():
            named = [str(c) for c in self.classes_[absent][:6]]
            warn(
                f"{int(absent.sum())} classes are absent from the calibration set"
                f" ({', '.join(named)}): no weight can give them rows.",
                SparseDataWarning,
            )

    def _limits(self, record: Any, use: Any) -> None:
        """Store the intervals of the frequencies, and the test of the assumption."""
        require_level(self.level)
        K, kept = record.n_classes, (self.status_, self.condition_)

        def estimate(weight: np.ndarray, use_weight: np.ndarray) -> np.ndarray:
            drawn = replace(record, weight=weight), replace(use, weight=use_weight)
            rates = np.bincount(record.labels, weight, K) * self._estimated(*drawn)
            return rates / rates.sum()

        gaps = MixtureGaps(record.probabilities, record.labels, use.probabilities)
        self.low_, self.high_, self.p_value_ = resampled_rates(
            *(gaps, record.weights, use.weights, self.frequencies_, estimate),
            level=self.level,
            n_resamples=self.n_resamples,
        )
        self.status_, self.condition_ = kept

    def _fitted_slope(self, use: Any, y_use: Any) -> float:
        """Return the most likely slope of the labelled rows of the use set, shrunk to 1."""
        listed = use.per_row(np.array(array_of(y_use).tolist(), dtype=object)).tolist()
        rows = np.flatnonzero([not is_missing(one) for one in listed])
        if not len(rows):
            return 1.0
        labels, _ = encode_labels([listed[i] for i in rows], self.classes_, None, use.n_classes)
        z, log_q = self._parts(use.log_probabilities[rows])
        weight, at = use.weights[rows], np.arange(len(rows))

        def loss(slope: float) -> float:
            return -float(weight @ log_softmax(slope * z + log_q)[at, labels])

        slope = float(scipy.optimize.minimize_scalar(loss, bounds=(0.0, 5.0), method="bounded").x)
        q = softmax(slope * z + log_q)
        information = weight @ ((q * z * z).sum(axis=1) - (q * z).sum(axis=1) ** 2)
        change = slope - 1.0
        return 1.0 + change * believed(1.0 / max(information, 1e-300), change * change)

    def _parts(self, log_P: Any) -> tuple[Any, np.ndarray]:
        """Return (ln(P / p), ln q) with floors for classes of frequency 0."""
        p, q = (
            np.log(np.maximum(one, ZERO_FLOOR))
            for one in (self.calibration_frequencies_, self.frequencies_)
        )
        return log_P - p, q

    def sample_weight(self, y: ArrayLike) -> np.ndarray:
        """Return the weight q / p of each row by its true class, (n,); pass it to ``fit`` of a
        calibrator or to a metric.
        """
        require_fitted(self, "weights_")
        labels, _ = encode_labels(y, self.classes_, None, len(self.classes_))
        return self.weights_[labels]

    def predict_proba(self, P: ArrayLike) -> np.ndarray:
        """Shift whole vectors, calibrated at frequencies p, to q: P_k q_k / p_k, renormalised, (n,
        K); with a slope s, (P_k / p_k)^s q_k.
        """
        require_fitted(self, "weights_")
        record = read(P, inputs=self.inputs, classes=self.classes_)
        if self.slope_ != 1.0:
            z, log_q = self._parts(record.log_probabilities)
            return softmax(self.slope_ * z + log_q)
        adapted = record.probabilities * self.weights_
        total = sum_rows(adapted)[:, None]
        # A row with weight 0 for all its classes is uninformative at these frequencies.
        return np.where(total > 0.0, adapted / np.where(total > 0.0, total, 1.0), self.frequencies_)

    def express(self, P: Expression) -> Expression:
        """``predict_proba`` of an expression of probabilities."""
        require_fitted(self, "weights_")
        if self.slope_ != 1.0:
            z, log_q = self._parts(P.log_probabilities())
            return (z * self.slope_ + log_q).softmax()
        adapted = P * self.weights_
        total = adapted.sum()
        return total.where(adapted / total.where(total, 1.0), self.frequencies_)


def _checked(frequencies: Any, n_classes: int) -> np.ndarray:
    q = arrays.scores(frequencies, "frequencies")
    if len(q) != n_classes or (q < 0.0).any() or q.sum() <= 0.0:
        raise InputError(
            f"frequencies must be {n_classes} numbers, one for each class, not negative and not"
            f" all 0; got {frequencies!r}."
        )
    return q / q.sum()


def _maximum_likelihood(
    P: np.ndarray, share: np.ndarray, p: np.ndarray, tolerance: float = 1e-9, max_steps: int = 1000
) -> tuple[np.ndarray, str]:
    """Return (q / p, status): the q of maximum likelihood of P at frequencies q. The problem is
    concave, so it is unique.

    Steps of expectation maximisation are short where classes are confused, so they only finish what
    a quasi-Newton method finds.
    """
    safe = np.where(p > 0.0, p, 1.0)
    scaled = P / safe

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        q = softmax(x[None])[0]
        total = np.maximum(scaled @ q, ZERO_FLOOR)
        slope = -(share / total) @ scaled
        return -float(share @ np.log(total)), q * (slope - q @ slope)

    start = np.log(np.maximum(p, ZERO_FLOOR))
    found = scipy.optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-8}
    )
    ratio = softmax(found.x[None])[0] / safe
    for _ in range(max_steps):
        responsibility = P * ratio
        total = responsibility.sum(axis=1)
        new = (share / np.where(total > 0.0, total, 1.0)) @ responsibility / safe
        if np.abs(new * p - ratio * p).max() <= tolerance:
            return new, "converged"
        ratio = new
    return ratio, "max steps"


def _fit_bias_temperature(
    logits: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return (beta, bias (K,)) of minimum mean log loss of softmax(beta z + bias) plus (1/n)
    |bias|^2, n the sum of weights.
    """
    n, K = weight.sum(), logits.shape[1]
    z = (logits - logits.max(axis=1, keepdims=True)).astype(np.float64)
    rows = np.arange(len(z))

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        beta, bias = np.exp(x[0]), x[1:]
        log_q = log_softmax(beta * z + bias)
        gap = np.exp(log_q)
        gap[rows, labels] -= 1.0
        gap *= (weight / n)[:, None]
        value = -(weight / n) @ log_q[rows, labels] + bias @ bias / n
        return value, np.concatenate([[beta * np.vdot(gap, z)], gap.sum(axis=0) + 2.0 * bias / n])

    bounds = [(-LOG_BETA_BOUND, LOG_BETA_BOUND)] + [(None, None)] * K
    out = scipy.optimize.minimize(
        objective,
        np.zeros(K + 1),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return float(np.exp(out.x[0])), out.x[1:]
