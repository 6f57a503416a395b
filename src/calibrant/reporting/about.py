"""Facts of a report about itself: the model, the event and the period in words, the date, a hash of
the data, and the call that makes the report again.
"""

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from calibrant.core.exports import __version__
from calibrant.core.groups import in_order
from calibrant.core.model_outputs import is_fitted
from calibrant.reporting.choice import made_by

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


def call_of(names: tuple[str, ...], calibrator: Any, options: dict[str, Any]) -> list[str]:
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
