"""Atomic writing of files, which never overwrites a file without permission."""

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2s
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows: nothing is locked there, so no leftover counts as stale
    fcntl = None

__all__ = ["replacing", "target"]

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
    path = Path(path)
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
