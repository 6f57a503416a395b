"""Calibrators of questions: their base, one pooled over questions, types and numbers of options,
and the confidence of free answers from several signals, some of which may be missing.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from calibrant._numerics.logistic import inner_limits, sigmoid
from calibrant._numerics.pooling import RaggedRows
from calibrant.calibrators.stacked_confidence import Rows, SignalCurve
from calibrant.core.arrays import ArrayLike, column_names
from calibrant.core.calibrator import DomainCalibrator, Tags, require_fitted
from calibrant.core.domain import Domain
from calibrant.core.estimators import require_option
from calibrant.core.groups import Groups
from calibrant.core.saving import Saved
from calibrant.errors import FitWarning, InputError, warn
from calibrant.questions.domain import QUESTIONS
from calibrant.questions.pooled_map import Leaves, PooledMap, compressed
from calibrant.questions.read import as_questions, is_questions, is_table, read_questions
from calibrant.questions.record import KINDS, TWO_SIDED, YES_NO, Questions
from calibrant.questions.tables import by_name, decimals_of, titles_of

__all__ = ["CalibratorOfQuestions", "QuestionCalibrator", "SignalStack"]


#: Penalties with few rows, and the number of rows from which they are chosen.
STRONG, ENOUGH = (100.0, 1e4), 20


@dataclass
class SignalStack(Saved):
    """Log-odds of a right answer: a level for each question, and a rising curve of each signal.

    A missing signal adds a level of its own.

    Attributes
    ----------
    curves : list of SignalCurve, one for each signal
    questions : dict of (question, type, levels) -> position of its level
    slopes : (d,) of the curves and of missing signals; level : float; levels : (G,)
    penalties : of the bends of the curves and of the levels, chosen by held-out log loss
    """

    curves: list[SignalCurve]
    questions: dict[tuple[str, str, int], int]
    slopes: np.ndarray
    level: float
    levels: np.ndarray
    penalties: tuple[float, float]

    @classmethod
    def fit(cls, record: Questions, cv: int = 5, random_state: int = 0) -> "SignalStack":
        """Fit on labelled rows of yes/no questions, or of free answers, with signals."""
        assert record.signals is not None
        hit, weight = record.mass[1::2], record.weights
        curves = [SignalCurve.learn(*_present(column, hit, weight)) for column in record.signals.T]
        names, index = Leaves.keys(record, YES_NO)
        columns, part = _columns(curves, record.signals)
        rows = Rows(columns, part, index, hit, weight, len(names))
        penalties = STRONG
        if len(record) >= ENOUGH:
            penalties = rows.penalties(record.folds(cv, random_state))[:2]
        slopes, level, levels, _ = rows.fit(*penalties)
        questions = {name: k for k, name in enumerate(names)}
        return cls(curves, questions, slopes, level, levels, penalties)

    def predict(self, record: Questions) -> np.ndarray:
        """(m,) probabilities of "no" and "yes"."""
        assert record.signals is not None
        names, index = Leaves.keys(record, YES_NO)
        place = np.array([self.questions.get(name, len(self.levels)) for name in names])[index]
        level = self.level + np.append(self.levels, 0.0)[place]
        # A matrix product has other bits for other numbers of rows.
        along = (_columns(self.curves, record.signals)[0] * self.slopes).sum(axis=1)
        p = sigmoid(along + level)
        return np.column_stack([1.0 - p, p]).ravel()


def _present(
    column: np.ndarray, hit: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """The rows that have a signal, one row of 0 if none has; and the signal's domain."""
    seen = np.isfinite(column)
    if not seen.any():
        return np.zeros(1), np.zeros(1), np.ones(1), "unit"
    own = column[seen]
    return own, hit[seen], weight[seen], "unit" if own.min() >= 0.0 >= own.max() - 1.0 else "real"


def _columns(curves: list[SignalCurve], signals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, d) columns of the curves, 0 where missing, with two opposite ones that say so; and the
    signal of each, (d,).
    """
    columns, part = list[np.ndarray](), list[int]()
    for s, (curve, column) in enumerate(zip(curves, signals.T, strict=True)):
        missing = ~np.isfinite(column)
        own = curve.columns(np.where(missing, 0.0, column))
        own[missing] = 0.0
        found = np.column_stack([own, missing, -1.0 * missing])
        columns.append(found)
        part += [s] * found.shape[1]
    return np.column_stack(columns), np.array(part)


#: Entries of a table that are read together.
BLOCK = 2_000_000


class CalibratorOfQuestions(DomainCalibrator):
    """Base of the calibrators of questions, which take and return what users pass.

    See Also
    --------
    QuestionCalibrator, AutoQuestionCalibrator : two of them.
    """

    domain: ClassVar[Domain] = QUESTIONS

    def fit(self, P: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit on a record or a log, with its outcomes or with y."""
        return self.fit_record(as_questions(P, y, sample_weight))

    def predict_record(self, record: Questions) -> np.ndarray:
        """(m,) calibrated probabilities of the options of a record."""
        plain, order = record.by_name()
        out = np.empty(len(order))
        out[order] = self.predict_ordered(plain)
        return out

    @abstractmethod
    def predict_ordered(self, record: Questions) -> np.ndarray:
        """(m,) calibrated probabilities of a record whose options are sorted by name."""

    def predict(self, P: Any) -> Any:
        """Calibrated probabilities, a record or a list of mappings as P."""
        record = as_questions(P)
        found = record.recalibrated(self.predict_record(record))
        return found.answers() if is_questions(P) and not isinstance(P, Questions) else found


class QuestionCalibrator(
    CalibratorOfQuestions,
    family="temperatures",
    use="Questions, multilabel tables, scores; few labels",
    common=True,
    examples=[{"by": "type"}, {"by": "options"}, {"by": "one"}],
):
    r"""Calibrate answers with temperatures that are pooled over questions.

    .. math:: \ln T_q = a + b \ln n + u_{type} + v_q, \qquad v_q \sim N(0, \tau^2)

    A choice with n options has probabilities proportional to :math:`e^{l_k / T_q + o_{qk}}` with an
    offset for each option that recurs in its question. Yes/no questions, and confidences of free
    answers, have the log-odds :math:`l / T_q + o_q`, and scores the cumulative log-odds
    :math:`L_k / T_q + o_{qk}` of their levels, with one offset if they are more than 10. The
    deviations of a question turn about the centre
    of its log-odds. All :math:`\tau` are of most marginal likelihood (Laplace), so a question with
    few labels has nearly its type's map, one with many its own, and one without labels exactly its
    type's map at its n.

    Parameters
    ----------
    by : {"question", "type", "options", "one"}
        What the temperature depends on: question, type and number of options, the last two, only
        the number of options, or nothing.
    ordered : bool, default False
        Whether (n, K) arrays hold ordered levels of one score, instead of K yes/no questions.

    Attributes
    ----------
    maps_ : dict of kind ("yes/no", "choice", "score", "free answer") -> PooledMap
    signals_ : dict of kind -> SignalStack, of yes/no questions and free answers with signals
    temperatures_ : dict of question -> temperature
    levels_ : names of the levels of an ordered table, ascending
    status_ : how the search ended

    See Also
    --------
    AutoQuestionCalibrator : weighs it with simpler ones and with no calibration.
    QuestionRules : decides from calibrated answers which to use.

    Notes
    -----
    Use it for logs of language or decision models, for multilabel tables and for ordinal
    predictions, from about ten labels a question. Within a choice without recurring options the
    order of the options is kept. Fit it on rows that did not train the model, and fit rules on
    others.

    References
    ----------
    Efron and Morris, "Stein's estimation rule and its competitors: an empirical Bayes approach",
    Journal of the American Statistical Association 68, 1973. Guo, Pleiss, Sun and Weinberger, "On
    calibration of modern neural networks", ICML 2017. McCullagh, "Regression models for ordinal
    data", Journal of the Royal Statistical Society B 42, 1980.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P = rng.beta(2.0, 2.0, (300, 4))
    >>> odds = np.log(P / (1.0 - P)) / 2.0
    >>> Y = (rng.random((300, 4)) < 1.0 / (1.0 + np.exp(-odds))).astype(int)
    >>> calibrator = QuestionCalibrator().fit(P, Y)
    >>> {name: round(T, 1) for name, T in calibrator.temperatures_.items()}
    {'0': 1.9, '1': 1.9, '2': 1.9, '3': 1.9}
    >>> calibrator.predict([[0.9, 0.5, 0.5, 0.5]]).round(2)
    array([[0.76, 0.5 , 0.5 , 0.5 ]])
    """

    tags: ClassVar[Tags] = Tags(label="pooled temperatures", soft_labels=True)
    maps_: dict[str, PooledMap]
    signals_: dict[str, SignalStack]

    def __init__(
        self,
        *,
        by: Literal["question", "type", "options", "one"] = "question",
        ordered: bool = False,
    ) -> None:
        self.by: Literal["question", "type", "options", "one"] = by
        self.ordered: bool = ordered

    def fit(self, P: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit on a record, a log, or an array with outcomes.

        Parameters
        ----------
        P : Questions, a source of :func:`read_questions`, or (n, L) probabilities
        y : (n, L) of 0 and 1, (n,) levels, or None where P holds outcomes
            Columns with names are matched by them.
        sample_weight : (n,), optional
            Weights of the rows of a log or an array.
        """
        self._check()
        if not is_table(P, outcomes=y is not None):
            return super().fit(P, y, sample_weight)
        if not self.ordered and y is not None:
            return self._fit_table(P, y, sample_weight)
        record = read_questions(P, y, ordered=self.ordered, sample_weight=sample_weight)
        self.levels_: list[str] = record.option.names.tolist()
        return self.fit_record(record)

    def predict(self, P: Any) -> Any:
        """Calibrated probabilities in the form of P: a record, a list of mappings or an array."""
        if not is_table(P):
            return super().predict(P)
        if not self.ordered:
            return self._predict_table(P)
        require_fitted(self, "maps_")
        titles, values = titles_of(P)
        levels = getattr(self, "levels_", titles)
        values = values if column_names(P) is None else by_name(P, levels, "P")
        record = read_questions(values, ordered=True)
        found = self.predict_record(record).reshape(len(record), -1)
        # The columns go back in their own order.
        named = set(titles) == set(levels)
        return found[:, [levels.index(title) for title in titles]] if named else found

    def fit_record(self, record: Questions) -> Self:
        """Fit on the labelled rows of a record."""
        self._check()
        record = self._alike(record.known().in_order())
        self.maps_, self.signals_ = {}, {}
        self.n_fit_: float = float(record.weights.sum())
        for kind, name in enumerate(KINDS):
            own = record.take(record.kind == kind) if (record.kind == kind).any() else None
            if own is not None and record.signals is not None and kind in TWO_SIDED:
                self.signals_[name] = SignalStack.fit(own)
            elif own is not None:
                self.maps_[name] = PooledMap.fit(own, kind, self.by != "one")
        self._finish()
        return self

    def predict_ordered(self, record: Questions) -> np.ndarray:
        """(m,) calibrated probabilities of the options of a record."""
        require_fitted(self, "maps_")
        record = self._alike(record)
        out = record.probability.copy()
        for kind, name in enumerate(KINDS):
            rows = np.flatnonzero(record.kind == kind)
            stacked = None if record.signals is None else self.signals_.get(name)
            fitted = self.maps_.get(name) if stacked is None else stacked
            if len(rows) and fitted is not None:
                out[record.flat(rows)] = fitted.predict(record.take(rows))
        return out

    @property
    def temperatures_(self) -> dict[str, float]:
        """The temperature of each question, at the mean number of options of its kind."""
        require_fitted(self, "maps_")
        return {
            name[0]: float(np.exp(own.theta[g, -2] + own.own[g, 0]))
            for own in self.maps_.values()
            for g, name in enumerate(own.leaves.names)
        }

    def explain(self) -> str:
        """Describe in one sentence the rows, and how far questions differ in temperature."""
        require_fitted(self, "maps_")
        T = list(self.temperatures_.values())
        told = f"temperatures {min(T):.2f} to {max(T):.2f}" if T else "a curve of each signal"
        return f"{self.n_fit_:,.0f} rows, {len(T):,} questions: {told}."

    def _check(self) -> None:
        require_option("by", self.by, ("question", "type", "options", "one"))
        require_option("ordered", self.ordered, (True, False))

    def _alike(self, record: Questions) -> Questions:
        """The record with one name for the questions, types or both that share a map."""
        n = len(record)
        one = Groups(np.array([""], dtype=object), np.zeros(n, np.intp))
        question = record.question if self.by == "question" else one
        types = record.type if self.by in ("question", "type") else one
        return replace(record, question=question, type=types)

    def _finish(self) -> None:
        ends = {name: found.status for name, found in self.maps_.items()}
        odd = [f"{name}: {status}" for name, status in ends.items() if status != "converged"]
        self.status_: str = "; ".join(odd) or "converged"
        if odd:
            warn(f"the fit ended {self.status_}; check for extreme probabilities.", FitWarning)

    def _fit_table(self, P: Any, Y: Any, sample_weight: Any) -> Self:
        """Fit on an (n, L) table, a block of columns at a time."""
        names, values = titles_of(P)
        outcomes = by_name(Y, names, "y").astype(np.float64)
        outcomes = outcomes[:, None] if outcomes.ndim == 1 else outcomes
        if outcomes.shape != values.shape or not np.isin(outcomes, (0.0, 1.0)).all():
            raise InputError(
                f"y must be {values.shape} of 0 and 1, as P; got shape {outcomes.shape}; pass a"
                " column for each question."
            )
        checked = read_questions(values[:, :1], outcomes[:, :1], sample_weight=sample_weight)
        if checked.kept is not None:
            values, outcomes = values[checked.kept], outcomes[checked.kept]
        decimals = decimals_of(values)
        floor = inner_limits(values.ravel(), float(checked.weights.sum()))[0]
        floor = floor if decimals is None else 0.5 * 10.0**-decimals
        alike = self.by != "question"
        rows = table_rows(values, outcomes, checked.weights, floor, alike)
        titles = [""] if alike else names
        kind = KINDS[YES_NO] if self.by in ("question", "type") else ""
        leaves = Leaves([(name, kind, 0) for name in titles], {}, 1)
        self.maps_ = {KINDS[YES_NO]: PooledMap.on_rows(rows, YES_NO, leaves, floor=floor)}
        self.signals_, self.n_fit_ = {}, float(checked.weights.sum()) * len(names)
        self._finish()
        return self

    def _predict_table(self, P: Any) -> np.ndarray:
        require_fitted(self, "maps_")
        names, values = titles_of(P)
        own = self.maps_[KINDS[YES_NO]]
        slope, intercept = own.lines(names if self.by == "question" else [""] * len(names))
        p = np.clip(values, own.floor, 1.0 - min(own.floor, 0.25))
        return sigmoid((np.log(p) - np.log1p(-p)) * slope + intercept)


def table_rows(
    P: np.ndarray, Y: np.ndarray, weight: np.ndarray, floor: float, alike: bool
) -> RaggedRows:
    """Yes/no rows of a table, merged in cells of nearly equal log-odds if they are many."""
    n, L = len(P), int(P.shape[1])
    width, parts = max(1, BLOCK // n), list[RaggedRows]()
    for j in range(0, L, width):
        p = np.clip(P[:, j : j + width], floor, 1.0 - min(floor, 0.25)).T.ravel()
        hit, size = Y[:, j : j + width].T.ravel(), len(p)
        repeated = np.tile(weight, size // n)
        odds = np.zeros(2 * size)
        odds[1::2] = np.log(p) - np.log1p(-p)
        mass = (np.column_stack([1.0 - hit, hit]) * repeated[:, None]).ravel()
        columns = np.arange(size // n)
        group = np.zeros(size, np.intp) if alike else j + np.repeat(columns, n)
        start = 2 * np.arange(size + 1)
        slot = np.tile([0, 1], size)
        own = RaggedRows(
            *(odds, start, group, slot, None, np.zeros(size), mass, repeated, False),
            *(1 if alike else L, 1),
        )
        parts.append(compressed(own))
    joined = {
        name: np.concatenate([getattr(one, name) for one in parts])
        for name in ("l", "group", "slot", "x", "mass", "weight")
    }
    return replace(parts[0], start=2 * np.arange(len(joined["group"]) + 1), **joined)
