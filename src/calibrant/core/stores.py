"""Files in stores, named by addresses such as ``s3://bucket/logs/day.parquet``: listed, read and
written through the file systems of pyarrow or fsspec, with the credentials that these find.

What is printed of an address holds no user, password, signature or other part of its query.
"""

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, Literal
from urllib.parse import unquote

from calibrant.core.extras import import_extra
from calibrant.errors import InputError, MissingDependencyError

__all__ = [
    "Address",
    "in_one_store",
    "lies_over",
    "located",
    "stamp",
    "unpacked",
    "without_secrets",
]

#: A drive of Windows has one letter.
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
ONE_SLASH = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/(?!/)")
#: Stores of pyarrow; the rest are fsspec's. In those of OBJECTS a file exists once it is complete.
OBJECTS = ("s3", "s3a", "gs", "gcs", "abfs", "abfss")
ARROW, WEB = (*OBJECTS, "hdfs", "viewfs"), ("http", "https")
#: "user:password@", where the password may hold a slash, or "user@"; a port is no password.
USER = re.compile(r"[^/@:]*:(?!\d{1,5}(/|$))[^?]*@|[^/@]*@|")
#: A ? without a name after it belongs to a pattern, except on the web.
QUERY, WEB_QUERY = re.compile(r"\?[\w.-]+=.*|$"), re.compile("[?#].*|$")
#: Part of a pattern -> regular expression.
PATTERN = {
    "**/": r"((?!\.)[^/]+/)*",
    "**": r"((?!\.)[^/]+/)*(?!\.)[^/]*",
    "*": r"(?!(?<=/)\.)[^/]*",
    "?": r"(?!(?<=/)\.)[^/]",
}
EXTRA, BLOCK = "stores", 2**22


def located(path: Any) -> Any:
    """The path, or the address of a file in a store; ``file://`` names a path.

    Examples
    --------
    >>> located("s3://bucket/logs/day.parquet").name
    'day.parquet'
    >>> located("https://user:secret@example.org/day.csv?signature=secret")
    https://example.org/day.csv?...
    """
    if isinstance(path, Address):
        return path
    if isinstance(path, str) and ONE_SLASH.match(path) and not Path(path).exists():
        scheme = path.partition(":")[0]
        raise InputError(f"an address has two slashes, {scheme}://; got one; correct it.")
    if not isinstance(path, str) or not ADDRESS.match(path):
        return Path(path)
    if path.lower().startswith(("file://", "local://")):
        from urllib.request import url2pathname

        local = path.partition("://")[2].removeprefix("localhost")
        if not local.startswith("/"):
            raise InputError(
                f"{_address(path)} must name a file of this machine, as file:///folder/name; leave"
                " out the host."
            )
        return Path(url2pathname(local))
    return _address(path)


def lies_over(path: Any, files: Iterable[Any]) -> bool:
    """Whether writing to ``path`` replaces one of ``files``: it is that file, however it is
    written, or a folder that holds it.

    Examples
    --------
    >>> lies_over("logs/../day.csv", ["day.csv"]), lies_over("logs", ["logs/day.csv"])
    (True, True)
    >>> lies_over("other.csv", ["day.csv"])
    False
    """
    store, place = _resolved(path)
    for other, there in map(_resolved, files):
        if store == other and (place == there or place in there.parents):
            return True
        # Some file systems take names of other letters for the same.
        if store is other is None and place.exists() and there.exists() and place.samefile(there):
            return True
    return False


def _resolved(path: Any) -> tuple[Any, Any]:
    """The store of a file, None for this machine, and its one name there."""
    path = located(path)
    if not isinstance(path, Address):
        return None, Path(os.path.realpath(path))
    system, name = path.store
    # Other credentials reach the same bucket.
    return system.type_name if path.scheme in OBJECTS else system, PurePosixPath(name)


def stamp(path: Any) -> list[int]:
    """The size of a file, and a number that changes with it: its time, or what a store has."""
    if not isinstance(path, Address):
        there = Path(path).stat()
        return [there.st_size, there.st_mtime_ns]
    system, name = path.store
    with path.reached():
        there = system.get_file_info(name)
        tags = {} if there.mtime_ns is not None else system.handler.fs.info(name)
    known = [tags.get(tag) for tag in ("ETag", "Last-Modified", "created", "modified")]
    return [there.size, there.mtime_ns or zlib.crc32(repr(known).encode())]


def unpacked(path: Any) -> Any:
    """The bytes of a file from its start, unpacked if its name ends in .gz."""
    file = path.open("rb")
    return file if path.suffix.lower() != ".gz" else io.BufferedReader(_Unpacked(path, file), BLOCK)


def in_one_store(paths: Sequence[Any]) -> tuple[list[str], Any]:
    """The names of files in their store, and its file system; None for local paths."""
    stores = [path.store if isinstance(path, Address) else (None, str(path)) for path in paths]
    for path, (system, _) in zip(paths, stores, strict=True):
        if system != stores[0][0]:
            raise InputError(
                f"the files of one table must be in one store; {path} is in another than"
                f" {paths[0]}; copy them to one."
            )
    return [name for _, name in stores], stores[0][0]


def without_secrets(text: str) -> str:
    """The text without users, passwords and queries of the addresses in it.

    Examples
    --------
    >>> without_secrets("no such file: 'ftp://me:word@host/a.csv'")
    "no such file: 'ftp://host/a.csv'"
    """
    return re.sub(rf"{ADDRESS.pattern}[^\s'\"<>]+", lambda match: str(_address(match[0])), text)


@dataclass(frozen=True, repr=False)
class Address:
    """File, folder or pattern in a store, with those methods of a path that reading and writing
    need; its text is shown without secrets.
    """

    scheme: str
    user: str
    #: The host or bucket, and the path there.
    place: str
    query: str
    #: Whether the store has listed it as a file.
    is_listed: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.place}{'?...' * bool(self.query)}"

    __repr__ = __str__

    @property
    def name(self) -> str:
        """The last part of its path."""
        return PurePosixPath(self.place).name

    @property
    def suffix(self) -> str:
        """The ending of its name."""
        return PurePosixPath(self.place).suffix

    def with_suffix(self, suffix: str) -> "Address":
        """The address with another ending."""
        return replace(self, place=str(PurePosixPath(self.place).with_suffix(suffix)))

    @cached_property
    def store(self) -> tuple[Any, str]:
        """Its file system of pyarrow, and its name there."""
        with self.reached():
            return _store(self)

    def exists(self) -> bool:
        """Whether the store has such a file or folder."""
        return self.is_listed or self.kind() != "NotFound"

    def is_file(self) -> bool:
        """Whether the store has such a file."""
        return self.is_listed or self.kind() == "File"

    def is_dir(self) -> bool:
        """Whether the store has such a folder."""
        return self.kind() == "Directory"

    def open(self, mode: Literal["rb"] = "rb") -> io.BufferedReader:
        """Its bytes, which are read as they are needed."""
        system, name = self.store
        with self.reached():
            return io.BufferedReader(_Reader(self, system.open_input_file(name)), BLOCK)

    def read_bytes(self) -> bytes:
        """All its bytes."""
        with self.open() as file:
            return file.read()

    def files(self, endings: tuple[str, ...]) -> list["Address"]:
        """The file itself, those with these ``endings`` in the folder, or those that match the
        pattern or are in a folder that does; names in a folder that begin with a dot or an
        underscore are left out.
        """
        if self.is_listed:
            return [self]
        (system, name), kind = self.store, self.kind()
        if kind == "File":
            return [self._listed(name)]
        named, fixed, shape = name, re.split(r"[*?[]", name)[0], re.escape(name)
        if kind == "NotFound" and fixed != name:
            shape = "".join(map(_expression, re.split(r"(\*\*/?|[*?]|\[[^]]+\])", name)))
            named = fixed.rpartition("/")[0]
        select = import_extra("pyarrow.fs", "", EXTRA).FileSelector(named, recursive=True)
        with self.reached():
            files = [file.path for file in system.get_file_info(select) if file.is_file]
        usual = rf"{shape}(/(?![._])[^/]+)+(?i:{'|'.join(map(re.escape, endings))})(?i:\.gz)?"
        return [
            self._listed(path)
            for path in files
            if re.fullmatch(shape, path) or re.fullmatch(usual, path)
        ]

    @contextmanager
    def replaced(self, overwrite: bool) -> Iterator[Path]:
        """A temporary local path whose file is put into the store when the block succeeds."""
        self.require_free(overwrite)
        with TemporaryDirectory(prefix="calibrant-") as folder:
            temporary = Path(folder, "file")
            yield temporary
            self.require_free(overwrite)
            with self.reached("written"):
                self._put(temporary)

    def require_free(self, overwrite: bool) -> None:
        """Raise an error if nothing may be written here."""
        if self.scheme in WEB:
            raise InputError(f"{self} is on the web, which is only read; write to another place.")
        if not overwrite and self.exists():
            raise FileExistsError(
                f"{self} exists and is not overwritten; pass overwrite=True or another path."
            )
        bucket, kind = replace(self, place=self.place.partition("/")[0]), "Directory"
        with suppress(InputError):  # some may write but not look
            kind = bucket.kind() if self.scheme in OBJECTS else kind
        if kind == "NotFound":
            raise FileNotFoundError(f"{self} is in a bucket that does not exist; create it first.")

    def _put(self, local: Path) -> None:
        arrow, (system, name) = import_extra("pyarrow.fs", "", EXTRA), self.store
        part = name if self.scheme in OBJECTS else f"{name}.{token_hex(4)}.part"
        arrow.copy_files(
            *(str(local), part),
            source_filesystem=arrow.LocalFileSystem(),
            destination_filesystem=system,
        )
        if part != name:
            if self.is_file():
                system.delete_file(name)
            system.move(part, name)

    def kind(self) -> str:
        """ "File", "Directory" or "NotFound"."""
        system, name = self.store
        with self.reached():
            return system.get_file_info(name).type.name

    def _listed(self, name: str) -> "Address":
        """A file of the same store."""
        system, base = self.store
        host, _, path = self.place.rstrip("/").partition("/")
        below = f"{host}/{name[len(base) - len(path) :].lstrip('/')}"
        file = replace(self, place=self.place if name == base else below, is_listed=True)
        vars(file)["store"] = (system, name)
        return file

    @contextmanager
    def reached(self, done: str = "reached") -> Iterator[None]:
        """Turn an error of a store's library into one sentence that names the address."""
        try:
            yield
        except (InputError, MissingDependencyError):
            raise
        except Exception as error:
            words = str(error).partition("\n")[0].partition(" (Request ID")[0]
            if isinstance(error, FileNotFoundError):
                words = "it does not exist"
            secrets = f"{self.user}{self.query} {unquote(self.user + self.query)}"
            for secret in re.findall(r"[^?#&=:@\s]{4,}", secrets):
                words = words.replace(secret, "...")
            raise InputError(
                f"{self} cannot be {done} ({without_secrets(words)[:200] or type(error).__name__});"
                " check the address, the network and your credentials."
            ) from None


def _address(text: str) -> Address:
    scheme, _, rest = text.partition("://")
    scheme = scheme.lower()
    query = (WEB_QUERY if scheme in WEB else QUERY).search(rest)[0]
    rest = rest.removesuffix(query)
    user = USER.match(rest)[0]
    # Azure writes the container where others write the user.
    user = "" if scheme.startswith("abfs") and ":" not in user else user
    return Address(scheme, user, rest.removeprefix(user), query)


def _expression(part: str) -> str:
    """The regular expression of a part of a pattern, of which ** is any number of folders; a star
    does not match a dot that begins a name.
    """
    if part.startswith("["):
        return part.replace("[!", "[^")
    return PATTERN.get(part) or re.escape(part)


def _store(address: Address) -> tuple[Any, str]:
    """The file system of an address, and its name there."""
    feature = f"a file at {address.scheme}://"
    arrow, begin = import_extra("pyarrow.fs", feature, EXTRA), f"{address.scheme}://{address.user}"
    if address.scheme in ARROW:
        host, _, path = address.place.partition("/")
        root = f"{begin}{host}/{address.query}".replace("s3a://", "s3://")
        system, root = arrow.FileSystem.from_uri(root)
        return system, f"{root.rstrip('/')}/{path}".rstrip("/")
    core = import_extra("fsspec.core", feature, EXTRA)
    try:
        system, name = core.url_to_fs(f"{begin}{address.place}{address.query}")
    except ImportError as error:
        raise MissingDependencyError(
            f"{feature} needs a library that is not installed; run: pip install"
            f" 'calibrant[{EXTRA}]' ({error})"
        ) from error
    system = _Web(system) if address.scheme in WEB else system
    return arrow.PyFileSystem(arrow.FSSpecHandler(system)), name


class _Unpacked(io.RawIOBase):
    """Unpacked bytes of a file, whose errors while they are read name it."""

    def __init__(self, path: Any, file: Any) -> None:
        self.path, self.file, self.whole = path, file, gzip.GzipFile(fileobj=file)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return self.whole.readinto(buffer)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"{self.path} is damaged or not a gzip file ({error}); compress it again."
            ) from None

    def close(self) -> None:
        self.file.close()
        super().close()


class _Reader(io.RawIOBase):
    """Bytes of a store, whose errors while they are read name the address."""

    def __init__(self, address: Address, file: Any) -> None:
        self.address, self.file = address, file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self.address.reached():
            return self.file.readinto(buffer)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def close(self) -> None:
        self.file.close()
        super().close()


@dataclass(frozen=True)
class _Web:
    """fsspec's files of the web, with errors that say what the server answered; a file of a server
    that sends no parts is read whole.
    """

    system: Any
    protocol: str = "https"

    def info(self, path: str) -> dict[str, Any]:
        try:
            return self.system.info(path)
        except FileNotFoundError as error:
            cause: Any = error.__cause__ or error
            words = f"{cause.status} {cause.message}" if hasattr(cause, "status") else str(cause)
            raise ConnectionError(words) from None

    def isfile(self, path: str) -> bool:
        return bool(self.info(path))

    def open(self, path: str, mode: str) -> Any:
        begin = self.system.cat_file(path, start=0, end=1)
        if len(begin) > 1:
            return io.BytesIO(begin)
        return self.system.open(path, mode, cache_type="none")
