"""Stability of the predicted label under noise."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from calibrant._numerics import label_stability as kernel
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import SignalTags, require_fitted
from calibrant.core.estimators import require_count
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Result
from calibrant.core.map import Signal
from calibrant.core.predictions import read
from calibrant.errors import InputError

__all__ = ["LabelStability", "StabilityCurve"]

#: Candidate scales, in units of the typical gap between the two largest logits; doubled for the
#: full width of a uniform distribution.
RELATIVE_SCALES = 2.0 ** np.arange(-5.0, 3.25, 0.5)
UNIFORM_WIDTH = 3.5


@dataclass(frozen=True)
class StabilityCurve(Result):
    """Label of one row under noise of increasing width.

    Attributes
    ----------
    classes : (k,) the label, then the other classes by decreasing logit
    scale : (S,) noise widths
    probability : (S, k) probability that noise makes each of them the argmax
    """

    classes: np.ndarray
    scale: np.ndarray
    probability: np.ndarray


class LabelStability(
    Signal, examples=[{"noise": "uniform"}, {"method": "sampled", "n_draws": 50}, {"scale": 2.0}]
):
    r"""Probability that the predicted label remains the argmax when noise is added to the logits
    (or the input is transformed).

    .. math:: \gamma = P\big(\arg\max_k (L_k + \varepsilon_k) = \hat y\big)
        = E_z \prod_{k \ne \hat y} \Phi\Big(\frac{L_{\hat y} - L_k}{\sigma} + z\Big), \qquad z \sim
        N(0, 1)

    This is for Gaussian noise of standard deviation :math:`\sigma`, independent in each class; for
    uniform noise of width :math:`\sigma`, :math:`\Phi` and z are those of the uniform distribution.
    The expectation is exact, by quadrature, at no more cost than a few softmaxes. Only differences
    of logits matter, so log-probabilities serve as logits, and the mean of the noise is irrelevant.

    Parameters
    ----------
    noise : {"auto", "gaussian", "uniform"}
        "auto" is Gaussian without ``transform``, and no noise on the logits with it; a named noise
        with ``transform`` combines both.
    scale : "auto" or float
        Standard deviation (Gaussian) or width (uniform) of the noise, in units of the logits.
        "auto" tries 17 widths relative to the median gap between the two largest logits. It selects
        the largest spread of :math:`\hat p = \alpha \gamma + \beta (1 - \gamma)` on one bin (of
        :math:`\gamma` without labels, or where all rows are right or all wrong).
    method : {"exact", "sampled"}
        "sampled" draws ``n_draws`` noise vectors, shared by all rows, as in the paper.
    n_draws : int, default 1000
        Noise vectors for "sampled", input transformations for ``transform``.
    random_state : int or None, default 0
        Seed of the draws; the same draws serve fitting and scoring.
    search_rows : int or None, default 1000
        Rows on which "auto" tries all widths, spaced evenly in the order of the gaps of the wrong
        and of the right rows. Widths about the best are then tried on all rows until none is
        better: where the spread has one peak, the result is that of all rows at every width (None).
    transform : callable, optional
        ``transform(X, rng)`` returns transformed features; it is called ``n_draws`` times with one
        random generator. It requires ``X=`` at fit and score.
    model : callable, or an object with ``predict_proba``
        The model for the transformed features; it returns outputs (n, K) as in ``inputs``.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    scale_ : the scale used (nan without noise).
    scales_, spread_ : (S,) the scales tried and the standard deviation of p-hat for each, with
        ``scale="auto"``: of all rows for the selected scale and its two neighbours, of
        ``search_rows`` for the others.
    seed_ : the seed of the draws.

    Raises
    ------
    InputError
        For an option out of range, or ``transform`` without ``model`` or ``X``.

    See Also
    --------
    HokiCalibrator : the calibrator that uses it.
    StackedConfidence : a combination of several signals.

    Notes
    -----
    Use it where the gaps to all other classes are more informative than the top probability. With
    noise on the logits alone, it is a smooth function of them and adds no new evidence.
    Transformations of the input run the model again, which adds evidence and costs ``n_draws`` runs
    (the outputs of all draws are in memory at once). For two classes it is a monotone function of
    the top probability. Rows whose gaps all exceed about 10 noise widths tie at 1. It is accurate
    to 1e-7 (Gaussian) and 1e-6 (uniform; 4e-5 where dozens of gaps are equal to within 0.4 % of the
    width).

    References
    ----------
    Jang, Ivanov, Lee and Weimer, "Confidence calibration using logits transformations", 2021,
    section 5 and equation 3. The paper samples 1,000 vectors and also searches the mean of the
    noise, which cannot change any argmax.

    Examples
    --------
    >>> signal = LabelStability(inputs="logit", scale=1.0)
    >>> signal.score([[0.0, 0.0], [2.0, 0.0]]).round(4).tolist()
    [0.5, 0.9214]
    """

    spread_: np.ndarray

    def __init__(
        self,
        *,
        noise: Literal["auto", "gaussian", "uniform"] = "auto",
        scale: float | str = "auto",
        method: Literal["exact", "sampled"] = "exact",
        n_draws: int = 1000,
        random_state: int | None = 0,
        search_rows: int | None = 1000,
        transform: Callable[..., Any] | None = None,
        model: Any = None,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.noise: Literal["auto", "gaussian", "uniform"] = noise
        self.scale: float | str = scale
        self.method: Literal["exact", "sampled"] = method
        self.n_draws: int = n_draws
        self.random_state: int | None = random_state
        self.search_rows: int | None = search_rows
        self.transform: Callable[..., Any] | None = transform
        self.model: Any = model

    @property
    def tags(self) -> SignalTags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of the signal: random with draws; requires features if inputs are transformed."""
        return SignalTags(
            domain="unit",
            random=self.method == "sampled" or self.transform is not None,
            uses_features=self.transform is not None,
        )

    def __sklearn_clone__(self) -> Self:
        """Return a clone that keeps the fitted model, which scikit-learn's cloning would reset."""
        return type(self)(**self.get_params(deep=False))

    def _fit(self, record: Any) -> None:
        self._check()
        self._need_features(record)
        self.seed_: int = (
            int(np.random.default_rng().integers(2**31))
            if self.random_state is None
            else self.random_state
        )
        if self._noise is None:
            self.scale_: float = float("nan")
        elif self.scale == "auto":
            self._choose_scale(record)
        else:
            self.scale_ = float(self.scale)

    def stability_curve(
        self, P: ArrayLike, *, scales: ArrayLike | None = None, n_classes: int = 5
    ) -> StabilityCurve:
        r"""Compute the stability of one row's label over noise widths, and the classes that replace
        it.

        .. math:: P\big(\arg\max_j (L_j + \varepsilon_j) = k\big)

        for the label and the classes k of the next largest logits. The noise is alike in all
        classes, so the second class of the result takes over first and most often at every width.

        Parameters
        ----------
        P : (1, K) predictions of one row
        scales : (S,) noise widths, optional
            Default: the widths of the search, or 17 about the fixed ``scale``, after ``fit``.
        n_classes : int, default 5
            Largest number of classes in the result, including the label.

        Returns
        -------
        StabilityCurve

        Raises
        ------
        InputError
            For several rows, or a signal with ``transform``.

        Examples
        --------
        >>> signal = LabelStability(inputs="logit", scale=1.0)
        >>> curve = signal.stability_curve([[2.0, 0.0, 1.0]], scales=[0.5, 1.0, 2.0])
        >>> curve.classes.tolist(), curve.probability.round(3).tolist()
        ([0, 2, 1], [[0.92, 0.078, 0.001], [0.729, 0.224, 0.047], [0.549, 0.301, 0.15]])
        """
        record = read(P, inputs=self.inputs, classes=getattr(self, "classes_", self.classes))
        if len(record) != 1 or self.transform is not None:
            raise InputError(
                "stability_curve needs one row (1, K) and a signal without transform; got"
                f" {len(record)} rows and transform={self.transform!r}; call it row by row."
            )
        if scales is None:
            require_fitted(self, "scale_")
            scales = getattr(self, "scales_", self.scale_ * RELATIVE_SCALES)
        widths = np.asarray(scales, dtype=np.float64)
        order = np.argsort(-record.logits[0], kind="stable")[:n_classes]
        each = replace(record.take(np.zeros(len(order), dtype=np.intp)), own=order)
        probability = [self._stability(each, [each.logits], scale) for scale in widths]
        return StabilityCurve(record.classes[order], widths, np.array(probability))

    def _score(self, record: Any) -> np.ndarray:
        self._check()
        if self._noise is not None and self.scale == "auto":
            require_fitted(self, "scale_")
        self._need_features(record)
        scale = getattr(self, "scale_", self.scale)
        return self._stability(record, self._views(record), scale)

    @property
    def _noise(self) -> Any:
        if self.noise != "auto":
            return self.noise
        return "gaussian" if self.transform is None else None

    def _check(self) -> None:
        self._option("noise", "auto", "gaussian", "uniform")
        self._option("method", "exact", "sampled")
        if self.scale != "auto" and not (
            isinstance(self.scale, int | float | np.number) and 0 < self.scale < np.inf
        ):
            raise InputError(f'scale must be "auto" or a positive number; got {self.scale!r}.')
        require_count("n_draws", self.n_draws)
        if self.search_rows is not None:
            require_count("search_rows", self.search_rows)
        if (self.transform is None) != (self.model is None):
            raise InputError(
                "transform and model must be passed together, because the model predicts the"
                " transformed features; pass both or neither."
            )

    def _need_features(self, record: Any) -> None:
        if self.transform is not None and record.X is None:
            raise InputError(
                "LabelStability with transform needs X=, the features of the rows of P; got None."
            )

    def _choose_scale(self, record: Any) -> None:
        gap = kernel.runner_up_gap(record.logits, record.predicted)
        self.scales_: np.ndarray = (
            _typical(gap, record.weights)
            * RELATIVE_SCALES
            * (UNIFORM_WIDTH if self._noise == "uniform" else 1.0)
        )
        views, some = self._views(record), self.search_rows or len(record)
        if some < len(record):
            rows = _spaced(record, gap, some)
            few = record.take(rows).weighted(np.ones(some))
            spreads = self._spreads(few, [logits[rows] for logits in views], self.scales_)
        else:
            spreads = self._spreads(record, views, self.scales_)
        # Up the hill on all rows, from the best of the few.
        exact = np.full(len(self.scales_), some >= len(record))
        while True:
            best = int(spreads[0 if spreads[0].max() > 1e-12 else 1].argmax())
            near = np.arange(max(best - 1, 0), min(best + 2, len(exact)))
            near = near[~exact[near]]
            if not len(near):
                break
            spreads[:, near] = self._spreads(record, views, self.scales_[near])
            exact[near] = True
        self.spread_, self.scale_ = spreads[0], float(self.scales_[best])

    def _spreads(self, record: Any, views: list[np.ndarray], scales: np.ndarray) -> np.ndarray:
        """Standard deviations of p-hat on one bin and of gamma at each of the scales, (2, S)."""
        correct, w = _correct(record), record.weights
        if self.method == "exact" and self.transform is None:
            sums = kernel.spread_sums(
                record.logits, record.predicted, correct, w, scales, self._noise
            )
        else:
            gammas = [self._stability(record, views, scale) for scale in scales]
            sums = np.array(
                [[w.sum(), w @ correct, w @ g, w @ (g * g), w @ (g * correct)] for g in gammas]
            )
        return np.array(_spreads(sums))

    def _views(self, record: Any) -> list[np.ndarray]:
        """Return the logits to perturb: the record's own, or the model's for each transformed
        input.
        """
        if self.transform is None:
            return [record.logits]
        rng = np.random.default_rng(getattr(self, "seed_", self.random_state))
        outputs = getattr(self.model, "predict_proba", self.model)
        return [
            read(outputs(self.transform(record.X, rng)), inputs=record.kind).logits
            for _ in range(self.n_draws)
        ]

    def _stability(self, record: Any, views: list[np.ndarray], scale: Any) -> np.ndarray:
        """Mean over the views of the probability that the label equals the record's."""
        label = record.predicted
        total = np.zeros(len(record))
        draws = (
            self._draws(record.n_classes, scale)
            if self.method == "sampled" and self._noise
            else None
        )
        for logits in views:
            if self._noise is None:
                total += logits.argmax(axis=1) == label
            elif draws is not None:
                total += kernel.sampled_stability(logits, label, draws)
            else:
                total += kernel.stability(logits, label, scale, self._noise)
        return total / len(views)

    def _draws(self, n_classes: int, scale: float) -> np.ndarray:
        return scale * kernel.standard_noise(
            self._noise, self.n_draws, n_classes, getattr(self, "seed_", self.random_state)
        )


def _typical(gap: np.ndarray, weight: np.ndarray) -> float:
    """Weighted median of the gaps; their mean if it is 0, and 1 if all are 0."""
    order = np.argsort(gap)
    half = 0.5 * weight.sum()
    median = gap[order][np.searchsorted(np.cumsum(weight[order]), half)]
    mean = float(weight @ gap) / weight.sum()
    return float(median) or mean or 1.0


def _correct(record: Any) -> np.ndarray:
    """Whether each label is right; 0 for all without labels."""
    return record.correct if record.labels is not None else np.zeros(len(record))


def _spaced(record: Any, gap: np.ndarray, count: int) -> np.ndarray:
    """``count`` rows at even steps of the weight, the wrong rows and then the right by their
    gaps.
    """
    order = np.lexsort((gap, _correct(record)))
    total = np.cumsum(record.weights[order])
    return order[np.searchsorted(total, (np.arange(count) + 0.5) / count * total[-1], "right")]


def _spreads(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviations of p-hat on one bin and of gamma, from (S, 5) sums of 1, c, gamma,
    gamma^2, c gamma: (S,), (S,).
    """
    total, c, g, gg, cg = sums.T
    mean, spread = g / total, np.sqrt(np.maximum(gg / total - (g / total) ** 2, 0.0))
    inner = mean * (1.0 - mean)
    covariance = cg / total - c / total * mean
    slope = np.divide(
        np.abs(covariance), inner, out=np.zeros_like(inner), where=inner > 1e-12
    )  # alpha - beta
    return slope * spread, spread
