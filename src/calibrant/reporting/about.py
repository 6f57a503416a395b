"""Facts of a report about itself: the model, the event and the period in words, the date, a hash of
the data, and the call that makes the report again.
"""

import hashlib
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from calibrant._version import __version__
from calibrant.comparison.choice import made_by
from calibrant.contracts.domain_calibrator import DomainCalibrator

__all__ = ["About", "call_of", "data_hash", "period_of"]

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
    """Return a hash of all arrays of a record.

    Examples
    --------
    >>> from calibrant.predictions import read
    >>> data_hash(read([0.2, 0.7], [0, 1])) == data_hash(read(np.array([0.2, 0.7]), (0, 1)))
    True
    """
    found = hashlib.blake2b(digest_size=DIGITS // 2)
    _add(found, record)
    return found.hexdigest()


def _add(found: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        plain = value.astype(str) if value.dtype.kind in "OU" else np.ascontiguousarray(value)
        found.update(repr((plain.shape, plain.dtype.kind)).encode())
        found.update(plain.tobytes() if plain.dtype.kind != "U" else "\0".join(plain.flat).encode())
    elif hasattr(value, "__dict__"):
        for name, part in sorted(vars(value).items()):
            if not name.startswith("_"):
                _add(found, part)


def period_of(times: Any) -> str | None:
    """Return the first and the last time of the rows in words; None without times."""
    if times is None:
        return None
    first, last = (str(one) for one in (times.starts[0], times.starts[-1]))
    return first if first == last else f"{first} to {last}"


def call_of(names: tuple[str, ...], calibrator: Any, options: dict[str, Any]) -> list[str]:
    """Return the code that makes the report again from ``names`` of arrays; of the ``options`` the
    arrays are named too.
    """
    given = [f"{name}={_written(name, value)}" for name, value in options.items()]
    if calibrator is not None:
        given.insert(0, f"calibrator={_written('calibrator', calibrator)}")
    return [
        f"import calibrant as cb  # {__version__}; NumPy {np.__version__}, Python"
        f" {platform.python_version()}",
        f"found = cb.report({', '.join([*names, *given])})",
    ]


def _written(name: str, value: Any) -> str:
    """Return a plain value as code, an unfitted calibrator as its expression, and anything else by
    its name.
    """
    if isinstance(value, DomainCalibrator) and not hasattr(value, "status_"):
        return made_by(value)
    return repr(value) if isinstance(value, str | int | float | bool) else name
