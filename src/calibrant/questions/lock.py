"""Lock files: a rule for one version of a model, and its check on a new version."""

import base64
import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from calibrant._kernels.certificates import fewest_rows, rows_for_rate
from calibrant._support.files import replacing
from calibrant._support.saving import load
from calibrant.contracts.columns import Result
from calibrant.errors import InputError, SavedFileError
from calibrant.questions.read import as_questions
from calibrant.questions.record import Questions
from calibrant.questions.rules import QuestionRules
from calibrant.questions.units import Unit, units_of

__all__ = ["QuestionLock", "SwapCheck", "read_lock"]

#: Name and version of the format.
FORMAT, VERSION = "calibrant lock", 1


@dataclass(frozen=True)
class SwapCheck(Result):
    """One question, or the log, under a new version of the model.

    Attributes
    ----------
    question : str
    state : {"holds", "broken", "cannot tell"}
    answered : float, share of its rows that the rule still answers; answered_before : likewise
    n, errors : float, labelled answers that are used, and the wrong ones; an item with several rows
        counts once, with their mean
    p_value : float, of a risk above the promised one
    alpha : float, the error probability that this version of the model may spend
    labels_needed : float, labels with which the same error rate would prove the promise
    gap : float, mean confidence less accuracy of its labelled rows

    See Also
    --------
    QuestionLock : makes them by ``check``.
    """

    question: str
    state: str
    answered: float
    answered_before: float
    n: float
    errors: float
    p_value: float
    alpha: float
    labels_needed: float
    gap: float

    def __str__(self) -> str:
        remedy = (
            f"about {self.labels_needed:,} labels at this error rate certify it again"
            if math.isfinite(self.labels_needed) and self.state != "broken"
            else "fit and certify it again on labels of this version"
        )
        return f"{self.question!r} {self.state} ({self.errors:,} of {self.n:,} wrong; {remedy})"


@dataclass(frozen=True)
class QuestionLock:
    r"""A fitted rule that is bound to a version of a model.

    Attributes
    ----------
    rules : fitted QuestionRules
    models : list of the versions of the model that it was certified for
    swaps : int, versions that were checked since

    See Also
    --------
    read_lock : reads one from its file.

    Notes
    -----
    Use it to keep a rule in version control, and to check a new version of the model in continuous
    integration. Version v of a sequence may spend :math:`6 \delta / (\pi^2 v^2)` of the error
    probability; the check is void if its rows were used to develop the new version.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(9.0, 1.0, 2000)
    >>> log = [
    ...     {"id": i, "confidence": a, "correct": bool(hit), "model": "v1"}
    ...     for i, (a, hit) in enumerate(zip(p, rng.random(2000) < p))
    ... ]
    >>> lock = QuestionLock.of(QuestionRules(risk=0.1).fit(log))
    >>> [one.state for one in lock.check([{**row, "model": "v2"} for row in log])]
    ['holds']
    """

    rules: QuestionRules
    models: list[str]
    swaps: int = 0

    @classmethod
    def of(cls, rules: QuestionRules) -> Self:
        """A lock of a fitted rule."""
        rules.to_dict()
        return cls(rules, rules.models_)

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the lock as JSON, with the thresholds and certificates in plain text."""
        with tempfile.TemporaryDirectory() as folder:
            held = self.rules.save(Path(folder) / "rules").read_bytes()
        content = {
            "format": FORMAT,
            "version": VERSION,
            "models": self.models,
            "swaps": self.swaps,
            "calibration_rows": self.rules.digest_,
            "rules": self.rules.to_dict(),
            "object": base64.b64encode(held).decode(),
        }
        with replacing(Path(path), overwrite=overwrite) as temporary:
            Path(temporary).write_text(json.dumps(content, indent=1), encoding="utf-8")
        return Path(path)

    def decide(self, P: Any, *, any_model: bool = False) -> np.ndarray:
        """(n,) "answer", "ask" or "escalate"; rows of another version of the model are refused,
        unless ``any_model``.
        """
        record = as_questions(P)
        self._require_model(record, any_model)
        return self.rules.decide(record)

    def _require_model(self, record: Questions, any_model: bool) -> None:
        found = set(map(str, record.model.names[np.unique(record.model.index)]))
        if found - set(self.models) and not any_model:
            raise InputError(
                f"the rows must come from the model {self.models} of the lock; got"
                f" {sorted(found)}; check the new version, or pass any_model=True."
            )

    def check(self, P: Any, *, version: int | None = None) -> list[SwapCheck]:
        """Test the promise on labelled rows of a new version of the model, best for the same items.

        Parameters
        ----------
        P : Questions, or a source of :func:`read_questions`
        version : int, optional
            Number of the new version among those checked; default the next one.
        """
        record = self.rules.calibrated(as_questions(P))
        record = record.take(record.labelled)
        v = self.swaps + 1 if version is None else version
        held = self.rules.certificates_
        alpha = 6.0 * (1.0 - self.rules.confidence) / (math.pi * v) ** 2 / max(len(held), 1)
        index, by_question = record.question.index, self.rules.unit == "question"
        names = [str(name) for name in record.question.names]
        limits = [self.rules.thresholds_.get(name, math.inf) for name in names]
        table = np.array(limits)[:, None]
        units = list(units_of(record, table, self.rules.unit, index, real=True))
        gap = record.confidence - record.correct
        if not by_question:
            return [self._checked(name, units[0], gap, alpha) for name in held]
        present: list[int] = np.unique(index).tolist()
        found = {names[q]: (one, gap[index == q]) for q, one in zip(present, units, strict=True)}
        return [self._checked(name, *found[name], alpha) for name in held if name in found]

    def _checked(self, name: str, one: Unit, gap: np.ndarray, alpha: float) -> SwapCheck:
        n, errors, risk = float(one.m[0]), float(one.e[0]), self.rules.risk
        before = self.rules.certificates_[name].share
        likely = np.array([before])
        p = float(one.p_values(risk, alpha, likely)[0]) if n else 1.0
        broken = n > 0.0 and float(one.broken(risk, alpha, likely)[0]) <= alpha
        state = "holds" if p <= alpha else "broken" if broken else "cannot tell"
        share = n / one.n
        rows = rows_for_rate(errors / n, risk, alpha) if n else float(fewest_rows(risk, alpha))
        needed = math.ceil(rows / share) if share and math.isfinite(rows) else math.inf
        return SwapCheck(name, state, share, before, n, errors, p, alpha, needed, float(gap.mean()))


def read_lock(path: str | Path) -> QuestionLock:
    """Read a lock file; no code in it is executed.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    QuestionLock

    Raises
    ------
    SavedFileError
        When the file is not a lock, or its text differs from the rule that it holds.

    See Also
    --------
    QuestionLock : writes it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(9.0, 1.0, 2000)
    >>> log = [{"confidence": a, "correct": bool(b)} for a, b in zip(p, rng.random(2000) < p)]
    >>> lock = QuestionLock.of(QuestionRules(risk=0.1).fit(log))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = read_lock(lock.write(Path(folder) / "rules.lock.json"))
    >>> again.rules.thresholds_ == lock.rules.thresholds_
    True
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        known = content["format"] == FORMAT and content["version"] == VERSION
        held = base64.b64decode(content["object"])
        models, swaps = list(content["models"]), int(content["swaps"])
    except (ValueError, KeyError, TypeError) as error:
        raise SavedFileError(f"{path} is not a lock file ({error}); write it again.") from None
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "rules"
        part.write_bytes(held)
        rules = load(part)
    if not known or json.loads(json.dumps(rules.to_dict())) != content["rules"]:
        raise SavedFileError(
            f"{path} was changed after it was written: its text differs from its rule; write it"
            " again."
        )
    return QuestionLock(rules, models, swaps)
