"""Stacked confidence of the top label from several signals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._numerics.fixed_order import merge_rows, multiply_rows
from calibrant._numerics.logistic import clipped_log_odds, inner_limits, sigmoid, smoothed_targets
from calibrant._numerics.pooling import fit_monotone_additive
from calibrant._numerics.smoothing import weighted_quantile
from calibrant.calibrators.label_stability import LabelStability
from calibrant.calibrators.separation import Entropy, FastSeparation, Margin, TopProbability
from calibrant.calibrators.trust import score_difference
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Calibrator, Tags, require_fitted
from calibrant.core.estimators import require_count
from calibrant.core.folds import stratified_folds
from calibrant.core.given import Inputs
from calibrant.core.kinds import require_signal
from calibrant.core.map import Signal, fitted_signal
from calibrant.core.saving import Saved
from calibrant.errors import FitWarning, InputError, warn

__all__ = ["Rows", "SignalCurve", "StackedConfidence"]

#: Positions of the steps, as shares of the rows at or below; right and wrong rows have half of the
#: weight each, because the few wrong ones are as informative.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0)


@dataclass(frozen=True)
class SignalCurve(Saved):
    """Increasing basis functions of a signal: every sum of them with non-negative factors increases
    too.

    Attributes
    ----------
    limits : the smallest score and the smallest gap from 1, to which a signal in [0, 1] is clipped
        on the logit scale; or None.
    centre, spread : of the signal on that scale.
    knots : (q,) in standard units: each is the middle of a step, which rises between its two
        neighbours; a constant signal has none.
    """

    limits: tuple[float, float] | None
    centre: float
    spread: float
    knots: np.ndarray

    @classmethod
    def learn(
        cls, score: np.ndarray, correct: np.ndarray, weight: np.ndarray, domain: str
    ) -> "SignalCurve":
        """Learn from the scores of the rows to fit, right or wrong; ``domain`` is "unit"
        or "real".
        """
        limits = inner_limits(score, weight.sum()) if domain == "unit" else None
        x = _scaled(score, limits)
        centre = float(np.average(x, weights=weight))
        spread = float(np.sqrt(np.average((x - centre) ** 2, weights=weight)))
        # A spread due to rounding alone has no slope.
        spread = spread if spread > 1e-12 * float(np.abs(x).max()) else np.inf
        z = (x - centre) / spread
        right = float(weight @ correct)
        balanced = weight * np.where(
            correct > 0.0, 1.0 / max(right, 1.0), 1.0 / max(float(weight.sum()) - right, 1.0)
        )
        return cls(
            limits,
            centre,
            spread,
            np.unique([weighted_quantile(z, balanced, share) for share in SHARES]),
        )

    def columns(self, score: np.ndarray) -> np.ndarray:
        """Return (n, 1 + q): the signal in standard units, then its steps, each from 0 to 1."""
        z = (_scaled(score, self.limits) - self.centre) / self.spread
        return np.column_stack([z, _steps(z, self.knots)])


def _scaled(score: np.ndarray, limits: tuple[float, float] | None) -> np.ndarray:
    return score if limits is None else clipped_log_odds(score, limits)


def _steps(z: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return (n, q) integrals of the hat functions of the knots, scaled to end at 1; none for a
    single knot.
    """
    width = np.diff(knots)
    if not len(width):
        return np.empty((len(z), 0))
    t = np.clip((z[:, None] - knots[:-1]) / width, 0.0, 1.0)
    out = np.zeros((len(z), len(knots)))
    out[:, 1:] += 0.5 * t * t * width
    out[:, :-1] += (t - 0.5 * t * t) * width
    return out / (0.5 * (np.append(width, 0.0) + np.append(0.0, width)))


#: Penalty of a signal's straight line, which only keeps it finite.
LINE_PENALTY = 0.01
#: Penalties to try for the bends of the curves and for the classes' levels (inverse variances in
#: log-odds), the strongest first.
BEND_PENALTIES = (100.0, 10.0, 1.0)
CLASS_PENALTIES = (1e4, 64.0, 16.0, 4.0, 1.0, 0.25)
#: The bends are chosen at this penalty of the classes.
CLASS_START = 4.0
#: Below this number of distinct rows the strongest penalties are used without a choice.
LEAST_ROWS = 20


@dataclass(frozen=True)
class Rows:
    """Rows for the fit.

    Attributes
    ----------
    design : (n, d) line and steps of each signal; part : (d,) the signal of each column.
    predicted, correct, weight : (n,)
    n_classes : int
    """

    design: np.ndarray
    part: np.ndarray
    predicted: np.ndarray
    correct: np.ndarray
    weight: np.ndarray
    n_classes: int

    def take(self, rows: np.ndarray) -> "Rows":
        """Return some of the rows."""
        return replace(
            self,
            **{k: getattr(self, k)[rows] for k in ("design", "predicted", "correct", "weight")},
        )

    def only(self, signal: int) -> "Rows":
        """Return the columns of one signal."""
        own = self.part == signal
        return replace(self, design=self.design[:, own], part=self.part[own])

    def fit(
        self, bend_penalty: float, class_penalty: float
    ) -> tuple[np.ndarray, float, np.ndarray, str]:
        """Return coefficients (d,), level, class levels (K,), status."""
        line = np.append(True, self.part[1:] != self.part[:-1])
        ridge = np.where(line, LINE_PENALTY, bend_penalty)
        target = smoothed_targets(self.correct, self.weight)
        return fit_monotone_additive(
            self.design, self.predicted, self.n_classes, target, self.weight, ridge, class_penalty
        )

    def held_out(self, folds: np.ndarray, bend_penalty: float, class_penalty: float) -> np.ndarray:
        """Return (n,) log loss of each row under the fit on the other folds."""
        z = np.empty(len(folds))
        for k in range(folds.max() + 1):
            out = folds == k
            slopes, level, levels, _ = self.take(~out).fit(bend_penalty, class_penalty)
            z[out] = self.design[out] @ slopes + level + levels[self.predicted[out]]
        return np.logaddexp(0.0, z) - self.correct * z

    def mean(self, losses: np.ndarray) -> float:
        """Return the weighted mean."""
        return float(self.weight @ losses / self.weight.sum())

    def penalties(self, folds: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Return the penalties of minimum out-of-fold log loss, the stronger on ties, and the
        losses (n,).
        """
        bend = min(
            BEND_PENALTIES, key=lambda one: self.mean(self.held_out(folds, one, CLASS_START))
        )
        losses = {level: self.held_out(folds, bend, level) for level in CLASS_PENALTIES}
        level = min(losses, key=lambda one: self.mean(losses[one]))
        return bend, level, losses[level]


class StackedConfidence(
    Calibrator,
    family="several signals",
    use="Several signals and the predicted class; 250 rows",
    common=True,
):
    r"""Confidence of the predicted label from several signals and the predicted class: a logistic
    model that increases in every signal.

    .. math:: P(\text{right}) = \sigma\Big(c + u_{\hat y} + \sum_s f_s(S_s)\Big), \qquad f_s(x) =
        a_s x + \sum_q b_{sq} r_q(x),
        \quad a_s, b_{sq} \ge 0

    with :math:`r_q` smooth steps from 0 to 1 at quantiles of the signal (of its logit, for signals
    in [0, 1]) and :math:`u_k` a level for each predicted class, shrunk towards 0. The penalties
    :math:`\beta |b|^2 / 2` and :math:`\lambda |u|^2 / 2` minimise the out-of-fold log loss; for
    given penalties the problem is convex and solved by Newton's method.

    Parameters
    ----------
    signals : list of Signal, optional
        Default: top probability, margin (of logits), entropy and label stability (with two classes,
        where these are functions of each other, only the first), and :class:`FastSeparation` if
        ``X=`` and ``reference=`` are passed to ``fit``.
    cv : int, default 5
        Number of folds that choose the penalties, stratified by correctness.
    random_state : int, default 0
        Seed of the folds.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional

    Attributes
    ----------
    signals_ : the fitted signals.
    curves_ : for each signal its scale and the knots of its steps.
    slopes_ : (d,) the coefficients of each signal: of its line, in standard deviations, and of its
        steps.
    level_, class_levels_ : c and (K,) u, in log-odds.
    bend_penalty_, class_penalty_ : the penalties chosen.
    comparison_ : list of dicts, first all signals together, then each alone (a curve of the same
        kind, without the classes): name, score (log loss out of fold), standard_error (of its
        difference to all together).
    status_ : the status of the fit.

    See Also
    --------
    ConfidenceCalibrator : one signal, any map.
    GeometricCalibrator, HokiCalibrator : one signal beside the model's score.

    Notes
    -----
    Use it when the question is "how reliable is this answer?" and there are some hundred labelled
    rows: it combines the complementary information of the signals, and the best one need not be
    known. Classes differ in reliability: their levels are often worth more than a further signal.
    For two classes without features it adds little to ``ConfidenceCalibrator(map=Spline())``, and
    where a higher score truly means less confidence a free curve is better than an increasing one.
    ``CalibratedClassifier`` passes it the features if the signals are named:
    ``StackedConfidence(signals=[TopProbability(), FastSeparation()])``.

    References
    ----------
    Wolpert, "Stacked generalization", Neural Networks 5, 1992; Ramsay, "Monotone regression splines
    in action", Statistical Science 3, 1988. Combining several scores is future work in the paper on
    exploratory learning (Salamon et al., 2023, section 15).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet([0.4, 0.4, 0.4], size=600)
    >>> y = np.array([rng.choice(3, p=p) for p in P])
    >>> cal = StackedConfidence().fit(P, y)
    >>> [row["name"] for row in cal.comparison_]
    ['all signals', 'TopProbability', 'Margin', 'Entropy', 'LabelStability']
    >>> sure, unsure = cal.predict_confidence([[0.9, 0.05, 0.05], [0.5, 0.45, 0.05]])
    >>> bool(sure > unsure)
    True
    """

    slopes_: np.ndarray
    level_: float
    class_levels_: np.ndarray
    status_: str

    def __init__(
        self,
        *,
        signals: Sequence[Signal] | None = None,
        cv: int = 5,
        random_state: int = 0,
        inputs: Inputs = "probability",
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(inputs=inputs, classes=classes)
        self.signals: Sequence[Signal] | None = signals
        self.cv: int = cv
        self.random_state: int = random_state

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags; the signals determine the inputs beside P. Before a fit the default ones need none
        and can read features.
        """
        needs = [s.tags for s in getattr(self, "signals_", self._named())]
        return Tags(
            output="confidence",
            random=True,
            uses_features=any(t.uses_features for t in needs),
            may_use_features=self.signals is None,
            needs_reference=any(t.needs_reference for t in needs),
            label="stacked signals",
        )

    @classmethod
    def _examples(cls) -> "list[StackedConfidence]":
        return [cls(cv=2), cls(signals=[TopProbability(), FastSeparation()], cv=2)]

    def _begin(self, record: Any) -> None:
        require_count("cv", self.cv, 2)
        self.signals_: list[Signal] = self._chosen(record)
        super()._begin(record)

    def _named(self) -> list[Any]:
        """Return the checked signals."""
        if self.signals is None:
            return []
        if not isinstance(self.signals, list | tuple) or not self.signals:
            raise InputError(
                "signals must be a list of at least one signal, such as [TopProbability()]; got"
                f" {self.signals!r}."
            )
        return [require_signal(signal, "each of signals") for signal in self.signals]

    def _chosen(self, record: Any) -> Any:
        """Return the named signals, or the default ones for the inputs."""
        if self.signals is not None:
            return self._named()
        if (record.X is None) != (record.reference is None):
            raise InputError(
                "X and reference must be passed together, because separation compares the rows"
                " with the training set; pass both or neither."
            )
        more = [Margin(scale="logit"), Entropy(), LabelStability()] if record.n_classes > 2 else []
        return [TopProbability(), *more, *([] if record.X is None else [FastSeparation()])]

    def _fit(self, record: Any) -> None:
        self.signals_ = [fitted_signal(signal, record) for signal in self.signals_]
        scores = self._scores(record)
        domains = [signal.tags.domain for signal in self.signals_]
        self.curves_: list[SignalCurve] = [
            SignalCurve.learn(x, record.correct, record.weights, domain)
            for x, domain in zip(scores, domains, strict=True)
        ]
        columns = [curve.columns(x) for curve, x in zip(self.curves_, scores, strict=True)]
        part = np.repeat(np.arange(len(columns)), [c.shape[1] for c in columns])
        lines = np.column_stack([c[:, 0] for c in columns])
        first, weight = merge_rows(lines, 2 * record.predicted + record.correct, record.weights)
        rows = Rows(
            np.column_stack(columns)[first],
            part,
            record.predicted[first],
            record.correct[first],
            weight,
            record.n_classes,
        )
        self._choose(rows)
        fitted = rows.fit(self.bend_penalty_, self.class_penalty_)
        self.slopes_, self.level_, self.class_levels_, self.status_ = fitted
        if self.status_ != "converged":
            warn(f"the fit ended {self.status_}; check the signals for extreme values.", FitWarning)

    def _scores(self, record: Any) -> list[np.ndarray]:
        return [signal.score_record(record) for signal in self.signals_]

    def _choose(self, rows: Rows) -> None:
        """Choose the penalties, and tabulate each signal alone."""
        self.bend_penalty_: float = BEND_PENALTIES[0]
        self.class_penalty_: float = CLASS_PENALTIES[0]
        self.comparison_: list[dict[str, Any]] = []
        self.n_fit_: float = float(rows.weight.sum())
        if len(rows.weight) < LEAST_ROWS:
            return
        # Not by class: every fold would otherwise know each class's rate in the others.
        folds = stratified_folds(rows.correct, min(self.cv, len(rows.weight)), self.random_state)
        self.bend_penalty_, self.class_penalty_, losses = rows.penalties(folds)
        self._tabulate(rows, folds, losses)

    def _tabulate(self, rows: Rows, folds: np.ndarray, together: np.ndarray) -> None:
        self.comparison_ = [
            {"name": "all signals", "score": rows.mean(together), "standard_error": 0.0}
        ]
        for s, signal in enumerate(self.signals_):
            alone = rows.only(s).held_out(folds, self.bend_penalty_, CLASS_PENALTIES[0])
            _, error = score_difference(alone, together, rows.weight)
            self.comparison_.append(
                {"name": type(signal).__name__, "score": rows.mean(alone), "standard_error": error}
            )

    def _predict_confidence(self, record: Any) -> np.ndarray:
        if record.X is not None and not self.tags.uses_features:
            raise InputError(
                "X was not passed to the fit of this StackedConfidence; leave it out, or fit with"
                " X= and reference=."
            )
        columns = [
            curve.columns(x) for curve, x in zip(self.curves_, self._scores(record), strict=True)
        ]
        return sigmoid(
            multiply_rows(np.column_stack(columns), self.slopes_)
            + self.level_
            + self.class_levels_[record.predicted]
        )

    def explain(self) -> str:
        """Describe in one sentence the data, the out-of-fold log loss, and that of the best signal
        alone.
        """
        require_fitted(self, "comparison_")
        data = f"{self.n_fit_:,.0f} rows, {len(self.classes_):,} classes"
        if not self.comparison_:
            return f"{data}: too few to compare the signals."
        together, best = (
            self.comparison_[0],
            min(self.comparison_[1:], key=lambda row: row["score"]),
        )
        return (
            f"{data}: log loss {together['score']:.4f} out of fold from {len(self.signals_)}"
            f" signals and the class; {best['name']} alone {best['score']:.4f} (difference"
            f" {best['score'] - together['score']:+.4f}, standard error"
            f" {best['standard_error']:.4f})."
        )
