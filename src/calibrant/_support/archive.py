"""Reading a zip that may not be what it says: nothing is unpacked before the sizes that it declares are looked at."""

import hashlib
import io
import zipfile
from typing import Any

import numpy as np

from calibrant._support.npy import read_npy
from calibrant.errors import SavedFileError

__all__ = ["MANIFEST", "CheckedArchive"]

MANIFEST = "manifest.json"
#: What a file may unpack to: this many bytes or this many times its size, whichever is more; of text, which takes far more memory once
#: parsed than numbers do, less.
LARGEST, RATIO = 64 * 2**20, 100
LARGEST_MANIFEST, MANIFEST_RATIO = 4 * 2**20, 50
#: How we write them; other compressions may ask for any amount of memory.
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Kinds of numbers and texts that an array may hold.
KINDS = "fiubcUSmM"


class CheckedArchive:
    """The parts of a zip file, each read at most once (``found`` has those left), with the digest of the arrays read so far.

    Names must be distinct and the declared sizes within the limits, for which ``max_bytes`` stands where it is given.
    """

    archive: Any
    digest: Any

    def __init__(self, file: Any, max_bytes: int | None = None) -> None:
        self.archive, self.digest = zipfile.ZipFile(file), hashlib.sha256()
        size, infos = file.seek(0, io.SEEK_END), self.archive.infolist()
        self.found: dict[str, Any] = {info.filename: info for info in infos}
        if len(self.found) < len(infos):
            raise SavedFileError("holds two parts of one name, which no calibrant writes; save the calibrator again.")
        odd = [info.filename for info in infos if info.compress_type not in COMPRESSIONS]
        if odd or sum(info.compress_size for info in infos) > size:
            raise SavedFileError(f"declares parts that cannot be in its {size:,} bytes; it is damaged: save the calibrator again.")
        _require(sum(info.file_size for info in infos), max(LARGEST, RATIO * size), max_bytes, "", size)

    def manifest(self, max_bytes: int | None = None) -> bytes:
        """The text of the manifest, within its own limits."""
        info = self.found[MANIFEST]
        limit = max(LARGEST_MANIFEST, MANIFEST_RATIO * info.compress_size)
        _require(info.file_size, limit, max_bytes, "a manifest of ", info.compress_size)
        return self._read(MANIFEST)

    def array(self, name: str) -> np.ndarray:
        """An array by its name; its header must ask for the bytes that follow it, before memory is taken for them."""
        data = self._read(f"{name}.npy")
        self.digest.update(data)
        return read_npy(io.BytesIO(data), len(data), KINDS)

    def _read(self, name):
        """As many bytes as declared, never more, once the checksum is right."""
        info = self.found.pop(name)
        with self.archive.open(info) as part:
            # Asked for all, zipfile would unpack two gigabytes before it cut them to the declared size.
            data = part.read(info.file_size)
        if len(data) < info.file_size:
            raise SavedFileError(f"says that {name} has {info.file_size:,} bytes and holds {len(data):,}; save the calibrator again.")
        return data


def _require(total, limit, max_bytes, what, size):
    limit = limit if max_bytes is None else max_bytes
    if total > limit:
        raise SavedFileError(
            f"unpacks to {what}{total:,} bytes from {size:,}, more than the {limit:,} that are read unasked; "
            f"if you trust the file, pass max_bytes={total} to load."
        )
