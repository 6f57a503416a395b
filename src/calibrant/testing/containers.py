"""The containers that data come in, as data: each is the same numbers held in another way."""

import importlib
import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["CONTAINERS", "FRAMES", "REPEATING", "Container", "contents", "present"]


@dataclass(frozen=True)
class Container:
    """One way to hold numbers.

    Attributes
    ----------
    name : str
    rows : function of a (n, k) array, or None where it holds one column only
    column : function of a (n,) array, or None where it holds no single column
    needs : str
        Library without which there is no such container.
    answered : bool
        False where an entry is missing or the shape is another, which no part may pass over.
    """

    name: str
    rows: Callable[[np.ndarray], Any] | None
    column: Callable[[np.ndarray], Any] | None
    needs: str = "numpy"
    answered: bool = True

    def holds(self, values: np.ndarray) -> bool:
        """Whether it can hold an array of this many dimensions."""
        return (self.column if np.ndim(values) == 1 else self.rows) is not None

    def __call__(self, values: Any) -> Any:
        """The numbers of an array in this container."""
        return (self.column if np.ndim(values) == 1 else self.rows)(values)


def present(needs: str) -> bool:
    """Whether a library is there."""
    return importlib.util.find_spec(needs) is not None


def _library(name):
    return importlib.import_module(name)


def _both(name, make, needs="numpy", answered=True):
    return Container(name, make, make, needs, answered)


def _every_second(values):
    wide = np.repeat(values, 2, axis=0)
    return np.repeat(wide, 2, axis=1)[::2, ::2] if values.ndim == 2 else wide[::2]


def _read_only(values):
    out = values.copy()
    out.flags.writeable = False
    return out


def _matrix(values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.asmatrix(values.copy())


def _one_masked(values):
    out = np.ma.array(values.copy())
    out[1] = np.ma.masked
    return out


def _object_with_none(values):
    out = values.astype(object)
    out[1] = None
    return out


def _series(values, dtype=None, missing=False):
    pandas = _library("pandas")
    # Labels of rows are no numbers of rows: taken for such, they would turn the rows round.
    out = pandas.Series(values.copy(), index=np.arange(len(values))[::-1], dtype=dtype)
    if missing:
        out.iloc[1] = pandas.NA
    return out


def _nullable(values, missing=False):
    pandas = _library("pandas")
    kind = "Int64" if values.dtype.kind in "iu" else "Float64"
    if values.ndim == 1:
        return _series(values, kind, missing)
    out = pandas.DataFrame(values.copy()).astype(kind)
    if missing:
        out.iloc[1, 0] = pandas.NA
    return out


def _polars(values, missing=False):
    polars = _library("polars")
    if values.ndim == 1:
        return polars.Series([None if missing and i == 1 else v for i, v in enumerate(values.tolist())])
    columns = {f"column_{j}": values[:, j].tolist() for j in range(values.shape[1])}
    if missing:
        columns["column_0"][1] = None
    return polars.DataFrame(columns)


def _arrow(values, missing=False):
    pyarrow = _library("pyarrow")
    if values.ndim == 1:
        return pyarrow.array([None if missing and i == 1 else v for i, v in enumerate(values.tolist())])
    polars_like = {f"column_{j}": values[:, j].tolist() for j in range(values.shape[1])}
    if missing:
        polars_like["column_0"][1] = None
    return pyarrow.table(polars_like)


def _floats(dtype):
    """The floats of an array in a narrower dtype; whole numbers, which are labels, as they are."""
    return lambda values: values.astype(dtype) if values.dtype.kind == "f" else values


def _tensor(values, kind=None):
    torch = _library("torch")
    out = torch.from_numpy(values.copy())
    return out.to(getattr(torch, kind)) if kind and out.is_floating_point() else out


CONTAINERS = (
    _both("a Fortran-ordered array", np.asfortranarray),
    _both("every second of an array", _every_second),
    _both("an array seen backwards", lambda v: v[::-1].copy()[::-1] if v.ndim == 1 else v[::-1, ::-1].copy()[::-1, ::-1]),
    _both("a read-only array", _read_only),
    _both("a big-endian array", lambda v: v.astype(v.dtype.newbyteorder(">"))),
    _both("float32", _floats(np.float32)),
    _both("float16", _floats(np.float16)),
    _both("ml_dtypes.bfloat16", lambda v: _floats(_library("ml_dtypes").bfloat16)(v), "ml_dtypes"),
    _both("lists", lambda v: v.tolist()),
    Container("tuples", lambda v: tuple(map(tuple, v.tolist())), lambda v: tuple(v.tolist())),
    _both("an object array", lambda v: v.astype(object)),
    _both("an object array with None", _object_with_none, answered=False),
    _both("a masked array with nothing masked", lambda v: np.ma.array(v.copy())),
    _both("a masked array with a mask of False", lambda v: np.ma.array(v.copy(), mask=np.zeros(v.shape, dtype=bool))),
    _both("a masked array with a masked row", _one_masked, answered=False),
    Container("a np.matrix", _matrix, None),
    Container("a np.matrix for one column", None, lambda v: _matrix(v[:, None]), answered=False),
    Container("a pandas frame", lambda v: _library("pandas").DataFrame(v.copy(), index=np.arange(len(v))[::-1]), _series, "pandas"),
    _both("pandas nullable", _nullable, "pandas"),
    _both("pandas nullable with NA", lambda v: _nullable(v, True), "pandas", answered=False),
    _both("polars", _polars, "polars"),
    _both("polars with null", lambda v: _polars(v, True), "polars", answered=False),
    _both("pyarrow", _arrow, "pyarrow"),
    _both("pyarrow with null", lambda v: _arrow(v, True), "pyarrow", answered=False),
    _both("a torch tensor", _tensor, "torch"),
    _both("a torch tensor of bfloat16", lambda v: _tensor(v, "bfloat16"), "torch"),
)

#: Frames with names of columns, and whether two columns may share one: library -> function of names and a (n, k) array.
FRAMES: dict[Any, Any] = {
    "pandas": lambda names, values: _library("pandas").DataFrame(values.copy(), columns=names),
    "polars": lambda names, values: _library("polars").DataFrame(values.copy(), schema=[str(name) for name in names]),
    "pyarrow": lambda names, values: _library("pyarrow").Table.from_arrays(list(values.T.copy()), names=[str(name) for name in names]),
}
#: Those that hold two columns of one name.
REPEATING = ("pandas", "pyarrow")


def contents(held: Any) -> str:
    """All that a container holds and how, as text: the same before and after where it was left alone."""
    if isinstance(held, np.ma.MaskedArray):
        return contents([np.ma.getdata(held), np.ma.getmaskarray(held)])
    if isinstance(held, np.ndarray):
        return f"{type(held).__name__} {held.dtype} {held.tolist()}"
    if isinstance(held, list | tuple):
        return f"{type(held).__name__} {[contents(one) for one in held]}"
    names = getattr(held, "column_names", getattr(held, "columns", None))
    values = held.to_numpy().tolist() if hasattr(held, "iloc") or hasattr(held, "get_column") else str(held)
    return f"{type(held).__name__} {None if names is None else list(names)} {values}"
