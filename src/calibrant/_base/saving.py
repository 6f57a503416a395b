"""Keeping fitted objects: one zip of npy arrays and a JSON manifest. Loading never executes code.

The manifest is ``{"format": "calibrant", "version": 1, "library": ..., "object": node}``. A node is a JSON value, or a dict with
one tag: ``{"array": name}``, ``{"tuple": [...]}``, ``{"map": [[key, value], ...]}``, ``{"number": "nan"}`` or
``{"class": name, "state": {...}}``. Only classes registered here, by being defined in calibrant, are made.
A change that an older reader would misread raises FORMAT_VERSION; older versions stay readable.
"""

import inspect
import io
import json
import math
import zipfile
import zlib
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from calibrant._base.files import replacing
from calibrant.errors import InputError, SavedFileError

__all__ = ["FORMAT_VERSION", "Saved", "load", "save"]

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
#: What reading a file that is not as we wrote it may raise, in zipfile, zlib, json, NumPy or here.
DAMAGED = (
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, AttributeError, EOFError, RuntimeError, MemoryError,
)  # fmt: skip


class Saved:
    """Mixin: ``save(path)``, and a place in the registry of classes that may be loaded."""

    registry: ClassVar[dict[str, type]] = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__module__.split(".")[0] == "calibrant":
            Saved.registry[cls.__name__] = cls

    def save(self, path, *, overwrite: bool = False) -> Path:
        """Write this object to ``path`` (atomic; an existing file is kept unless ``overwrite``)."""
        return save(self, path, overwrite=overwrite)


def save(obj, path, *, overwrite=False) -> Path:
    """Write a fitted object to one file; see :func:`load`."""
    arrays: dict[str, np.ndarray] = {}
    manifest = {"format": "calibrant", "version": FORMAT_VERSION, "object": _encode(obj, arrays, type(obj).__name__)}
    with replacing(path, overwrite=overwrite) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        _write(archive, MANIFEST, json.dumps(manifest, indent=1, allow_nan=False).encode())
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            _write(archive, f"{name}.npy", buffer.getvalue())
    return Path(path)


def load(path):
    """Read an object written by ``save``; nothing in the file is executed.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    The calibrator, map or signal as it was: its predictions have the same bits.

    Raises
    ------
    SavedFileError
        When the file is damaged, not calibrant's, or written by a newer format.

    Examples
    --------
    >>> import tempfile
    >>> import calibrant as cb
    >>> cal = cb.TemperatureScaling().fit([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], [0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = cb.load(cal.save(Path(folder) / "model.calibrant"))
    >>> again.temperature_ == cal.temperature_
    True
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read(MANIFEST))
            _check_manifest(manifest, path)
            return _decode_object(manifest["object"], archive)
    except FileNotFoundError:
        raise
    except SavedFileError as error:
        raise SavedFileError(f"{path} {error}") from None
    except DAMAGED as error:
        raise SavedFileError(
            f"{path} is damaged or not a calibrant file ({type(error).__name__}: {error}); save the calibrator again."
        ) from error


def _write(archive, name, data):
    # A fixed date, so that saving the same object twice gives the same bytes.
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)


def _check_manifest(manifest, path):
    if not isinstance(manifest, dict) or manifest.get("format") != "calibrant":
        raise SavedFileError("is not a calibrant file; its manifest says another format.")
    if manifest["version"] > FORMAT_VERSION:
        raise SavedFileError(
            f"has format version {manifest['version']}, newer than {FORMAT_VERSION}, which this calibrant reads; upgrade calibrant."
        )


def _encode(value, arrays, where) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": repr(value)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, where)
    if isinstance(value, list):
        return [_encode(v, arrays, f"{where}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, tuple):
        return {"tuple": [_encode(v, arrays, f"{where}[{i}]") for i, v in enumerate(value)]}
    if isinstance(value, dict):
        return {"map": [[_encode(k, arrays, where), _encode(v, arrays, f"{where}[{k!r}]")] for k, v in value.items()]}
    if type(value) is Saved.registry.get(type(value).__name__):
        state = {k: _encode(v, arrays, f"{where}.{k}") for k, v in vars(value).items()}
        return {"class": type(value).__name__, "state": state}
    raise InputError(
        f"{where} is a {type(value).__module__}.{type(value).__name__}, which cannot be saved without executing code on load; "
        "save the parts that are calibrant's own, or use joblib for the whole."
    )


def _encode_array(array, arrays, where):
    if array.dtype.hasobject:
        return {"objects": [_encode(v, arrays, where) for v in array.ravel().tolist()], "shape": list(array.shape)}
    name = f"a{len(arrays)}"
    arrays[name] = array
    return {"array": name}


def _decode(node, archive):
    if isinstance(node, list):
        return [_decode(v, archive) for v in node]
    if not isinstance(node, dict):
        return node
    if "array" in node:
        return np.lib.format.read_array(io.BytesIO(archive.read(f"{node['array']}.npy")), allow_pickle=False)
    if "objects" in node:
        values = [_decode(v, archive) for v in node["objects"]]
        return np.fromiter(values, dtype=object, count=len(values)).reshape(node["shape"])
    if "tuple" in node:
        return tuple(_decode(v, archive) for v in node["tuple"])
    if "map" in node:
        return {_decode(k, archive): _decode(v, archive) for k, v in node["map"]}
    if "number" in node:
        return float(node["number"])
    return _decode_object(node, archive)


def _decode_object(node, archive):
    cls = Saved.registry.get(node["class"])
    if cls is None:
        raise SavedFileError(f"holds a {node['class']!r}, which this calibrant does not have; upgrade calibrant.")
    state = {k: _decode(v, archive) for k, v in node["state"].items()}
    odd = [k for k in state if k.startswith("__") or callable(getattr(cls, k, None))]
    if odd:
        raise SavedFileError(f"sets {odd} of a {node['class']}, which no calibrant does; it is not a calibrant file.")
    out = object.__new__(cls)
    # A parameter younger than the file has its default, which keeps what older versions did.
    parameters = inspect.signature(cls).parameters.values()
    vars(out).update({p.name: p.default for p in parameters if p.default is not p.empty and p.name not in state})
    vars(out).update(state)
    return out
