"""Promises of rules and calibrators, tested on labelled rows of a new version of a model; and lock
files: a calibrator or rule for one version, and its check on a new one.
"""

import base64
import hashlib
import json
import math
import tempfile
from dataclasses import dataclass
from functools import singledispatch
from pathlib import Path
from typing import Any, Self

import numpy as np

from calibrant._numerics.certificates import fewest_rows, rows_for_rate
from calibrant.calibrators.trust import LEAST_ROWS
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import DomainCalibrator
from calibrant.core.domain import domain_of, domain_of_input
from calibrant.core.estimators import clone, require_count
from calibrant.core.folds import cross_fit
from calibrant.core.guarantee import Result
from calibrant.core.reading import read_for
from calibrant.core.saving import load, replacing
from calibrant.core.stores import located
from calibrant.decisions.selective import SelectiveClassifier
from calibrant.decisions.sets import ConformalSets
from calibrant.decisions.thresholds import NeymanPearsonClassifier
from calibrant.decisions.units import Claim, Unit, confidence_gap
from calibrant.errors import InputError, SavedFileError
from calibrant.metrics.comparison import compare
from calibrant.metrics.several import CHOSEN_BY
from calibrant.regression.conformal import ConformalIntervals

__all__ = ["Lock", "SwapCheck", "check_promise", "read_lock", "read_rows", "require_promise"]


#: Differences that do not matter: of the coverage, and of the score that a re-fit lowers, as a
#: share of it.
COVERAGE, GAIN = 0.02, 0.01


@dataclass(frozen=True)
class SwapCheck(Result):
    """The promise of a rule (of one of its questions or rates), or of a calibrator, under a new
    version of the model.

    Attributes
    ----------
    name : str
        The question or the rate; else the class.
    state : {"holds", "broken", "cannot tell"}
    answered, answered_before : float
        Share of its rows that the rule answers, and that on the calibration rows.
    n, errors : float
        Labelled rows (or items) that the promise is about, and the wrong ones, by their weights.
    p_value : float, of a risk above the promised one; for a calibrator, of no gain by a re-fit
    alpha : float, the error probability that this version of the model may spend
    labels_needed : float, labels that would decide, at the same error rate
    gap : float, mean confidence less accuracy of its labelled rows; nan for forecasts
    gain, gain_low, gain_high : float
        Calibrators: the out-of-fold gain of a re-fit on these rows, as a share of the score, with
        its interval at 1 - alpha; else nan.

    See Also
    --------
    Lock : makes them by ``check``.
    """

    name: str
    state: str
    answered: float
    answered_before: float
    n: float
    errors: float
    p_value: float
    alpha: float
    labels_needed: float
    gap: float
    gain: float = math.nan
    gain_low: float = math.nan
    gain_high: float = math.nan

    @property
    def refits(self) -> bool:
        """Whether it is about a calibrator, which is fitted again and needs no certificate."""
        return not math.isnan(self.gain)

    def __str__(self) -> str:
        open_ = self.state == "cannot tell" and math.isfinite(self.labels_needed)
        if self.refits:
            ends = (
                f"{100 * self.gain:.2g} % [{100 * self.gain_low:.2g}, {100 * self.gain_high:.2g}]"
            )
            evidence = f"a re-fit on {self.n:,} labels lowers the score by {ends}"
            remedy = f"; about {self.labels_needed:,} labels decide" if open_ else ""
            return f"{self.name!r} {self.state} ({evidence}{remedy})"
        remedy = "fit and certify it again on labels of this version"
        if math.isfinite(self.labels_needed) and self.state != "broken":
            above = self.state == "cannot tell" and self.p_value > 0.5
            proof = "show that it is broken" if above else "certify it again"
            rate = "with few errors" if not self.n else "at this error rate"
            remedy = f"about {self.labels_needed:,} labels {rate} {proof}"
        if math.isnan(self.gap) and not self.n:
            return f"{self.name!r} {self.state} (no labelled row is of it; {remedy})"
        counts = f"{round(self.errors, 1):,.10g} of {round(self.n, 1):,.10g}"
        return f"{self.name!r} {self.state} ({counts} wrong; {remedy})"


@singledispatch
def claims(rule: Any, record: Any) -> list[Claim]:
    """The rates that a fitted rule promises, on labelled rows; a rule of a further kind has a
    method ``claims``.
    """
    return rule.claims(record)


def _rows(record: Any, used: np.ndarray, wrong: np.ndarray) -> Unit:
    errors = (used & wrong)[:, None]
    return Unit.of(used[:, None], errors, np.arange(len(used)), record.weights)


@claims.register
def _(rule: SelectiveClassifier, record: Any) -> list[Claim]:
    if hasattr(rule, "classes_"):
        used, wrong = rule.accept_record(record), record.pair(rule.target)[1] < 0.5
    else:
        # A rule of scores: the rows are scores, and whether each answer was right.
        score, wrong = np.diff(record.values, axis=1)[:, 0], record.labels == 0
        used = rule.accept_scores(score)
    rows, share = _rows(record, used, wrong), rule.certificate_.share
    return [Claim(type(rule).__name__, rows, rule.risk, share, confidence_gap(record))]


@claims.register
def _(rule: NeymanPearsonClassifier, record: Any) -> list[Claim]:
    event, decisions = record.labels == record.position(rule.target), rule.decide(record.values)
    gap = confidence_gap(record)
    rates = {
        "false positives": (rule.false_positive_rate, ~event, 1),
        "false negatives": (rule.false_negative_rate, event, 0),
    }
    return [
        Claim(name, _rows(record, kind, decisions == code), float(rate), math.nan, gap)
        for name, (rate, kind, code) in rates.items()
        if rate is not None
    ]


@claims.register
def _(rule: ConformalSets, record: Any) -> list[Claim]:
    covered = rule.set_record(record, record.groups)[np.arange(len(record)), record.labels]
    rows, limit = _rows(record, np.ones(len(record), bool), ~covered), 1.0 - rule.level + COVERAGE
    return [Claim(type(rule).__name__, rows, limit, 1.0, confidence_gap(record))]


@claims.register
def _(rule: ConformalIntervals, record: Any) -> list[Claim]:
    level = float(rule.levels[0]) if rule.score == "quantile" else 0.9
    wrong = ~record.recalibrated(rule.predict_record(record)).held(level)[2]
    rows = _rows(record, np.ones(len(record), bool), wrong)
    return [Claim(f"{100 * level:g} % intervals", rows, 1 - level + COVERAGE, 1.0, math.nan)]


def require_promise(fitted: Any) -> None:
    """Raise InputError for what ``check_promise`` cannot test."""
    known = isinstance(fitted, DomainCalibrator) or hasattr(fitted, "claims")
    if not known and claims.dispatch(type(fitted)) is claims.dispatch(object):
        raise InputError(
            f"rule must be a fitted rule or calibrator; got a {type(fitted).__name__}; pass a rule"
            " with a promise, such as SelectiveClassifier or ConformalSets, or a calibrator."
        )


def check_promise(
    fitted: Any, record: Any, alpha: float = 0.05, refit: Any = None
) -> list[SwapCheck]:
    """Test what a fitted rule or calibrator promises on labelled rows of a new version.

    A rule's rate is tested by the exact binomial test; alpha is split between several. Coverage may
    miss its level by 2 points. A calibrator holds if the upper limit of the gain of a re-fit is at
    most 1 % of the score, and is broken if the lower one is above 0.

    Parameters
    ----------
    fitted : fitted rule or calibrator, or None for predictions that are used as they are
    record : labelled rows, as ``read_rows`` returns them
    alpha : float
    refit : calibrator, optional
        The calibrator of the re-fit; default a copy of ``fitted``, and required without one.
    """
    of_rates = isinstance(fitted, ConformalIntervals)
    if fitted is None or (isinstance(fitted, DomainCalibrator) and not of_rates):
        return [_of_calibrator(fitted, record, alpha, clone(fitted) if refit is None else refit)]
    require_promise(fitted)
    promises = claims(fitted, record)
    share = alpha / max(len(getattr(fitted, "certificates_", promises)), 1)
    return [_of_claim(claim, share) for claim in promises]


def _of_claim(claim: Claim, alpha: float) -> SwapCheck:
    n, errors, limit = float(claim.rows.m[0]), float(claim.rows.e[0]), claim.limit
    likely = np.array([claim.before])
    p = float(claim.rows.p_values(limit, alpha, likely)[0]) if n else 1.0
    broken = n > 0.0 and float(claim.rows.broken(limit, alpha, likely)[0]) <= alpha
    state = "holds" if p <= alpha else "broken" if broken else "cannot tell"
    share = n / claim.rows.n if claim.rows.n else 0.0
    # As many rows at this rate prove that it is below the limit, or above.
    rate = errors / n if n else 0.0
    above = state == "cannot tell" and rate > limit
    ends = (1.0 - rate, 1.0 - limit) if above else (rate, limit)
    rows = rows_for_rate(*ends, alpha) if n else float(fewest_rows(limit, alpha))
    used = share if claim.rows.n else claim.before
    scale = claim.rows.scale
    needed = math.ceil(scale * rows / used) if used and math.isfinite(rows) else math.inf
    needed = max(needed, int(scale * claim.rows.n) + 1) if state == "cannot tell" else needed
    figures = (scale * n, scale * errors, p, alpha, needed, claim.gap)
    return SwapCheck(claim.name, state, share, claim.before, *figures)


def _of_calibrator(fitted: Any, record: Any, alpha: float, refit: Any) -> SwapCheck:
    name, n, before = "no calibrator", len(record), record
    if fitted is not None:
        name = type(fitted).__name__
        before = record.recalibrated(fitted.predict_record(record), fitted.tags.output)
    gap = confidence_gap(before)
    if n < LEAST_ROWS:
        ends = (0.0, -math.inf, math.inf)
        return SwapCheck(name, "cannot tell", 1.0, 1.0, n, 0, 1.0, alpha, LEAST_ROWS, gap, *ends)
    after = record.recalibrated(cross_fit(refit, record).result, refit.tags.output)
    score = CHOSEN_BY[domain_of(record)].score
    (row,) = compare.of({"fitted": before, "re-fit": after}, [score], level=1.0 - alpha).rows
    estimates = np.array([row.difference, row.high, row.low, row.p_value - 1.0])
    # Rows that all gain the same have no standard error; nor have equal predictions, and no gain.
    estimates[1:3] = np.where(np.isnan(estimates[1:3]), estimates[0], estimates[1:3])
    estimates = np.nan_to_num(estimates)
    gain, low, high = (float(-value) for value in estimates[:3] / abs(row.first_value))
    state = "holds" if high <= GAIN else "broken" if low > 0.0 else "cannot tell"
    away = max(gain, GAIN - gain)
    needed = math.ceil(n * (0.5 * (high - low) / away) ** 2)
    figures = (
        n,
        0,
        1.0 + float(estimates[3]),
        alpha,
        max(needed, LEAST_ROWS),
        gap,
        gain,
        low,
        high,
    )
    return SwapCheck(name, state, 1.0, 1.0, *figures)


def read_rows(
    fitted: Any, P: Any, y: Any = None, std: Any = None, sample_weight: Any = None
) -> Any:
    """The labelled rows of one output, as a fitted rule or calibrator reads them."""
    score = CHOSEN_BY[domain_of_input(P, std, fitted)].score
    classes = getattr(fitted, "classes_", None)
    # A rule of scores takes any number, and outcomes of 0 (wrong) and 1.
    of_scores = isinstance(fitted, SelectiveClassifier) and classes is None
    inputs = "logit" if of_scores else getattr(fitted, "inputs", "probability")
    return read_for([score], y, P, std, sample_weight, classes, inputs).one_output()


#: Name and version of the format.
FORMAT, VERSION = "calibrant lock", 1


@dataclass(frozen=True)
class Lock:
    r"""A fitted calibrator or rule that is bound to a version of a model.

    Attributes
    ----------
    fitted : fitted calibrator, or rule such as SelectiveClassifier
    models : list of the versions of the model that it was fitted for
    digest : hash of the calibration rows
    swaps : int, versions that were checked since

    See Also
    --------
    read_lock : reads one from its file.
    compare_versions : compares two versions on the same rows.

    Notes
    -----
    Use it to keep a calibrator or rule in version control, and to check a new version of the model
    in continuous integration. Version v of a sequence may spend :math:`6 \delta / (\pi^2 v^2)` of
    the error probability; the check is void if its rows were used to develop the new version.

    Examples
    --------
    >>> from calibrant import SelectiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(9.0, 1.0, 2000)
    >>> y = (rng.random(2000) < p).astype(int)
    >>> lock = Lock.of(SelectiveClassifier(risk=0.1).fit(p, y), model="v1")
    >>> [one.state for one in lock.check(p, (rng.random(2000) < p + 0.05).astype(int))]
    ['holds']

    A new version that is wrong more often:

    >>> [one.state for one in lock.check(p, (rng.random(2000) < p - 0.3).astype(int))]
    ['broken']
    """

    fitted: Any
    models: list[str]
    digest: str = ""
    swaps: int = 0

    @classmethod
    def of(cls, fitted: Any, *, model: str | None = None, rows: Any = None) -> Self:
        """A lock of a fitted calibrator or rule, for the version ``model`` of the model. ``rows``
        is the record of the calibration rows; a rule of rows that name their model knows both.
        """
        require_promise(fitted)
        models = getattr(fitted, "models_", None) if model is None else [model]
        if models is None:
            raise InputError(
                "model must be the version of the model that the rows came from; got None; pass"
                ' model="v1".'
            )
        digest = getattr(fitted, "digest_", "") if rows is None else _digest(rows)
        return cls(fitted, models, digest)

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the lock as JSON, with thresholds and certificates in plain text."""
        with tempfile.TemporaryDirectory() as folder:
            saved = self.fitted.save(Path(folder) / "fitted").read_bytes()
        content = {
            "format": FORMAT,
            "version": VERSION,
            "models": self.models,
            "swaps": self.swaps,
            "calibration_rows": self.digest,
            "text": _described(self.fitted),
            "object": base64.b64encode(saved).decode(),
        }
        with replacing(path, overwrite=overwrite) as temporary:
            Path(temporary).write_text(json.dumps(content, indent=1), encoding="utf-8")
        return located(path)

    def use(self, *models: str, any_model: bool = False) -> Any:
        """The fitted calibrator or rule, for rows of these versions of the model; others are
        refused, unless ``any_model``.
        """
        others = sorted(set(models) - set(self.models))
        if (others or not models) and not any_model:
            raise InputError(
                f"the rows must come from the model {self.models} of the lock; got"
                f" {others or 'no version'}; check the new version, or pass any_model=True."
            )
        return self.fitted

    def decide(self, P: Any, *, any_model: bool = False) -> np.ndarray:
        """(n,) "answer", "ask" or "escalate" of the rows of a log; rows of another version of the
        model are refused, unless ``any_model``.
        """
        if not hasattr(self.fitted, "claims"):
            raise InputError(
                "decide needs the lock of a rule whose rows name the version of their model; it"
                f" holds a {type(self.fitted).__name__}; use the methods of lock.use(VERSION)."
            )
        record = self.fitted.read(P)
        return self.use(*record.models, any_model=any_model).decide(record)

    def check(
        self,
        P: Any,
        y: ArrayLike | None = None,
        *,
        std: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        version: int | None = None,
    ) -> list[SwapCheck]:
        """Test the promise on labelled rows of a new version of the model, best for the same items.

        A certified question without a labelled row among these is "cannot tell".

        Parameters
        ----------
        P, y, std : predictions and outcomes as for the ``fit`` of the calibrator or rule
        sample_weight : (n,), optional
            How much more frequent each row is in the population; logs hold their own.
        version : int, optional
            Number of the new version among those checked; default the first after those that the
            lock counts. The lock does not count this check: number the versions of a sequence.
        """
        record = read_rows(self.fitted, P, y, std, sample_weight)
        return self.check_record(record, version=version)

    def check_record(self, record: Any, *, version: int | None = None) -> list[SwapCheck]:
        """Test the promise as :meth:`check` does, on a record."""
        v = self.swaps + 1 if version is None else version
        require_count("version", v, usual=1)
        delta = 1.0 - getattr(self.fitted, "confidence", 0.95)
        return check_promise(self.fitted, record, 6.0 * delta / (math.pi * v) ** 2)


def _described(fitted: Any) -> Any:
    return getattr(fitted, "to_dict", lambda: str(fitted))()


def _digest(record: Any) -> str:
    """Hash of the arrays of a record's fields."""
    if hasattr(record, "digest"):
        return record.digest
    hasher = hashlib.sha256()
    forecast = getattr(record, "forecast", None)
    parts = [getattr(record, name, None) for name in ("values", "labels", "y", "weight")]
    parts += [] if forecast is None else [forecast.quantile(p) for p in (0.1, 0.5, 0.9)]
    for part in parts:
        hasher.update(b"none" if part is None else np.ascontiguousarray(part).tobytes())
    return hasher.hexdigest()


def read_lock(path: str | Path) -> Lock:
    """Read a lock file; no code in it is executed.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Lock

    Raises
    ------
    SavedFileError
        When the file is not a lock, or its text differs from what it holds.

    See Also
    --------
    Lock : writes it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(9.0, 1.0, 2000)
    >>> rule = SelectiveClassifier(risk=0.1).fit(p, (rng.random(2000) < p).astype(int))
    >>> lock = Lock.of(rule, model="v1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = read_lock(lock.write(Path(folder) / "rules.lock.json"))
    >>> again.fitted.threshold_ == rule.threshold_
    True
    """
    written = located(path).read_bytes()
    try:
        content = json.loads(written.decode("utf-8"))
        known = content["format"] == FORMAT and content["version"] == VERSION
        saved, text = base64.b64decode(content["object"]), content["text"]
        models, swaps = content["models"], int(content["swaps"])
        if not isinstance(models, list):
            raise ValueError(f"models must be a list; got {models!r}")
        digest = str(content["calibration_rows"])
    except (ValueError, KeyError, TypeError) as error:
        why = {UnicodeDecodeError: "it is no text", KeyError: f"it has no {error}"}
        raise SavedFileError(
            f"{path} is not a lock file ({why.get(type(error), error)}); make one with Lock.write,"
            " or with -o NAME.json of `calibrant fit` or `decide`."
        ) from None
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "fitted"
        part.write_bytes(saved)
        try:
            fitted = load(part)
        except SavedFileError as error:
            raise SavedFileError(str(error).replace(str(part), str(path))) from None
    if not known or json.loads(json.dumps(_described(fitted))) != text:
        raise SavedFileError(
            f"{path} was changed after it was written: its text differs from what it holds; write"
            " it again."
        )
    return Lock(fitted, models, digest, swaps)
