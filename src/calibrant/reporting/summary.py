"""Summary: the typed content of a report, its conversion to the dictionary that is written, and
sections on the report itself, on errors by chance, and on later rows without labels.

The facts of a report about itself are the model, the event and the period in words, the date, a
hash of the data, and the call that makes the report again. The error by chance is the calibration
error of a perfectly calibrated model on the same rows. How good the model is on later rows is an
estimate.
"""

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._numerics import bins
from calibrant._numerics.bootstrap import (
    MANY_ROWS,
    drawn_by_score,
    hit_drawer,
    null_generator,
    of_whole_rows,
    pooled_gaps,
)
from calibrant._numerics.smoothing import pooled_scores
from calibrant.core.exports import __version__
from calibrant.core.groups import in_order
from calibrant.core.guarantee import Known, plain
from calibrant.core.model_outputs import is_fitted
from calibrant.errors import InputError
from calibrant.monitoring.estimates import PerformanceEstimate, estimates
from calibrant.reporting.calibrate import Alternative, Choice, Compared, made_by, shown_name
from calibrant.reporting.compared_scores import Gain, Score
from calibrant.reporting.drift import ByClass, Drift
from calibrant.reporting.miscalibration import Miscalibration
from calibrant.reporting.options import ReportOptions
from calibrant.reporting.states import Place

if TYPE_CHECKING:
    from calibrant.reporting.states import Seen

__all__ = [
    "SCHEMA",
    "About",
    "Chance",
    "Measured",
    "Method",
    "Part",
    "Since",
    "Summary",
    "Verdict",
    "call_of",
    "chance_error",
    "data_hash",
    "period_of",
    "since_then",
]


#: Digits of the hash: enough to tell two files apart, few enough to read aloud.
DIGITS = 12


@dataclass(frozen=True)
class About:
    """Names given by the user (None: not given), and how the report was made.

    Attributes
    ----------
    made : date of the report, in UTC
    data : hash of the rows measured, the same for any container; "" if the rows are not known
    model, event, period, version : str or None, as given
    """

    made: str
    data: str
    model: str | None = None
    event: str | None = None
    period: str | None = None
    version: str | None = None

    @classmethod
    def of(cls, record: Any, named: dict[str, Any]) -> "About":
        """Describe a report on ``record``, or on results whose rows are not known (None); ``named``
        holds some of the four names.
        """
        words = {name: None if value is None else str(value) for name, value in named.items()}
        return cls(
            datetime.now(UTC).date().isoformat(),
            "" if record is None else data_hash(record),
            **words,
        )


def data_hash(record: Any) -> str:
    """Return a hash of all arrays of a record, whatever the order of its rows.

    Examples
    --------
    >>> from calibrant.core.predictions import read
    >>> data_hash(read([0.2, 0.7], [0, 1])) == data_hash(read(np.array([0.2, 0.7]), (0, 1)))
    True
    """
    found = hashlib.blake2b(digest_size=DIGITS // 2)
    _add(found, in_order(record))
    return found.hexdigest()


def _add(found: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        plain = value.astype(str) if value.dtype.kind in "OU" else np.ascontiguousarray(value)
        found.update(repr((plain.shape, plain.dtype.kind)).encode())
        found.update(plain.tobytes() if plain.dtype.kind != "U" else "\0".join(plain.flat).encode())
    elif hasattr(value, "__dict__"):
        given = [one.name for one in fields(value)] if is_dataclass(value) else vars(value)
        for name in sorted(given):
            if not name.startswith("_"):
                _add(found, getattr(value, name))


def period_of(times: Any) -> str | None:
    """Return the first and the last time of the rows in words; None without times."""
    if times is None:
        return None
    first, last = (str(one) for one in (times.starts[0], times.starts[-1]))
    return first if first == last else f"{first} to {last}"


def call_of(names: Sequence[str], calibrator: Any, options: dict[str, Any]) -> list[str]:
    """Return the code that makes the report again from ``names`` of arrays; of the ``options`` the
    arrays are named too.

    Examples
    --------
    >>> from calibrant.calibrators.maps.sigmoids import Platt
    >>> call_of(("y", "P"), [Platt()], {"level": 0.9, "groups": np.zeros(3)})[1]
    'found = cb.report(y, P, calibrator=[cb.Platt()], level=0.9, groups=groups)'
    """
    given = [f"{name}={_written(name, value)}" for name, value in options.items()]
    if calibrator is not None:
        given.insert(0, f"calibrator={_expression(calibrator) or 'calibrator'}")
    return [
        f"import calibrant as cb  # {__version__}; NumPy {np.__version__}, Python"
        f" {platform.python_version()}",
        f"found = cb.report({', '.join([*names, *given])})",
    ]


def _written(name: str, value: Any) -> str:
    """Return a plain value as code, and anything else by its name."""
    value = value.item() if isinstance(value, np.generic) else value
    return repr(value) if value is None or isinstance(value, str | int | float) else name


def _expression(value: Any) -> str | None:
    """Return code that makes a calibrator, or several; None where one is fitted."""
    if isinstance(value, Mapping | list | tuple):
        named = isinstance(value, Mapping)
        parts = [_expression(one) for one in (value.values() if named else value)]
        if None in parts:
            return None
        if named:
            return f"{{{', '.join(map('{!r}: {}'.format, value, parts))}}}"
        return f"[{', '.join(map(str, parts))}]"
    value = value() if isinstance(value, type) else value
    return None if is_fitted(value) else made_by(value)


DRAWS = 2e7


@dataclass(frozen=True)
class Chance(Known):
    """Observed error, and its mean and high quantile under perfect calibration.

    It has the share of draws at least as large as the observed error, or whether that is beyond the
    high quantile; for an event, it also has those of the ICI.
    """

    observed: float
    mean: float
    high: float
    p_value: float | None = None
    beyond: bool | None = None
    ici: "Chance | None" = None


def chance_error(
    seen: "Seen",
    *,
    n_bins: int = 15,
    n_resamples: int = 500,
    level: float = 0.95,
    random_state: int = 0,
) -> Chance:
    """Top-label calibration error when every prediction is right with exactly its confidence.

    Outcomes are drawn from the confidences of the rows themselves; a row of weight w is drawn w
    times (rounded, at least once), and those of a cluster fall together as often as they were seen
    to. "High" is the ``level`` quantile.
    """
    record, sums, total = seen.drawn, seen.counts.bins[n_bins], seen.counts.total[0]
    confidence = record.confidence
    index = bins.equal_width_index(confidence, n_bins, record.resolution)
    observed = float(np.abs(sums[:, 1] - sums[:, 2]).sum() / total)
    rng = null_generator(random_state)
    count = int(np.clip(DRAWS / len(record), 100, n_resamples))
    hits = _hits_of_bins(record, index, n_bins, count, rng)
    drawn = np.abs(hits - sums[:, 1]).sum(axis=1) / total
    p_value = float((1 + (drawn >= observed).sum()) / (1 + count))
    return Chance(observed, float(drawn.mean()), float(np.quantile(drawn, level)), p_value)


def _hits_of_bins(
    record: Any, index: np.ndarray, n_bins: int, count: int, rng: np.random.Generator
) -> np.ndarray:
    """The hits in each bin, (count, n_bins), drawn from the confidences of the rows."""
    confidence, weight = record.confidence, record.weights
    if weight.sum() >= MANY_ROWS and of_whole_rows(weight, record.cluster):
        columns, hits = [confidence, confidence * (1.0 - confidence)], np.zeros((count, n_bins))
        rows, risk, variance = bins.grouped_sums(index, n_bins, columns, weight).T
        used = rows > 0.0
        shares = risk[used] / rows[used], variance[used] / rows[used]
        hits[:, used] = risk[used] + pooled_gaps(rows[used], *shares, count, rng).T
        return hits
    _, mass, place = pooled_scores(confidence, weight)
    if not drawn_by_score(len(mass), weight, record.cluster):
        draw = hit_drawer(confidence, record.correct, weight, record.cluster)
        return np.array([np.bincount(index, weight * draw(rng), n_bins) for _ in range(count)])
    cells, cell = np.unique(index * len(mass) + place, return_inverse=True)
    rows, total = bins.grouped_sums(cell, len(cells), [confidence], weight).T
    hits = rng.binomial(rows.astype(np.int64), np.minimum(total / rows, 1.0), (count, len(cells)))
    return np.array([np.bincount(cells // len(mass), drawn, n_bins) for drawn in hits])


#: What is estimated, by the target of a report; by None for forecasts.
KEYS: dict[str | None, tuple[str, ...]] = {
    "event": ("event_auroc", "log_loss", "event_brier_score"),
    None: ("mae", "rmse"),
}
#: The same for any other target.
OTHERS = ("accuracy", "log_loss", "brier_score")
#: Names of these metrics in a sentence.
NAMES = {
    "accuracy": "Accuracy",
    "event_auroc": "AUROC",
    "log_loss": "Log loss",
    "brier_score": "Brier score",
    "event_brier_score": "Brier score",
    "mae": "Mean absolute error",
    "rmse": "Root mean squared error",
}
#: Metrics that are better when higher.
HIGHER = ("accuracy", "event_auroc")
#: Options of a report that change the labelled rows in ways that the estimate does not know.
REFUSED = ("sample_weight", "cluster", "test")


@dataclass(frozen=True)
class Since:
    """Performance on later rows, as predicted, what they say of it in one sentence, and whether it
    is worse beyond chance.
    """

    sentence: str
    note: str
    rows: list[dict[str, Any]]
    worse: bool = False

    def judged(self, verdict: "Verdict") -> "Verdict":
        """Return the verdict, unless the later rows are worse: then they have changed."""
        graver = verdict.state in ("check the data first", "it has changed")
        if graver or not self.worse:
            return verdict
        action = (
            "Do not rely on the later predictions yet: label some of those rows, and measure again."
        )
        return replace(
            verdict, state="it has changed", sentence=self.sentence, action=action, code=[]
        )


def since_then(
    options: ReportOptions, reference: tuple[Any, Any], target: str | None
) -> Since | None:
    """Estimate the performance on later rows without labels, from the rows of the report; None
    without such rows.
    """
    new = options.new
    if new is None:
        return None
    given = [name for name in REFUSED if getattr(options, name) is not None]
    if reference[1] is None:
        raise InputError(
            "new needs predictions of classes or forecasts of a number, whose performance can be"
            " estimated without labels; got others; leave it out, and label some of those rows."
        )
    if given:
        raise InputError(
            "new takes rows of equal weight that are independent; got"
            f" {' and '.join(given)}; call estimate_performance on its own."
        )
    known = {name: getattr(options, name) for name in ("inputs", "classes")}
    known = {name: value for name, value in known.items() if value is not None}
    known |= {"level": options.level, "random_state": options.random_state}
    several = target == "event" and np.shape(new)[1:] > (2,)
    keys = OTHERS if several else KEYS.get(target, OTHERS)
    found = estimates(new, keys, reference=reference, **known)
    rows = [{**one.to_dict(), "key": one.metric, "metric": NAMES[one.metric]} for one in found]
    worse = [one for one in found if _worse(one)]
    said = (worse or found)[0]
    return Since(_sentence(said), said.note, rows, bool(worse))


def _worse(one: PerformanceEstimate) -> bool:
    """Whether a loss is larger, or a score smaller, on the later rows beyond chance."""
    if one.state != "holds":
        return False
    better_high = one.metric in HIGHER
    return one.change_high < 0.0 if better_high else one.change_low > 0.0


def _sentence(one: PerformanceEstimate) -> str:
    """Say whether the performance has changed, or why nobody can tell."""
    name, rows = NAMES[one.metric], f"{one.n_new:,} later rows"
    if one.state != "holds":
        return f"How good the model is on the {rows} cannot be told: {'; '.join(one.reasons)}."
    moved = not one.change_low <= 0.0 <= one.change_high
    changed = "no better and no worse beyond chance"
    if moved:
        changed = "worse" if _worse(one) else "better"
    columns = f" They differ most in {', '.join(one.changed[:3])}." if one.changed else ""
    return (
        f"On the {rows} the model is {changed}: {name} of about {one.value:.3g}"
        f" ({one.low:.3g} to {one.high:.3g}, estimated without their labels), {one.before:.3g} on"
        f" these rows.{columns}"
    )


#: Numbers of an output that its dictionary lacks, or has elsewhere.
INNER = ("sections", "scores", "vetoes", "few", "example", "gain", "by_group")
#: Version of the dictionary's keys, raised when a key is renamed, moved or dropped.
SCHEMA = 1


@dataclass(frozen=True)
class Method:
    """Calibrator of a report, and how its numbers were computed.

    ``fold_fits`` is, for numbers out of fold, that of
    :class:`~calibrant.core.folds.OutOfFold`.
    """

    name: str
    class_: str
    status: str | None
    evaluation: str
    n_splits: int | None
    n_fit: float | None
    fold_fits: str | None = None

    @classmethod
    def of(cls, found: Compared, name: str) -> "Method":
        """Describe the calibrator compared; ``name`` is the user's name for it, "" for its own."""
        one = found.calibrator
        return cls(
            name or shown_name(one),
            type(one).__name__,
            getattr(one, "status_", None),
            found.evaluation,
            found.n_splits,
            found.n_fit,
            found.fold_fits,
        )


@dataclass(frozen=True)
class Verdict:
    """Verdict of a report: a state, one or two plain sentences, what to do, and how far off.

    ``state`` is one of
    :data:`calibrant.reporting.judge.STATES`, and ``code`` does what the action says. ``off_by`` is
    {"before": [low, high], "after": high}, in points: how far the predictions are typically off.
    ``model`` is "calibrated", "overconfident", "underconfident" or "miscalibrated";
    ``calibration`` is "use", "do not use", "no clear gain", "unknown" (in-sample) or "none".
    In-sample numbers never enter.
    """

    state: str
    sentence: str
    action: str
    model: str
    calibration: str
    off_by: dict[str, Any] = field(default_factory=dict[str, Any])
    code: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Measured:
    """All that is measured of one output; of classes, of all rows (name None).

    ``of`` says whose faults are looked for, "before" or "after"; ``sections`` is the record of what
    only pages of the task have, or None. ``chance`` are the errors of calibrated predictions drawn
    from those before calibration, ``chance_after`` from those after it, for rows that the
    calibration has not seen; else None. What only the verdict needs are ``vetoes``, the cautions
    that rule out any advice; ``few``, how many rows there must be at least, where there are fewer;
    ``example``, (predicted, observed) where the predictions are farthest off; the ``gain`` of the
    calibration on rows that it has not seen; and whether it was ``by_group``.
    """

    name: str | None
    quality: Known
    cautions: list[str]
    vetoes: list[str]
    few: str | None
    example: tuple[float, float] | None
    gain: Gain | None
    by_group: bool
    chance: Chance | dict[str, Chance]
    chance_after: Chance | dict[str, Chance] | None
    miscalibration: dict[str, Miscalibration | None]
    of: str
    groups: list[Place] | None
    features: list[Place] | None
    audit: dict[str, Any] | None
    drift: Drift | None
    scores: list[Score]
    sections: Any


@dataclass(frozen=True)
class Part:
    """Numbers and verdict of one output."""

    measured: Measured
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """Its sections beside the rest; the scores are not among them."""
        left_out = (*INNER, *(("name",) if self.measured.name is None else ()))
        numbers = vars(self.measured).items()
        return {
            **{name: value for name, value in numbers if name not in left_out},
            "verdict": self.verdict,
            **({} if self.measured.sections is None else vars(self.measured.sections)),
        }


@dataclass(frozen=True)
class Summary:
    """Content of a report."""

    task: str
    target: str | None
    title: str
    level: float
    about: About
    data: dict[str, Any]
    calibrator: Method
    verdict: Verdict
    cautions: list[str]
    parts: list[Part]
    choice: Choice | None
    alternatives: list[Alternative]
    by_class: ByClass | None = None
    since: Since | None = None
    call: list[str] = field(default_factory=list[str])

    def to_dict(self) -> dict[str, Any]:
        """Only strings, numbers, None, lists and dictionaries, with ``schema``.

        The metrics of all outputs are one list, each with the name of its ``output``; what is said
        of an output is in ``outputs``, or, where there are none, as of classes, beside the rest.
        """
        named = [part for part in self.parts if part.measured.name is not None]
        said = {"outputs": [part.to_dict() for part in named]} if named else self.parts[0].to_dict()
        metrics = [
            {**vars(score), **({} if part.name is None else {"output": part.name})}
            for part in (one.measured for one in self.parts)
            for score in part.scores
        ]
        own = {**vars(self), "metrics": metrics}
        own.pop("parts")
        # The verdict and the cautions are those of all outputs.
        return plain(
            {
                "schema": SCHEMA,
                **own,
                **{name: value for name, value in said.items() if name not in own},
            }
        )
