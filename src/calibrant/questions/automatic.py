"""Average of calibrators of questions by their evidence, including no calibration."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from calibrant._numerics.pooling import running_sums
from calibrant.calibrators.candidates import Candidate
from calibrant.calibrators.evidence import choice_told, evidence_pool, learned
from calibrant.calibrators.held_out import HeldOut, fitted
from calibrant.calibrators.maps.isotonic import Isotonic
from calibrant.calibrators.trust import LEAST_ROWS
from calibrant.core.calibrator import Tags, require_fitted
from calibrant.core.estimators import require_count
from calibrant.questions.calibrator import CalibratorOfQuestions, QuestionCalibrator
from calibrant.questions.record import KINDS, SCORE, TWO_SIDED, Questions
from calibrant.questions.scored_rows import isotonic_of_shares

__all__ = ["AutoQuestionCalibrator", "IsotonicQuestions"]

#: Smallest probability of an option, and most rows that evidence is gathered on.
FLOOR, MOST_ROWS = 1e-6, 20_000


class IsotonicQuestions(
    CalibratorOfQuestions,
    family="isotonic regression",
    use="One rising curve for all questions; 1,000s of rows",
):
    r"""Calibrate every option by one rising curve for each kind of question.

    .. math:: \hat p_k = g(p_k) / \sum_j g(p_j)

    The curve g is isotonic regression of the outcomes of all options on their probabilities; for
    scores, of the cumulative ones.

    Attributes
    ----------
    curves_ : dict of kind -> Isotonic
    status_ : "converged"

    See Also
    --------
    QuestionCalibrator : temperatures pooled over questions, for fewer rows.

    Notes
    -----
    Use it with thousands of labelled rows whose questions are alike, where the error is no
    temperature. Questions are not told apart.

    References
    ----------
    Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability
    estimates", KDD 2002.

    Examples
    --------
    >>> P = [{"a": 0.9, "b": 0.1}] * 10
    >>> calibrated = IsotonicQuestions().fit(P, ["a"] * 7 + ["b"] * 3).predict(P[:1])
    >>> round(calibrated[0]["a"], 2)
    0.7
    """

    tags: ClassVar[Tags] = Tags(label="isotonic for all questions", keeps_argmax=False)
    curves_: dict[str, Isotonic]

    def fit_record(self, record: Questions) -> Self:
        """Fit on the labelled rows of a record."""
        record = record.known().in_order()
        self.curves_, self.status_ = {}, "converged"
        for kind, name in enumerate(KINDS):
            own = record.take(record.kind == kind) if (record.kind == kind).any() else None
            if own is not None:
                score, keep = _scores(own, own.probability, kind)
                hit = np.minimum(_scores(own, own.mass, kind)[0][keep], 1.0)
                weight = np.repeat(own.weights, own.size)[keep]
                self.curves_[name] = isotonic_of_shares(score[keep], hit, weight)
        return self

    def predict_ordered(self, record: Questions) -> np.ndarray:
        """(m,) calibrated probabilities of the options of a record."""
        require_fitted(self, "curves_")
        out = record.probability.copy()
        for kind, name in enumerate(KINDS):
            rows = np.flatnonzero(record.kind == kind)
            if not len(rows) or name not in self.curves_:
                continue
            own = record.take(rows)
            score, keep = _scores(own, own.probability, kind)
            p = np.ones(len(score))
            p[keep] = self.curves_[name].predict(score[keep])
            if kind == SCORE:
                p = np.where(own.place == 0, p, np.diff(p, prepend=0.0))
            if kind in TWO_SIDED:
                p[0::2] = 1.0 - p[1::2]
            p = np.maximum(p, FLOOR)
            out[record.flat(rows)] = p / np.repeat(np.add.reduceat(p, own.start[:-1]), own.size)
        return out


def _scores(record: Questions, values: np.ndarray, kind: int) -> tuple[np.ndarray, np.ndarray]:
    """(what a curve reads, which options it is fitted on), (m,) each."""
    last = record.start[1:] - 1
    keep = np.ones(len(values), bool)
    if kind in TWO_SIDED:
        keep[0::2] = False
    if kind == SCORE:
        keep[last] = False
        values = running_sums(values, record.start)
    return np.clip(values, 0.0, 1.0), keep


#: Beside no calibration.
CANDIDATES = (
    Candidate("one temperature", partial(QuestionCalibrator, by="one"), 1.0),
    Candidate("by number of options and type", partial(QuestionCalibrator, by="type"), 2.0),
    Candidate("by question", QuestionCalibrator, 3.0),
    Candidate("isotonic", IsotonicQuestions, 1.0),
)


class _HeldOutQuestions(HeldOut):
    """Summary of the out-of-fold probabilities P (J, m) of the options of a record."""

    def __init__(self, record: Questions, P: np.ndarray) -> None:
        mass = record.mass * np.repeat(record.weights, record.size)
        happened = np.flatnonzero(mass > 0.0)
        self.P: np.ndarray = np.maximum(P, 1e-15)
        self.likelihood, self.overlap = self.P[:, happened], None
        self.weight, self.cluster = mass[happened], record.item_number[record.row[happened]]
        self.even: np.ndarray = np.repeat(record.weights / record.size, record.size)

    @property
    def grouped(self) -> list[bool]:
        return [False] * len(self.P)

    @property
    def telling(self) -> float:
        """Twice the rows whose outcome has a probability below one half without calibration."""
        return 2.0 * float(self.weight[self.likelihood[0] < 0.5].sum())

    def unknown(self, pool: np.ndarray) -> float:
        """The score of the mean for a row with every option equally likely."""
        return -float(self.even @ np.log(pool @ self.P) / self.weight.sum())


class AutoQuestionCalibrator(
    CalibratorOfQuestions,
    family="automatic choice",
    use="Cross-validates methods; start here",
    common=True,
):
    r"""Average calibrators of questions by the evidence of their out-of-fold log losses, including
    no calibration.

    .. math:: \hat p = \sum_j w_j \hat p^{(j)}

    The candidates are no calibration, one temperature, temperatures by type and number of options,
    temperatures by question, and isotonic regression. Folds keep the rows of an item together.

    Parameters
    ----------
    cv : int, default 5
        Number of folds of items.
    random_state : int, default 0
        Seed of the folds and of the bootstrap of the evidence.

    Attributes
    ----------
    members_, weights_ : the averaged calibrators, fitted on all rows (None is no calibration), and
        their weights
    table_ : list of dicts, one a candidate: name, score, standard_error, weight, note
    score_, uncalibrated_score_ : log loss out of fold, of the result and of no calibration
    gain_in_errors_ : gain over no calibration in standard errors
    status_ : "pooled", "identity: too few rows" or "identity: no evidence"

    See Also
    --------
    QuestionCalibrator : the candidate by question alone.

    Notes
    -----
    Use it when you do not want to choose. With logs of more than 20,000 rows the evidence comes
    from some of their items. Signals of free answers are used by the calibrators by type and by
    question.

    References
    ----------
    Yao, Vehtari, Simpson and Gelman, "Using stacking to average Bayesian predictive distributions",
    Bayesian Analysis 13, 2018.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.5, 0.5, 400)
    >>> hit = rng.random(400) < 0.25 + 0.5 * p
    >>> log = [{"confidence": a, "correct": bool(b)} for a, b in zip(p, hit)]
    >>> AutoQuestionCalibrator().fit(log).status_
    'pooled'
    """

    tags: ClassVar[Tags] = Tags(label="automatic choice", random=True, soft_labels=True)
    weights_: np.ndarray
    table_: list[dict[str, Any]]
    gain_in_errors_: float

    def __init__(self, *, cv: int = 5, random_state: int = 0) -> None:
        self.cv: int = cv
        self.random_state: int = random_state

    def fit_record(self, record: Questions) -> Self:
        """Fit on the labelled rows of a record."""
        require_count("cv", self.cv, 2)
        record = record.known().in_order()
        self.n_fit_: float = float(record.weights.sum())
        why, names, notes, n_items = "", ["none"], {}, record.item_number.max() + 1
        if n_items < LEAST_ROWS:
            why, held = "too few rows", _HeldOutQuestions(record, record.probability[None])
        else:
            share = max(MOST_ROWS / len(record), LEAST_ROWS / n_items)
            part = record.take(record.drawn(min(share, 1.0), self.random_state)).merged()
            held, names, notes = self._try(part)
        pool = evidence_pool(held, self.n_fit_, self.random_state)
        averaged = {names[j] for j in pool.members}
        members, _ = fitted((one for one in CANDIDATES if one.name in averaged), record)
        self.members_: list[Any] = [members.get(names[j]) for j in pool.members]
        vars(self).update(learned(pool, held, () if why else names, notes, why))
        return self

    def _try(self, record: Questions) -> tuple[_HeldOutQuestions, list[str], dict[str, str]]:
        """Return (out-of-fold probabilities of the candidates, their names, notes of failures)."""
        folds, notes = record.folds(self.cv, self.random_state), dict[str, str]()
        predicted = {one.name: record.probability.copy() for one in CANDIDATES}
        for k in range(int(folds.max()) + 1):
            rows = np.flatnonzero(folds == k)
            members, failures = fitted(CANDIDATES, record.take(folds != k))
            notes |= failures
            for name, member in members.items():
                predicted[name][record.flat(rows)] = member.predict_record(record.take(rows))
        good = {name: p for name, p in predicted.items() if name not in notes}
        held = _HeldOutQuestions(record, np.array([record.probability, *good.values()]))
        return held, ["none", *good], notes

    def predict_ordered(self, record: Questions) -> np.ndarray:
        """(m,) calibrated probabilities of the options of a record."""
        require_fitted(self, "members_")
        pairs = zip(self.weights_, self.members_, strict=True)
        out: Any = sum(
            share * (record.probability if one is None else one.predict_ordered(record))
            for share, one in pairs
        )
        return out

    def explain(self) -> str:
        """Describe in one sentence the rows, the pool and the evidence against no calibration."""
        require_fitted(self, "members_")
        why, rows = self.status_.partition(": ")[2], f"{self.n_fit_:,.0f} rows"
        return choice_told(rows, self.table_, self.gain_in_errors_, why)
