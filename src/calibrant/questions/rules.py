"""Rules that answer, ask or escalate, with a promised error rate for each question or the log."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np

from calibrant._numerics.certificates import (
    PREDICTED,
    Blocks,
    Place,
    best_start,
    chains,
    fewest_rows,
    ladder,
)
from calibrant.core.calibrator import require_fitted
from calibrant.core.domain import Domain
from calibrant.core.estimators import BaseEstimator, clone, require_option
from calibrant.core.guarantee import Guarantee, Promised
from calibrant.core.saving import Saved
from calibrant.core.text_table import percent
from calibrant.decisions.certificates import (
    Certificate,
    Search,
    require_share,
    too_few,
    uncertified,
)
from calibrant.decisions.units import OVER, SAME, Claim, Over, Unit, confidence_gap
from calibrant.errors import CalibrationWarning, InputError, warn
from calibrant.questions.calibrator import CalibratorOfQuestions
from calibrant.questions.costs import read_costs
from calibrant.questions.domain import QUESTIONS
from calibrant.questions.read import as_questions
from calibrant.questions.record import Questions

__all__ = ["QuestionRules", "units_of"]


def units_of(
    record: Questions,
    table: np.ndarray,
    unit: Literal["question", "log", "item"],
    question: np.ndarray,
    real: bool,
    over: Over = "rows",
) -> Iterator[Unit]:
    """The units of a record: each question that it holds, ascending; the log; or its items as a
    whole, above a threshold if all of their rows are, and wrong if any is.

    ``table`` (Q, L) has the thresholds of each question, ``question`` (n,) the row of it. ``real``
    counts errors, else their predicted number. ``over`` says what counts alike in a question or
    log; items as a whole count by their weight.
    """
    lost = 1.0 - (record.correct if real else record.confidence)
    lost = (lost > 0.5).astype(np.float64) if real else lost
    above, item = record.confidence[:, None] > table[question], record.item_number
    if unit == "item" or over == "items":
        require_weights_of_items(record)
    if unit == "item":
        order = np.argsort(item, kind="stable")
        first = np.searchsorted(item[order], np.arange(int(item.max()) + 1))
        above = np.logical_and.reduceat(above[order], first, axis=0)
        lost = 1.0 - np.multiply.reduceat(1.0 - lost[order], first)
        weight = record.weights[order][first]
        yield Unit.of(above, above * lost[:, None], np.arange(len(first)), weight)
        return
    order, ends = np.arange(len(record)), np.empty(0, np.intp)
    if unit == "question":
        order = np.argsort(question, kind="stable")
        ends = np.flatnonzero(np.diff(question[order])) + 1
    for rows in np.split(order, ends):
        wrong = above[rows] * lost[rows, None]
        yield Unit.of(above[rows], wrong, item[rows], record.weights[rows], over)


def require_weights_of_items(record: Questions) -> None:
    """Raise InputError if rows of one item have different weights, where items are weighted."""
    item, weight = record.item_number, record.weights
    top = np.zeros(int(item.max()) + 1)
    np.maximum.at(top, item, weight)
    odd = np.flatnonzero(weight < top[item] * (1.0 - SAME))
    if len(odd):
        name = record.item.names[record.item.index[odd[0]]]
        raise InputError(
            "the rows of an item must have one weight, which is that of the item, where items"
            f" count; those of item {name!r} have {weight[odd[0]]:g} and {top[item[odd[0]]]:g};"
            ' give them one, or promise a share of rows (over="rows").'
        )


#: Ranks of the scores at which thresholds are tested, beside those of a ladder.
RANKS = 64
#: Name of the one certificate of a log.
ALL = "all questions"


class QuestionRules(Promised, Saved, BaseEstimator):
    r"""Decide which answers to use, with an error rate of at most ``risk`` among those of each
    question, with probability ``confidence`` for all questions together.

    .. math:: P\Big( \max_q P(\text{wrong} \mid s > \hat t_q, q) \le \text{risk} \Big) \ge
        \text{confidence}

    Each question has a path of thresholds at ranks of its scores. Tests begin at several starts
    that share the failure probability: the one with the most predicted power, and a ladder from few
    rows on. From each the thresholds fall until the exact binomial test :math:`P(Bin(m,
    \text{risk}) \le e)` of the m labelled rows above one fails. Where items have
    several rows, or rows have weights, the test bets on the sums of items, or draws rows of
    different items if these are few. Each question has its share of the failure probability; a path
    that passes to its end gives its share to others.

    Parameters
    ----------
    risk : float, default 0.05
        Maximum share of wrong answers among those used.
    confidence : float, default 0.95
    unit : {"question", "log", "item"}
        What the promise holds for: each certified question; all questions in the mixture of the
        log; or items, which are finished if all of their questions are answered, and wrong if any
        answer is (a chain of questions).
    over : {"rows", "items"}, optional
        What the error rate of a question or log is a share of: rows (the default), so that an item
        of ten rows counts ten times as much as one of one row; or items, each with the mean of its
        rows. Finished items are counted alike; leave it out for these.
    family : {"split", "order"}
        How questions share the failure probability: split, or in an order of predicted power, each
        with all of it and one threshold, up to the first that fails.
    calibrator : calibrator of questions, optional
        Calibrates the scores. An unfitted one is fitted on half of the items, whose scores also
        make the paths, and the other half is tested.
    costs : dict of question -> (cost of a wrong answer, cost of asking), optional
        An answer is only used where its expected cost is at most that of asking.
    escalate : float, optional
        Predicted risk above which a row is escalated instead of asked about. Rows of questions
        without a certificate always are.
    when_uncertain : {"raise", "answer_none"}
        Response if nothing can be certified.
    random_state : int, default 0

    Attributes
    ----------
    thresholds_ : dict of question -> threshold; answers above it are used
    certificates_ : dict of question -> Certificate
    reasons_ : dict of question -> why it has no certificate, with the labels needed
    models_ : list of the versions of the model in the rows
    digest_ : hash of the rows
    largest_ : float, most rows of an item (by weight) in the labelled ones
    guarantee_ : Guarantee

    See Also
    --------
    SelectiveClassifier : one threshold for one kind of answer.
    monitoring.Lock : keeps a rule for one version of a model.

    Notes
    -----
    Use it where wrong answers of a question cost more than asking a person. A question with m
    labels can be certified alone for a risk of at least :math:`1 - \delta^{1 / m}`: 25 labels
    prove .113 at a confidence of .95. Labels must be missing at random. Certificates of single
    questions do not hold for chains, because rows that reach the second question are selected; use
    ``unit="item"`` for these. The promise ends when the model or the population changes.

    The weights of a log are how much more frequent its rows are in the population than here, up to
    a factor, learned from other rows; the promise is about that population. A weight of 2 counts
    like the row twice in its item. One large item, or weight, bounds what all others prove: with
    ``over="items"`` large items count like the others.

    References
    ----------
    Angelopoulos et al., "Learn then test: calibrating predictive algorithms to achieve risk
    control", Annals of Applied Statistics 2025. Bretz, Maurer, Brannath and Posch, "A graphical
    approach to sequentially rejective multiple test procedures", Statistics in Medicine 28, 2009.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(5.0, 1.0, (1000, 2))
    >>> Y = (rng.random((1000, 2)) < p).astype(int)
    >>> from calibrant.questions import read_questions
    >>> rules = QuestionRules(risk=0.1, confidence=0.9).fit(read_questions(p, Y))
    >>> {name: round(t, 2) for name, t in rules.thresholds_.items()}
    {'0': 0.82, '1': 0.81}
    >>> rules.decide(read_questions(np.array([[0.95, 0.6]]))).tolist()
    ['answer', 'ask']
    """

    domain: ClassVar[Domain] = QUESTIONS
    thresholds_: dict[str, float]
    certificates_: dict[str, Certificate]
    reasons_: dict[str, str]

    def __init__(
        self,
        risk: float = 0.05,
        confidence: float = 0.95,
        *,
        unit: Literal["question", "log", "item"] = "question",
        over: Over | None = None,
        family: Literal["split", "order"] = "split",
        calibrator: Any = None,
        costs: Mapping[str, tuple[float, float]] | None = None,
        escalate: float | None = None,
        when_uncertain: Literal["raise", "answer_none"] = "raise",
        random_state: int = 0,
    ) -> None:
        self.risk: float = risk
        self.confidence: float = confidence
        self.unit: Literal["question", "log", "item"] = unit
        self.over: Over | None = over
        self.family: Literal["split", "order"] = family
        self.calibrator: Any = calibrator
        self.costs: Mapping[str, tuple[float, float]] | None = costs
        self.escalate: float | None = escalate
        self.when_uncertain: Literal["raise", "answer_none"] = when_uncertain
        self.random_state: int = random_state

    def fit(self, P: Any, y: Any = None, *, other: Any = None) -> Self:
        """Certify thresholds on labelled rows.

        Parameters
        ----------
        P : Questions, or a source of :func:`read_questions`
        y : outcomes, if P has none
        other : Questions, optional
            More rows, whose labels are not used, to predict where a start has most power; the
            unlabelled rows of P are added to them.
        """
        self._check()
        record = as_questions(P, y)
        self.models_: list[str] = record.models
        self.digest_: str = record.digest
        tested, beside = self._scored(record)
        beside += [] if other is None else [self.calibrated(as_questions(other))]
        self._certify(tested, beside)
        return self

    def decide(self, P: Any) -> np.ndarray:
        """(n,) "answer", "ask" or "escalate" for each row."""
        require_fitted(self, "thresholds_")
        record = self.calibrated(as_questions(P))
        names = record.question.names.tolist()
        known = np.array([self.thresholds_.get(str(name), math.inf) for name in names])
        threshold = known[record.question.index]
        worst = 1.0 if self.escalate is None else self.escalate
        hopeless = np.isinf(threshold) & (threshold > 0.0) | (1.0 - record.confidence > worst)
        asked = np.where(hopeless, "escalate", "ask")
        return np.where(self._answered(record, threshold), "answer", asked)

    def read(self, P: Any) -> Questions:
        """The rows that ``decide`` takes, whose ``models`` a lock compares with its own."""
        return as_questions(P)

    def decisions(self, record: Questions) -> dict[str, np.ndarray]:
        """Map names to values (n,) by which two versions of a model are compared."""
        return {"answered rows": self.decide(record) == "answer"}

    def claims(self, record: Questions) -> list[Claim]:
        """The rates that the rule promises, on labelled rows."""
        record, certified = self.calibrated(record), self.certificates_
        index, names = record.question.index, [str(name) for name in record.question.names]
        table = np.array([self.thresholds_.get(name, math.inf) for name in names])[:, None]
        units = list(units_of(record, table, self.unit, index, True, self.counted))
        present: list[int] = np.unique(index).tolist()
        found = dict.fromkeys(certified, (units[0], record))
        if self.unit == "question":
            parts = zip(units, [record.take(index == q) for q in present], strict=True)
            found = dict(zip([names[q] for q in present], parts, strict=True))
        tested = [
            Claim(name, found[name][0], self.risk, one.share, confidence_gap(found[name][1]))
            for name, one in certified.items()
            if name in found
        ]
        # A question that is not here may be wrong; it says nothing about itself or its mixture.
        answered = [name for name, at in self.thresholds_.items() if at < math.inf]
        missing = [name for name in answered if name not in {names[q] for q in present}]
        share = {name: certified[name].share for name in missing if name in certified}
        nothing = Unit(np.empty((0, 1)), np.empty((0, 1)), 0.0)
        return tested + [
            Claim(name, nothing, self.risk, share.get(name, 1.0), math.nan) for name in missing
        ]

    @property
    def guarantee_(self) -> Guarantee:
        """The promise, with its assumptions."""
        require_fitted(self, "thresholds_")
        counted = self.counted
        over = {
            "question": f"new {counted} of each certified question, all at once",
            "log": f"new {counted} of all questions in this mixture",
            "item": "new items whose questions are all answered",
        }[self.unit]
        n = sum(one.n for one in self.certificates_.values())
        assumes = "new items come from the population of the labelled ones, for the same model"
        if counted == "rows" and self.largest_ > 1.0:
            assumes += f", and are no larger than the largest of these ({self.largest_:,.4g} rows)"
        first = next(iter(self.certificates_.values()), None)
        what = "error rate among answers that are used"
        return Guarantee(
            *("pac", what, over, assumes, n),
            most=self.risk,
            unit=OVER[counted],
            confidence=self.confidence,
            method="" if first is None else first.method,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return thresholds, certificates and reasons, ready for JSON."""
        require_fitted(self, "thresholds_")
        thresholds = {k: t if math.isfinite(t) else None for k, t in self.thresholds_.items()}
        return {
            "risk": self.risk,
            "confidence": self.confidence,
            "unit": self.unit,
            "over": self.counted,
            "thresholds": thresholds,
            "certificates": {k: one.to_dict() for k, one in self.certificates_.items()},
            "reasons": self.reasons_,
        }

    def _check(self) -> None:
        for name in ("risk", "confidence"):
            require_share(name, getattr(self, name))
        require_option("unit", self.unit, ("question", "log", "item"))
        require_option("over", self.over or "rows", OVER)
        if self.over is not None and self.unit == "item":
            raise InputError(
                f'over must be left out where unit is "item", which counts items; got'
                f" {self.over!r}."
            )
        require_option("family", self.family, ("split", "order"))
        worst = self.escalate
        if worst is not None and (
            isinstance(worst, bool) or not (isinstance(worst, Real) and 0.0 <= worst <= 1.0)
        ):
            raise InputError(
                f"escalate must be a risk from 0 to 1; got {worst!r}; leave it out to ask about"
                " every row that is not answered."
            )
        require_option("when_uncertain", self.when_uncertain, ("raise", "answer_none"))
        if not isinstance(self.calibrator, CalibratorOfQuestions | None):
            raise InputError(
                f"calibrator must be a calibrator of questions, or None; got {self.calibrator!r};"
                " pass QuestionCalibrator()."
            )

    @property
    def counted(self) -> Over:
        """The unit of the error rate: "rows" or "items"."""
        return "items" if self.unit == "item" else self.over or "rows"

    def _scored(self, record: Questions) -> tuple[Questions, list[Questions]]:
        """(labelled rows to test, other rows for predictions), calibrated."""
        self.fitted_: Any = self.calibrator
        unlabelled = record.take(~record.labelled)
        tested, beside = record.known(), list[Questions]()
        if self.calibrator is not None and not hasattr(self.calibrator, "status_"):
            first = tested.drawn(0.5, self.random_state)
            self.fitted_ = clone(self.calibrator).fit_record(tested.take(first))
            tested, beside = tested.take(~first), [tested.take(first)]
        beside += [unlabelled] if len(unlabelled) else []
        return self.calibrated(tested), [self.calibrated(one) for one in beside]

    def calibrated(self, record: Questions) -> Questions:
        """The record with the scores that the rule reads."""
        if self.fitted_ is None:
            return record
        return record.recalibrated(self.fitted_.predict_record(record))

    def _certify(self, tested: Questions, beside: list[Questions]) -> None:
        names = [str(one) for one in tested.question.names]
        present: list[int] = np.unique(tested.question.index).tolist()
        units = [names[q] for q in present] if self.unit == "question" else [ALL]
        delta = 1.0 - self.confidence
        known = {*names, *(str(q) for one in beside for q in one.question.names)}
        costs = read_costs(self.costs, known)
        table = self._thresholds(tested, present, costs, delta / len(units))
        index, counted = tested.question.index, self.counted
        real = list(units_of(tested, table, self.unit, index, True, counted))
        self.largest_: float = max(one.top for one in real)
        guessed = self._guessed([tested, *beside], table, names)
        paths = list[_Path]()
        for g, one in enumerate(real):
            n, share, errors = guessed[present[g] if self.unit == "question" else 0]
            p_values = one.p_values(self.risk, delta, share / n)
            paths.append(_Path(one, share / n, errors / n, p_values))
        last = _tested(paths, self.risk, delta, self.family)
        self.thresholds_ = {names[q]: math.inf for q in present}
        self.certificates_, self.reasons_ = {}, {}
        for g, name in enumerate(units):
            if last[g] < 0:
                self.reasons_[name] = paths[g].reason(self.risk, self.confidence, len(units))
                continue
            for q in [present[g]] if self.unit == "question" else present:
                self.thresholds_[names[q]] = float(table[q, last[g]])
            self.certificates_[name] = self._certificate(paths[g], last[g])
        self._told()

    def _guessed(
        self, parts: list[Questions], table: np.ndarray, names: list[str]
    ) -> dict[int, np.ndarray]:
        """(3, thresholds) rows or items in all, above each threshold, and predicted wrong ones, by
        the number of the question; all at 0 if they are together. No label is used.
        """
        place, sums = {name: q for q, name in enumerate(names)}, dict[int, np.ndarray]()
        for part in parts:
            index = np.array([place.get(str(name), -1) for name in part.question.names])
            code = index[part.question.index]
            rows, code = part.take(code >= 0), code[code >= 0]
            if len(rows):
                units = list(units_of(rows, table, self.unit, code, False, self.counted))
                for q, one in zip(np.unique(code).tolist(), units, strict=False):
                    q = q if self.unit == "question" else 0
                    mass = one.scale * np.stack([np.full_like(one.m, one.n), one.m, one.e])
                    sums[q] = sums.get(q, 0.0) + mass
        return sums

    def _thresholds(
        self, tested: Questions, present: list[int], costs: dict[str, Any], delta: float
    ) -> np.ndarray:
        """(questions, thresholds) descending, at ranks of the confidences: of each question, of
        the log, or of the least of each item.
        """
        score, index = tested.confidence, tested.question.index
        if self.unit == "item":
            score = np.full(int(tested.item_number.max()) + 1, np.inf)
            np.minimum.at(score, tested.item_number, tested.confidence)
        parts = [score[index == q] for q in present] if self.unit == "question" else [score]
        ranked = [_at_ranks(one, self.risk, delta) for one in parts]
        most = max(map(len, ranked))
        table = np.full((len(tested.question.names), most), -np.inf)
        for j, q in enumerate(present):
            own = ranked[j if self.unit == "question" else 0]
            table[q, : len(own)] = own
            wrong, ask = costs.get(str(tested.question.names[q]), (0.0, 1.0))
            table[q] = np.maximum(table[q], 1.0 - ask / wrong if wrong > ask else -math.inf)
        return table

    def _answered(self, record: Questions, threshold: np.ndarray) -> np.ndarray:
        """(n,) whether each row is above its threshold, with all rows of its item if these are
        decided together.
        """
        above = record.confidence > threshold
        if self.unit != "item":
            return above
        item = record.item_number
        return (np.bincount(item, ~above) == 0)[item]

    def _certificate(self, path: "_Path", at: int) -> Certificate:
        how = f"paths of thresholds ({self.family})"
        figures = (path.share, self.risk, self.confidence, how, self.counted)
        return path.unit.certificate(at, *figures)

    def _told(self) -> None:
        if self.certificates_:
            return
        first = next(iter(self.reasons_.values()))
        few = f"no question can be certified: {first}"
        if self.when_uncertain == "raise":
            raise InputError(few)
        warn(f"{few} No answer is used.", CalibrationWarning)


@dataclass(frozen=True)
class _Path:
    """One unit along its path: its rows, their predicted shares above each threshold and wrong, and
    the p-values.
    """

    unit: Unit
    share: np.ndarray
    errors: np.ndarray
    p_values: np.ndarray

    def starts(self, risk: float, delta: float) -> list[Place]:
        """The thresholds at which tests begin, with shares of the failure probability: the one with
        the most predicted power, and a ladder.
        """
        rows = self.unit.n * self.share
        at, gained = best_start(rows, self.unit.n * self.errors, risk, PREDICTED * delta)
        predicted = [(at, PREDICTED * delta)] if gained > 0.0 else []
        left = delta - sum(share for _, share in predicted)
        steps = ladder(self.unit.n, risk, left, self.unit.drawn is None)
        places = np.searchsorted(rows, [count - 1e-9 for count, _ in steps]).tolist()
        return sorted([*predicted, *zip(places, (share for _, share in steps), strict=True)])

    def reason(self, risk: float, confidence: float, paths: int) -> str:
        """Say why no threshold is certified, if ``paths`` share the failure probability."""
        delta, one = (1.0 - confidence) / paths, self.unit
        fewest = fewest_rows(risk, delta)
        places = np.flatnonzero(np.diff(one.m, prepend=0.0) > 0.0)
        if one.n < fewest or not len(places):
            return too_few(one.n, fewest, risk, confidence)
        if one.drawn is not None:
            at = places[int(np.argmin((one.e[places] + 1.0) / one.m[places]))]
            wrong = percent(float(one.e[at] / one.m[at]))
            return (
                f"of the {one.scale * one.m[at]:,.0f} rows of highest score {wrong} are wrong, and"
                f" items count once, so that they do not prove a risk of {risk:g}; label more"
                " items, or allow more risk."
            )
        blocks = Blocks(-1.0 * places, one.m[places], one.e[places], True)
        counts = np.append(one.m, one.n + 1.0)
        starts = [(float(counts[at]), share) for at, share in self.starts(risk, delta)]
        return uncertified(Search(blocks, starts, 1.0, risk, confidence, delta, "binomial"))


def _at_ranks(score: np.ndarray, risk: float, delta: float) -> np.ndarray:
    """Thresholds above which there are so many of the highest scores: those of a ladder of starts,
    and ``RANKS`` more.
    """
    n = len(score)
    starts = [count for count, _ in ladder(float(n), risk, delta) if count < n]
    counts = np.concatenate([starts, np.geomspace(min(fewest_rows(risk, delta), n), n, RANKS)])
    ordered = np.append(np.sort(score)[::-1], -np.inf)
    return np.unique(ordered[np.unique(np.rint(counts).astype(int))])[::-1]


def _tested(paths: list[_Path], risk: float, delta: float, family: str) -> np.ndarray:
    """(units,) the last threshold that passes on each path, -1 for none."""
    if family == "split":
        starts = [one.starts(risk, delta / len(paths)) for one in paths]
        return np.array(chains([one.p_values for one in paths], starts))
    last = np.full(len(paths), -1)
    power = [
        best_start(one.unit.n * one.share, one.unit.n * one.errors, risk, delta) for one in paths
    ]
    for g in sorted(range(len(paths)), key=lambda g: -power[g][1] / paths[g].unit.n):
        at, gained = power[g]
        if gained <= 0.0 or paths[g].p_values[at] > delta:
            break
        last[g] = at
    return last
