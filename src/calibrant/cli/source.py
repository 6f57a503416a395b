"""What every kind of file has: content by name, and a way to write it again with new predictions and everything else untouched."""

import warnings
from abc import ABC, abstractmethod
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.errors import InputError, MissingDependencyError

__all__ = ["Source", "distinct", "reading_file", "replaced"]


@contextmanager
def reading_file(path, what, remedy):
    """Whatever a library says of bytes that it cannot read, said of the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            yield
    except (InputError, MissingDependencyError):
        raise
    except MemoryError:
        raise InputError(f"{path} needs more memory than there is; split it into files of fewer rows.") from None
    except Exception as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        words = " ".join(said.split())[:200] or type(error).__name__
        raise InputError(f"{path} is damaged or not {what} ({words}); {remedy}.") from None


class Source(ABC):
    """Content by name; ``column(name)`` gives one array, ``write(path, columns, renamed)`` all of it with new predictions."""

    kind = ""
    #: Where it holds a sample of a file's rows, what is to be said of that.
    said: str | None = None

    def __init__(self, path, file):
        self.path = path
        file.seek(0)
        self.content = self._open(path, file)

    @abstractmethod
    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """The columns given take the place of their namesakes, or of what they are renamed from; the others stay as they are."""

    @abstractmethod
    def _open(self, path, file) -> Any:
        """Everything in the file, by name."""

    def column(self, name):
        """One array or column."""
        return self.content[name]

    def require(self, name):
        """The name, if the file holds it."""
        if name not in self.content:
            raise InputError(f"{self.path} holds no {name!r}; it holds {self.described()}.")
        return name

    def described(self):
        """The names inside, for messages."""
        names = list(self.content)
        return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def distinct(names, path):
    """The names, once no two are the same."""
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise InputError(f"{path} has {names.count(twice)} columns or arrays named {twice!r}; give each a name of its own.")
    return names


def replaced(content: dict[str, Any], columns: dict[str, Any], renamed: dict[str, str]) -> dict[str, Any]:
    """The content in its order, ``columns`` in place of those of the same name, or of the one they are ``renamed`` from; others last."""
    out = {}
    for name, old in content.items():
        new = renamed.get(name, name)
        out[new] = columns.get(new, old)
    return {**out, **{name: values for name, values in columns.items() if name not in out}}
