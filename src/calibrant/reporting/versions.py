"""Comparison of two versions of a model on the same rows, and its result: what moved, for whom, and
what still holds.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import Any, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._numerics.certificates import rows_for_rate
from calibrant._numerics.clusters import variance_of_sum
from calibrant._numerics.intervals import mean_limits, normal_quantile, powers
from calibrant.audits.audit import audited
from calibrant.audits.sample import Column, ScoreSample, cells, columns_of, family
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import DomainCalibrator
from calibrant.core.cards import Card, Shown
from calibrant.core.domain import Domain, Facet, columns_named, domain_of_input
from calibrant.core.estimators import seeded
from calibrant.core.forecast_record import as_forecast
from calibrant.core.given import Inputs
from calibrant.core.groups import clustered, label_columns
from calibrant.core.guarantee import Result
from calibrant.core.labels import array_of, is_missing
from calibrant.core.metric import require_level
from calibrant.core.predictions import read, require_row_order, shared_classes
from calibrant.core.reading import CLASSIFICATION, REGRESSION, read_for, require_own_options
from calibrant.decisions.selective import SelectiveClassifier
from calibrant.decisions.sets import ConformalSets
from calibrant.decisions.thresholds import NeymanPearsonClassifier
from calibrant.errors import InputError, naming
from calibrant.metrics.comparison import Comparison, compare
from calibrant.metrics.several import CHOSEN_BY
from calibrant.monitoring.promises import Lock, SwapCheck, check_promise
from calibrant.reporting.calibrate import resolve

__all__ = ["GroupMove", "Move", "VersionComparison", "compare_versions"]


#: Advice -> (badge, tone, action).
ADVICE = {
    "keep": ("Keep", "good", "Use the new version with the old calibrator and rule."),
    "re-fit": ("Re-fit", "bad", "Fit the calibrator on labels of the new version, then certify."),
    "re-certify": ("Re-certify", "bad", "Certify the rule on labels of the new version."),
    "cannot tell": ("Cannot tell", "unknown", "Label about {} rows of the new version."),
}


@dataclass(frozen=True)
class Move(Result):
    """Mean of a difference between two versions over the same rows, with its interval.

    Attributes
    ----------
    name : "changed answers" (their share), "risk", "confidence", "mean" or "std" (new minus old),
        "distance" (of the two distributions of a row: total variation, or Wasserstein-1 in units of
        the outcome), or the share of rows that a rule decides on (new minus old)
    value, low, high : float
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class GroupMove(Result):
    """Group whose mean moved, by a test that takes the number of groups into account.

    Attributes
    ----------
    group : str
    n : float, rows
    old, new, change : float, means under both versions, and the difference
    low, high : float, interval of the change; those of all groups hold together
    p_value : float, adjusted
    """

    group: str
    n: float
    old: float
    new: float
    change: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, repr=False)
class VersionComparison(Shown, Result):
    """Result of ``compare_versions``; it prints the advice and what moved.

    Attributes
    ----------
    advice : {"keep", "re-fit", "re-certify", "cannot tell"}
    reason : str
    labels_needed : float, more labels that would decide; 0 where the advice is no "cannot tell"
    moved : list of Move
    groups : list of GroupMove, in which the prediction moved, the largest change first
    better, worse : lists of GroupMove, in which the loss fell or rose; empty without labels
    comparison : metrics.Comparison of the labelled rows, or None
    checks : list of SwapCheck, of the calibrator and the rule on the new version
    n, labelled : int, rows
    """

    advice: str
    reason: str
    labels_needed: float
    moved: list[Move]
    groups: list[GroupMove]
    better: list[GroupMove]
    worse: list[GroupMove]
    comparison: Comparison | None
    checks: list[SwapCheck]
    n: int
    labelled: int

    @property
    def sentence(self) -> str:
        """The comparison of the labelled rows, what moved for whom, and the reason."""
        rows = [] if self.comparison is None else self.comparison.rows[:1]
        found = [f"The new version is {row.meaning} ({row.metric})." for row in rows]
        for word, groups in (("moved most", self.groups), ("is worse", self.worse)):
            named = [f"{one.group} ({one.change:+.3g})" for one in groups[:3]]
            found += [f"It {word} in {', '.join(named)}."] if named else []
        return " ".join([*found, f"{self.reason[0].upper()}{self.reason[1:]}."])

    def _card(self) -> Card:
        badge, tone, action = ADVICE[self.advice]
        needed = f"{self.labels_needed:,.0f}" if math.isfinite(self.labels_needed) else "more"
        head = ("new minus old", "value", "interval")
        rows = [
            (one.name, f"{one.value:.4g}", f"[{one.low:.4g}, {one.high:.4g}]") for one in self.moved
        ]
        sentence = f"{badge}: {self.sentence} {action.format(needed)}"
        return Card(sentence, "Two versions of a model", badge, tone, head=head, rows=rows)


#: Levels at which two forecasts are compared.
LEVELS = np.arange(0.05, 1.0, 0.1)
#: Number of parts of a column of numbers, crossed columns, and draws, as in an audit.
N_PARTS, DEPTH, DRAWS = 5, 2, 1000
#: Differences of a row from 0 to 1; others have a sign.
SHARES = ("changed answers", "distance")
#: Labels to begin with where no rate is known.
FIRST = 200


#: The name of the score, its values under both versions, and other differences of each row.
Moves = tuple[str, np.ndarray, np.ndarray, dict[str, np.ndarray]]


def _of_classes(old: Any, new: Any) -> Moves:
    if old.n_classes != new.n_classes:
        raise InputError(
            f"old and new must have the same classes; got {old.n_classes} and {new.n_classes};"
            " compare the classes that both have."
        )
    P, Q = old.probabilities, new.probabilities
    of_event = old.n_classes == 2
    name = "risk" if of_event else "confidence"
    scores = (P[:, 1], Q[:, 1]) if of_event else (old.confidence, new.confidence)
    changed = {"changed answers": old.predicted != new.predicted}
    return name, *scores, changed | {"distance": 0.5 * np.abs(P - Q).sum(axis=1)}


def _of_numbers(old: Any, new: Any) -> Moves:
    apart = new.forecast.quantile(LEVELS) - old.forecast.quantile(LEVELS)
    others = {"std": new.std - old.std, "distance": np.abs(apart).mean(axis=1)}
    return "mean", old.mean, new.mean, others


#: Functions that measure the change of each row, by domain.
MOVES: Facet[Callable[[Any, Any], Moves]] = Facet("comparison of versions")
MOVES.register(CLASSIFICATION, lambda: _of_classes)
MOVES.register(REGRESSION, lambda: _of_numbers)


@singledispatch
def decided(rule: Any, record: Any) -> dict[str, np.ndarray]:
    """Return the decisions of a rule on all rows, as numbers by their name; none for others."""
    return rule.decisions(record) if hasattr(rule, "decisions") else {}


@decided.register
def _(rule: SelectiveClassifier, record: Any) -> dict[str, np.ndarray]:
    if not hasattr(rule, "classes_"):
        return {}
    return {"accepted rows": rule.accept_record(record)}


@decided.register
def _(rule: NeymanPearsonClassifier, record: Any) -> dict[str, np.ndarray]:
    return {"predicted events": rule.decide(record.values) == 1}


@decided.register
def _(rule: ConformalSets, record: Any) -> dict[str, np.ndarray]:
    return {"classes in a set": rule.set_record(record, record.groups).sum(axis=1)}


@seeded
def compare_versions(
    old: Any,
    new: Any,
    y: ArrayLike | None = None,
    *,
    calibrator: Any = None,
    rule: Any = None,
    groups: Any = None,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
    random_state: int = 0,
) -> VersionComparison:
    r"""Compare two versions of a model on the same rows: what moved, for whom, which is better, and
    whether the old calibrator or rule still holds.

    .. math:: \bar d = \frac1n \sum_i \big( f_{new}(x_i) - f_{old}(x_i) \big), \qquad
        \overline{TV} = \frac1n \sum_i \tfrac12 \sum_k |P^{new}_{ik} - P^{old}_{ik}|

    Parameters
    ----------
    old, new : (n, K), or (n,) for binary; forecasts, or pairs (mean, std); or logs of questions
        Predictions of the two versions, before calibration, for the same rows in the same order.
        Logs are paired by item, question and the names of the options; frames of classes by the
        names of their columns.
    y : (n,) outcomes, optional
        Missing (None or NaN) where a row has no label; logs of questions hold their own, in one of
        the two or both.
    calibrator : fitted calibrator or Lock, optional
        That of the old version. Without one and without a rule, the predictions of the new version
        are tested as they are, against a re-fit by the default calibrator.
    rule : fitted rule or Lock, optional
        That of the old version, on calibrated predictions if ``calibrator`` is passed.
    groups : frame, mapping, (n, c) array of columns or (n,) labels, optional
        Groups, and their crossings of two columns, in which to look for changes. Default: the
        questions and types of a log.
    level : float, default 0.95
        The level of intervals; 1 - ``level`` is the error probability of each test, and of all
        groups together.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}
    random_state : int, default 0

    Returns
    -------
    VersionComparison
        ``advice`` is "keep" (it still holds), "re-fit" (the calibrator is broken), "re-certify"
        (the rule is), or "cannot tell", with ``labels_needed``.

    Raises
    ------
    InputError

    See Also
    --------
    monitoring.Lock : binds a calibrator or rule to a version, and checks the next one.
    compare : any metric of any number of models.

    Notes
    -----
    Use it before a new version is put to use. Without labels it shows what moved, and also what a
    rule would do, but never whether the promise holds: a version that moved nowhere on average may
    still be wrong elsewhere. A group is listed if its mean change differs from 0, by a test for all
    groups together (:func:`calibrant.audit`, weak null). The tests of a rule are those that
    certified it; coverage may miss its level by 2 points. A calibrator holds if a re-fit on the
    labelled rows can lower its score by 1 % at most, out of fold. The rows must not be those that
    the new version was made with. Number a sequence of versions with ``Lock.check``.

    References
    ----------
    Bauer, "Multiple testing in clinical trials", Statistics in Medicine 1991. Garg et al.,
    "Leveraging unlabeled data to predict out-of-distribution performance", ICLR 2022.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(0.0, 2.0, 2000)
    >>> p = 1.0 / (1.0 + np.exp(-odds))
    >>> y = (rng.random(2000) < p).astype(int)
    >>> sharper = 1.0 / (1.0 + np.exp(-3.0 * odds))
    >>> rule = SelectiveClassifier(risk=0.15).fit(p, y)
    >>> found = compare_versions(p, sharper, y, rule=rule)
    >>> found.advice, found.comparison.rows[0].meaning
    ('re-certify', 'worse')
    >>> compare_versions(p, sharper, rule=rule).advice
    'cannot tell'
    """
    require_level(level)
    domain = domain_of_input(*(old[:2] if isinstance(old, tuple) else (old,)))
    require_own_options(domain, classes=classes, inputs=inputs)
    sides, known = _read(domain, old, new, y, classes, inputs, cluster)
    named = columns_named(sides[0]) if groups is None else label_columns(groups, sides[0])
    score, before, after, others = MOVES[domain](sides[0], sides[1])
    given = [one.fitted if isinstance(one, Lock) else one for one in (calibrator, rule)]
    moves = {score: after - before, **others, **_decisions(given[0], given[1], sides)}
    look = partial(_by_group, level=level, random_state=random_state)
    labelled, rows = [one.take(known) for one in sides], np.flatnonzero(known)
    checks, comparison, losses = list[SwapCheck](), None, list[GroupMove]()
    if known.any():
        by = CHOSEN_BY[domain]
        ones = dict(zip(("old", "new"), labelled, strict=True))
        comparison = compare.of(ones, list(by.compared(labelled)), level=level)
        checks = _checks(calibrator, rule, labelled[1], 1.0 - level, domain)
        first, second = (cast(Any, by.score).losses_of(one) for one in labelled)
        own = [(name, column[rows]) for name, column in named]
        losses = look(own, labelled[0], first, second)
    return VersionComparison(
        *_advised(
            checks,
            sides[0].agrees_with(sides[1]),
            any(one is not None for one in given),
            given[1],
            1.0 - level,
        ),
        [_mean(name, one * 1.0, sides[0], level) for name, one in moves.items()],
        look(named, sides[0], before, after),
        [one for one in losses if one.change < 0.0],
        [one for one in losses if one.change > 0.0],
        comparison,
        checks,
        len(sides[0]),
        int(known.sum()),
    )


def _read(
    domain: Domain, old: Any, new: Any, y: Any, classes: Any, inputs: Any, cluster: Any
) -> tuple[list[Any], np.ndarray]:
    """Return (records of all rows, (n,) whether each is labelled); rows without a label have any,
    which is not used.
    """
    if domain.paired is not None:
        both = domain.paired({"old": old, "new": new}, y, None, labelled=False).values()
        return [clustered(one, cluster) for one in both], np.logical_and(
            *(b.labelled for b in both)
        )
    require_row_order({"old": old, "new": new, "y": y})
    if "classes" in domain.options and classes is None:
        classes = shared_classes({"old": old, "new": new})
    old, new = (as_forecast(one) if "std" in domain.options else one for one in (old, new))
    if y is None and "classes" in domain.options:
        sides = _named(old, new, partial(read, inputs=inputs, classes=classes))
        _require_same_number(*sides)
        return [clustered(one, cluster) for one in sides], np.zeros(len(sides[0]), bool)
    listed = [None] * len(old) if y is None else array_of(y).tolist()
    known = np.array([not is_missing(one) for one in listed])
    any_one = next((one for one in listed if not is_missing(one)), 0.0)
    filled = np.array([one if seen else any_one for one, seen in zip(listed, known, strict=True)])
    score = CHOSEN_BY[domain].score
    labelled = partial(read_for, [score], filled, classes=classes, inputs=inputs)
    sides = [one.one_output() for one in _named(old, new, labelled)]
    _require_same_number(*sides)
    return [clustered(one, cluster) for one in sides], known


def _named(old: Any, new: Any, reading: Callable[[Any], Any]) -> list[Any]:
    """Both sides as they are read; errors name the side."""
    return [naming("P", name)(reading)(one) for name, one in (("old", old), ("new", new))]


def _require_same_number(old: Any, new: Any) -> None:
    if len(old) != len(new):
        raise InputError(
            f"old and new must hold the same rows; got {len(old)} and {len(new)}; keep the rows"
            " that both have, in one order."
        )


def _decisions(calibrator: Any, rule: Any, sides: Sequence[Any]) -> dict[str, np.ndarray]:
    """Return the change of what a rule decides on each row, by its name."""
    first, second = (decided(rule, _calibrated(calibrator, one)) for one in sides)
    return {name: second[name] * 1.0 - first[name] * 1.0 for name in first}


def _calibrated(calibrator: Any, record: Any) -> Any:
    if calibrator is None:
        return record
    if not isinstance(calibrator, DomainCalibrator):
        name = type(calibrator).__name__
        raise InputError(
            f"calibrator must be a fitted calibrator, or a Lock of one; got a {name}; fit"
            " OneVsRest(map) in place of a map such as Platt()."
        )
    return record.recalibrated(calibrator.predict_record(record), calibrator.tags.output)


def _checks(
    calibrator: Any, rule: Any, record: Any, alpha: float, domain: Domain
) -> list[SwapCheck]:
    """Test the calibrator, and the rule on calibrated rows; without both, the predictions as they
    are.
    """
    if calibrator is None and rule is None:
        return check_promise(None, record, alpha, resolve(None, domain))
    fitted = calibrator.fitted if isinstance(calibrator, Lock) else calibrator
    given = ((calibrator, record), (rule, _calibrated(fitted, record)))
    return [
        one
        for held, rows in given
        if held is not None
        for one in (
            held.check_record(rows) if isinstance(held, Lock) else check_promise(held, rows, alpha)
        )
    ]


def _advised(
    checks: list[SwapCheck], same: bool, promised: bool, rule: Any, alpha: float
) -> tuple[str, str, float]:
    """Return (advice, reason, labels needed)."""
    broken = [one for one in checks if one.state == "broken"]
    untold = [one for one in checks if one.state == "cannot tell"]
    reason = "; ".join(map(str, broken or untold or checks))
    if same and not broken and not (promised and untold):
        # Nothing changes, and nothing that is promised is in doubt.
        return "keep", "both versions predict the same", 0.0
    if broken:
        return "re-fit" if any(one.refits for one in broken) else "re-certify", reason, 0.0
    if untold:
        return "cannot tell", reason, max(one.labels_needed for one in untold)
    if checks:
        return "keep", reason, 0.0
    one = getattr(rule, "certificate_", None)
    found = getattr(rule, "certificates_", {} if one is None else {"": one}).values()
    needed = [
        rows_for_rate(c.errors / c.accepted, c.risk, alpha / len(found)) / c.share
        for c in found
        if c.accepted
    ]
    said = "no row has a label, so whether anything still holds cannot be told"
    return "cannot tell", said, math.ceil(max(needed, default=FIRST))


def _by_group(
    named: Sequence[tuple[str | None, np.ndarray]],
    record: Any,
    before: np.ndarray,
    after: np.ndarray,
    *,
    level: float,
    random_state: int,
) -> list[GroupMove]:
    """Return the groups whose mean moved, by an audit of the new values as predictions of the
    old.
    """
    columns = columns_of(named, N_PARTS, record.weights)
    if not len(family(columns, DEPTH)):
        return []
    order = np.lexsort([cells(columns, len(before)), after, before])
    cluster = None if record.cluster is None else record.cluster[order]
    old, new, ones = before[order, None], after[order, None], np.ones((len(order), 1))
    sample = ScoreSample(("",), record.weights[order], new, old, ones, cluster, order)
    columns = [Column(one.name, one.levels, one.index[order]) for one in columns]
    how = (level, "weak", None, DEPTH, 0.0, "any", DRAWS, random_state)
    off = sorted(audited(sample, columns, None, "", *how).off, key=lambda one: -abs(one.gap))
    return [
        GroupMove(g.name, g.n, g.came, g.said, g.gap, g.low, g.high, float(g.p_value or 0.0))
        for g in off
    ]


def _mean(name: str, values: np.ndarray, record: Any, level: float) -> Move:
    """Return the mean with the interval of one with an unseen row, which may be as large as the
    largest of these, and reach 1 for probabilities and shares.
    """
    weight, worth = record.weights, record.weights.sum()
    mean, freedom = weight @ values / worth, max(worth - 1.0, 1.0)
    sums = np.array([weight @ power for power in powers(values)])
    if record.cluster is not None and values.any():
        variance, freedom = variance_of_sum(weight * (values - mean), record.cluster, weight)
        spread = weight @ (values - mean) ** 2 / worth
        worth = min(worth, 1.0 + spread / max(variance / weight.sum() ** 2, 1e-300))
    least, most = float(values.min()), float(values.max())
    if not hasattr(record, "forecast"):
        least, most = (0.0 if name in SHARES else -1.0), max(most, 1.0)
    if not len(values) > 2:
        # So few rows say nothing about others.
        far = hasattr(record, "forecast")
        return Move(name, float(mean), *((-math.inf, math.inf) if far else (least, most)))
    wide = 2.0 * float(special.ndtr(normal_quantile(level, freedom))) - 1.0
    low, high = mean_limits(worth, sums * worth / weight.sum(), least, most, wide)
    return Move(name, float(mean), float(low), float(high))
