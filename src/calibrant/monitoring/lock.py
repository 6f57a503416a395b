"""Lock files: a calibrator or rule for one version of a model, and its check on a new version."""

import base64
import hashlib
import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.core.estimators import require_count
from calibrant.core.saving import load, replacing
from calibrant.errors import InputError, SavedFileError
from calibrant.monitoring.promises import SwapCheck, check_promise, read_rows, require_promise
from calibrant.questions.read import as_questions
from calibrant.questions.record import Questions

__all__ = ["Lock", "read_lock"]

#: Name and version of the format.
FORMAT, VERSION = "calibrant lock", 1


@dataclass(frozen=True)
class Lock:
    r"""A fitted calibrator or rule that is bound to a version of a model.

    Attributes
    ----------
    fitted : fitted calibrator, or rule such as QuestionRules or SelectiveClassifier
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
    >>> from calibrant import QuestionRules, SelectiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(9.0, 1.0, 2000)
    >>> log = [
    ...     {"id": i, "confidence": a, "correct": bool(hit), "model": "v1"}
    ...     for i, (a, hit) in enumerate(zip(p, rng.random(2000) < p))
    ... ]
    >>> lock = Lock.of(QuestionRules(risk=0.1).fit(log))
    >>> [one.state for one in lock.check([{**row, "model": "v2"} for row in log])]
    ['holds']

    A rule of one table, whose new version is wrong more often:

    >>> y = (rng.random(2000) < p).astype(int)
    >>> lock = Lock.of(SelectiveClassifier(risk=0.1).fit(p, y), model="v1")
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
        is the record of the calibration rows; rules of questions know both.
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
            held = self.fitted.save(Path(folder) / "fitted").read_bytes()
        content = {
            "format": FORMAT,
            "version": VERSION,
            "models": self.models,
            "swaps": self.swaps,
            "calibration_rows": self.digest,
            "text": _described(self.fitted),
            "object": base64.b64encode(held).decode(),
        }
        with replacing(Path(path), overwrite=overwrite) as temporary:
            Path(temporary).write_text(json.dumps(content, indent=1), encoding="utf-8")
        return Path(path)

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
        record = as_questions(P)
        models = map(str, record.model.names[np.unique(record.model.index)])
        return self.use(*models, any_model=any_model).decide(record)

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
    if isinstance(record, Questions):
        return record.digest
    held = hashlib.sha256()
    forecast = getattr(record, "forecast", None)
    parts = [getattr(record, name, None) for name in ("values", "labels", "y", "weight")]
    parts += [] if forecast is None else [forecast.quantile(p) for p in (0.1, 0.5, 0.9)]
    for part in parts:
        held.update(b"none" if part is None else np.ascontiguousarray(part).tobytes())
    return held.hexdigest()


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
    >>> from calibrant import QuestionRules
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(9.0, 1.0, 2000)
    >>> log = [{"confidence": a, "correct": bool(b)} for a, b in zip(p, rng.random(2000) < p)]
    >>> lock = Lock.of(QuestionRules(risk=0.1).fit(log))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = read_lock(lock.write(Path(folder) / "rules.lock.json"))
    >>> again.fitted.thresholds_ == lock.fitted.thresholds_
    True
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        known = content["format"] == FORMAT and content["version"] == VERSION
        held, text = base64.b64decode(content["object"]), content["text"]
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
        part.write_bytes(held)
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
