"""Saving of fitted objects as a zip of npy arrays and a JSON manifest, and atomic writing of files,
which never overwrites one without permission. Loading never executes code.

The manifest is ``{"format": "calibrant", "version": 1, "digest": ..., "object": node}``. A node is
a JSON value, or a dict with one tag: ``{"array": name}``, ``{"tuple": [...]}``,
``{"map": [[key, value], ...]}``, ``{"number": "nan"}`` or ``{"class": name, "state": {...}}``. Only
registered classes are created: calibrant's own, and those registered before. The digest of the
arrays and the object detects changes since the file was written. A file of another format raises an
error.
"""

import dataclasses
import hashlib
import inspect
import io
import json
import math
import os
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2s
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.core.estimators import (
    class_named,
    key_of,
    limit_fits,
    own,
    require_option,
    trial,
    with_few_draws,
)
from calibrant.core.stores import Address, lies_over, located
from calibrant.errors import InputError, MissingDependencyError, SavedFileError

__all__ = [
    "FORMAT_VERSION",
    "MANIFEST",
    "CheckedArchive",
    "Saved",
    "load",
    "read_npy",
    "replacing",
    "require_unread",
    "save",
    "target",
]


try:
    import fcntl
except ImportError:  # not on Windows: nothing is locked there, so no leftover counts as stale
    fcntl = None


KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def target(path: Path, *, overwrite: bool = False) -> Path:
    """The file that writing to ``path`` creates or replaces; a symbolic link is resolved and kept.

    Raises
    ------
    FileExistsError
        When ``path`` exists (also as a dangling link) and ``overwrite`` is False, or when it is not
        a regular file.
    FileNotFoundError, NotADirectoryError
        When the folder does not exist, or is not a folder.
    """
    path = located(path)
    if isinstance(path, Address):
        path.require_free(overwrite)
        return path
    if os.path.lexists(path) and not overwrite:
        link = (
            f" as a link to {os.readlink(path)}, which does not exist,"
            if path.is_symlink() and not path.exists()
            else ""
        )
        raise FileExistsError(
            f"{path} exists{link} and is not overwritten; pass overwrite=True or another path."
        )
    real = Path(os.path.realpath(path))
    kind = stat.S_IFMT(os.lstat(real).st_mode) if os.path.lexists(real) else stat.S_IFREG
    if kind != stat.S_IFREG:
        raise FileExistsError(
            f"{path} is {KINDS.get(kind, 'a circular link')}, which is never replaced; write to"
            " a regular file."
        )
    if not real.parent.is_dir():
        if real.parent.exists():
            raise NotADirectoryError(f"{real.parent} is not a folder; choose another path.")
        raise FileNotFoundError(
            f"the folder {real.parent} does not exist; create it first, or choose another path."
        )
    return real


def require_unread(path: Any, files: Iterable[Any]) -> None:
    """Raise InputError if writing to ``path`` replaces one of ``files``, which are read."""
    if lies_over(path, files):
        raise InputError(f"{path} is a file that is read, and would be lost; pass another path.")


@contextmanager
def replacing(path: Path, *, overwrite: bool = False) -> Iterator[Any]:
    """A temporary path that replaces ``path`` when the block succeeds, and is removed when it
    fails.

    Leftovers of killed runs for the same file are removed first; a run that still writes holds a
    lock and is not disturbed.

    Raises
    ------
    FileExistsError, FileNotFoundError
        As :func:`target`, before anything is written.
    """
    path = located(path)
    if isinstance(path, Address):
        with path.replaced(overwrite) as temporary:
            yield temporary
        return
    real = target(path, overwrite=overwrite)
    _remove_left(real)
    handle, temporary = _locked(real)
    try:
        yield temporary
        temporary.chmod(stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o666 & ~_umask())
        temporary.replace(target(path, overwrite=overwrite))
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        # The error of a full disk does not name the file.
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            raise type(error)(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        if handle is not None:
            os.close(handle)


def _prefix(real: Any) -> str:
    """Start of the names of our temporary files for this target: from its hash, as a long name may
    not allow a suffix.
    """
    return f".calibrant-{blake2s(os.fsencode(real.name), digest_size=8).hexdigest()}-"


def _locked(real: Any) -> Any:
    """A new temporary file and its path, locked while it is open; closed where there are no locks.

    Windows has no such locks, and moves or removes no open file.
    """
    while True:
        try:
            handle, name = tempfile.mkstemp(dir=real.parent, prefix=_prefix(real), suffix=".part")
        except OSError as error:
            raise type(error)(
                f"{real.parent} cannot be written to ({error.strerror}); choose another path."
            ) from None
        if fcntl is None:
            os.close(handle)
            return None, Path(name)
        # Another run may have removed it as stale before it was locked.
        if _lock(handle) is not False and os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)


def _lock(handle: int) -> Any:
    """True when it is ours now, False when another holds it, None where files cannot be locked."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_left(real: Any) -> None:
    """Remove temporary files of this target, and of no other, that no run writes any more."""
    ours = re.compile(re.escape(_prefix(real)) + r"[a-z0-9_]{8}\.part")
    with suppress(OSError), os.scandir(real.parent) as entries:
        for left in [
            entry
            for entry in entries
            if ours.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
        ]:
            _remove_dead(left.path)


def _remove_dead(path):
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            if _lock(handle):
                os.unlink(path)
        finally:
            os.close(handle)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


# -- Saved objects ---------------------------------------------------------------------------------


def read_npy(file: Any, size: int, kinds: str | None = None) -> np.ndarray:
    """The array of a stream of ``size`` bytes; memory is allocated only if its header matches the
    size.

    Parameters
    ----------
    file : binary file that can be rewound
    size : int
    kinds : str, optional
        Letters of the accepted kinds of dtype; default all but objects, which require pickle.

    Raises
    ------
    ValueError
    """
    version = np.lib.format.read_magic(file)
    # Version 3 differs from 2 only in the encoding of names.
    header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = header(file)
    asked, there = math.prod(shape) * dtype.itemsize, size - file.tell()
    if dtype.hasobject or (kinds is not None and dtype.kind not in kinds):
        raise ValueError(f"it holds {dtype} instead of plain numbers or text")
    if asked != there:
        raise ValueError(f"its header says shape {shape}, {asked:,} bytes, and {there:,} are there")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


MANIFEST = "manifest.json"
#: Limits of the unpacked size: this many bytes or this multiple of the file size, whichever is
#: more; lower for text, which takes far more memory when parsed.
LARGEST, RATIO = 64 * 2**20, 100
LARGEST_MANIFEST, MANIFEST_RATIO = 4 * 2**20, 50
#: The compression that we write; others may require any amount of memory.
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Kinds of numbers and texts that an array may hold.
ARRAY_KINDS = "fiubcUSmM"


class CheckedArchive:
    """The parts of a zip file, each read at most once (``found`` has the rest), with the digest of
    the arrays read so far.

    Names must be distinct and the declared sizes within the limits, or within ``max_bytes`` if
    given.
    """

    archive: Any
    digest: Any

    def __init__(self, file: Any, max_bytes: int | None = None) -> None:
        self.archive, self.digest = zipfile.ZipFile(file), hashlib.sha256()
        size, infos = file.seek(0, io.SEEK_END), self.archive.infolist()
        self.found: dict[str, Any] = {info.filename: info for info in infos}
        if len(self.found) < len(infos):
            raise SavedFileError(
                "holds two parts of one name, unlike files of calibrant; save the calibrator again."
            )
        odd = [info.filename for info in infos if info.compress_type not in COMPRESSIONS]
        if odd or sum(info.compress_size for info in infos) > size:
            raise SavedFileError(
                f"declares parts that cannot be in its {size:,} bytes; it is damaged: save the"
                " calibrator again."
            )
        _require(
            sum(info.file_size for info in infos), max(LARGEST, RATIO * size), max_bytes, "", size
        )

    def manifest(self, max_bytes: int | None = None) -> bytes:
        """The text of the manifest, within its own limits."""
        info = self.found[MANIFEST]
        limit = max(LARGEST_MANIFEST, MANIFEST_RATIO * info.compress_size)
        _require(info.file_size, limit, max_bytes, "a manifest of ", info.compress_size)
        return self._read(MANIFEST)

    def array(self, name: str) -> np.ndarray:
        """An array by its name; its header must match the bytes that follow it, before memory is
        allocated.
        """
        data = self._read(f"{name}.npy")
        self.digest.update(data)
        return read_npy(io.BytesIO(data), len(data), ARRAY_KINDS)

    def _read(self, name: str) -> Any:
        """The declared number of bytes, never more, if the checksum is right."""
        info = self.found.pop(name)
        with self.archive.open(info) as part:
            # When reading everything, zipfile would unpack two gigabytes before truncating to the
            # declared size.
            data = part.read(info.file_size)
        if len(data) < info.file_size:
            raise SavedFileError(
                f"declares {name} with {info.file_size:,} bytes but holds {len(data):,}; save the"
                " calibrator again."
            )
        return data


def _require(total: int, limit: int, max_bytes: Any, what: str, size: int) -> None:
    limit = limit if max_bytes is None else max_bytes
    if total > limit:
        raise SavedFileError(
            f"unpacks to {what}{total:,} bytes from {size:,}, more than the {limit:,} that are read"
            f" unasked; if you trust the file, pass max_bytes={total} to load."
        )


FORMAT_VERSION = 1


class Saved:
    """Mixin: ``save(path)``, registration as a class that may be loaded, and fits on one thread of
    BLAS.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        limit_fits(cls)
        own(cls)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({k: v for k, v in state.items() if k != "_sklearn_version"})

    def _option(self, name: str, *options: str) -> Any:
        """The value of a parameter, which must be one of the options."""
        value = getattr(self, name)
        require_option(name, value, options)
        return value

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write this object to ``path`` (atomic; an existing file is kept unless ``overwrite``)."""
        return save(self, path, overwrite=overwrite)


def save(obj: Any, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fitted object to one file; see :func:`load`."""
    arrays: dict[str, np.ndarray] = {}
    node = _encode(obj, arrays, type(obj).__name__)
    digest = hashlib.sha256()
    with (
        replacing(path, overwrite=overwrite) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            digest.update(buffer.getbuffer())
            _write(archive, f"{name}.npy", buffer.getvalue())
        manifest = {
            "format": "calibrant",
            "version": FORMAT_VERSION,
            "digest": _finished(digest, node),
            "object": node,
        }
        _write(archive, MANIFEST, json.dumps(manifest, indent=1, allow_nan=False).encode())
    return located(path)


def _finished(digest: Any, node: dict[str, Any]) -> str:
    """The digest of the arrays read or written so far and of the object, in hexadecimal."""
    digest.update(json.dumps(node).encode())
    return digest.hexdigest()


def load(path: str | Path, *, max_bytes: int | None = None) -> Any:
    """Read an object written by ``save``; no code in the file is executed.

    Parameters
    ----------
    path : str or Path
    max_bytes : int, optional
        The most bytes that the file may unpack to; default 64 MiB or 100 times its size, whichever
        is more (for the manifest 4 MiB or 50 times). Raise it for a large file of near-constant
        numbers that you trust.

    Returns
    -------
    The calibrator, map or signal as it was: its predictions have the same bits.

    Raises
    ------
    SavedFileError
        When the file is damaged or changed, not calibrant's, or written by a newer format; when it
        unpacks to more than ``max_bytes``; when the object fails on synthetic rows.

    See Also
    --------
    register : makes your own class savable.

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
    with located(path).open("rb") as file:
        try:
            return _tried(_read(file, max_bytes))
        except SavedFileError as error:
            raise SavedFileError(f"{path} {error}") from None
        # Any other error of zipfile, zlib, json, NumPy or ours: the file has changed since it was
        # written.
        except Exception as error:
            raise SavedFileError(
                f"{path} is damaged or not a calibrant file ({type(error).__name__}: {error}); save"
                " the calibrator again."
            ) from error


def _read(file: Any, max_bytes: Any) -> Any:
    archive = CheckedArchive(file, max_bytes)
    manifest = json.loads(archive.manifest(max_bytes), parse_constant=_refuse_constant)
    _check_manifest(manifest)
    out = _decode_object(manifest["object"], archive)
    if manifest["digest"] != _finished(archive.digest, manifest["object"]):
        raise SavedFileError(
            "was changed after it was written: its digest differs; save the calibrator again."
        )
    if archive.found:
        raise SavedFileError(
            f"holds {sorted(archive.found)[:6]}, which its manifest does not list; save the"
            " calibrator again."
        )
    return out


def _tried(out: Any) -> Any:
    """The object, after a test on synthetic rows; unfitted ones are not tested."""
    if not any(name.endswith("_") for name in vars(out)):
        return out
    try:
        with np.errstate(all="ignore"):
            trial(with_few_draws(out))
            # The parameters and the explanation of a fit must exist too.
            repr(out)
            getattr(out, "explain", str)()
    except (InputError, MissingDependencyError):
        # It needs other rows or a library; its own error appears when it is used.
        pass
    except Exception as error:
        raise SavedFileError(
            f"holds a {type(out).__name__} that cannot be used ({type(error).__name__}: {error});"
            " save the calibrator again."
        ) from error
    return out


def _write(archive: Any, name: str, data: Any) -> None:
    # A fixed date makes the files of equal objects identical.
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)


def _refuse_constant(name: str):
    raise ValueError(f"its manifest holds {name}, which is not JSON")


def _check_manifest(manifest: dict[str, Any]) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != "calibrant":
        raise SavedFileError("is not a calibrant file; its manifest names another format.")
    version = manifest["version"]
    if type(version) is not int or version < 1:
        raise ValueError(f"its version is {version!r}")
    if version != FORMAT_VERSION:
        raise SavedFileError(
            f"has format {version}; this calibrant reads format {FORMAT_VERSION}; use the calibrant"
            " that wrote it."
        )


def _encode(value: Any, arrays: Any, where: str) -> Any:
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
        return {
            "map": [
                [_encode(k, arrays, where), _encode(v, arrays, f"{where}[{k!r}]")]
                for k, v in value.items()
            ]
        }
    if type(value) is class_named(key_of(type(value))):
        state = {k: _encode(v, arrays, f"{where}.{k}") for k, v in vars(value).items()}
        return {"class": key_of(type(value)), "state": state}
    raise InputError(
        f"{where} is a {type(value).__module__}.{type(value).__name__}, which cannot be saved"
        " without executing code on load; register a class of your own with"
        " calibrant.core.register, save the parts that are calibrant's, or use joblib for the"
        " whole."
    )


def _encode_array(array: np.ndarray, arrays: Any, where: str) -> Any:
    if array.dtype.hasobject:
        return {
            "objects": [_encode(v, arrays, where) for v in array.ravel().tolist()],
            "shape": list(array.shape),
        }
    name = f"a{len(arrays)}"
    arrays[name] = array
    return {"array": name}


def _decode(node: Any, archive: CheckedArchive) -> Any:
    if isinstance(node, list):
        return [_decode(v, archive) for v in node]
    if not isinstance(node, dict):
        return node
    if "array" in node:
        return archive.array(node["array"])
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


def _remedy(key: Any) -> Any:
    package, _, name = key.partition(":")
    if not name:
        return "which this calibrant does not have; upgrade calibrant"
    return (
        f"a class of the package {package!r} that is not registered here; import {package}, which"
        " registers it, and load again"
    )


def _decode_object(node: dict[str, Any], archive: CheckedArchive) -> Any:
    cls = class_named(node["class"])
    if cls is None:
        raise SavedFileError(f"holds a {node['class']!r}, {_remedy(node['class'])}.")
    state = {k: _decode(v, archive) for k, v in node["state"].items()}
    odd = [k for k in state if k.startswith("__") or callable(getattr(cls, k, None))]
    if odd:
        raise SavedFileError(
            f"sets {odd} of a {node['class']}, unlike calibrant; it is not a calibrant file."
        )
    out = object.__new__(cls)
    vars(out).update(state)
    stored = dataclasses.is_dataclass(cls) or hasattr(cls, "get_params")
    given = inspect.signature(cls).parameters.values() if stored else ()
    lacking = [p.name for p in given if p.default is p.empty and not hasattr(out, p.name)]
    if lacking:
        raise SavedFileError(
            f"holds a {node['class']} without {lacking}, which calibrant writes; save the"
            " calibrator again."
        )
    return out
