"""Download files over HTTP with a checksum, and go on from a part that came before."""

import hashlib
import http.client
import urllib.error
import urllib.request
from pathlib import Path

__all__ = ["FetchError", "download"]

CHUNK = 1 << 20
SECONDS = 30.0


class FetchError(RuntimeError):
    """A file could not be had; the message says why and what to do."""


def download(address: str, file: Path, sha256: str) -> None:
    """Download one file; nothing is done where it is there with the right checksum.

    What has arrived is kept in ``FILE.part``: a later call asks the server for the rest, and
    starts again from nothing where the server does not serve parts.
    """
    if file.is_file() and _digest(file) == sha256:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    try:
        _receive(address, part)
    except urllib.error.HTTPError as error:
        raise FetchError(
            f"{address} answered {error.code} ({error.reason}): check the address, or copy the "
            f"file to {file} from elsewhere."
        ) from error
    except (OSError, http.client.HTTPException) as error:
        arrived = part.stat().st_size if part.exists() else 0
        raise FetchError(
            f"{address} cannot be reached ({error}): run the same command again once there is a "
            f"network, which goes on from the {arrived:,} bytes that are here, or fetch on another "
            f"machine and copy the folder to {file.parent}."
        ) from error
    found = _digest(part)
    if found != sha256:
        part.unlink()
        raise FetchError(
            f"{address} has SHA-256 {found}, not {sha256} as in the table: the download was "
            "removed; run the command again, and do not use the file if it differs once more."
        )
    part.replace(file)


def _receive(address: str, part: Path) -> None:
    have = part.stat().st_size if part.exists() else 0
    asked = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(asked, timeout=SECONDS) as answer:
            with part.open("ab" if answer.status == http.client.PARTIAL_CONTENT else "wb") as out:
                while chunk := answer.read(CHUNK):
                    out.write(chunk)
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)
    except urllib.error.HTTPError as error:
        # Nothing is left to send: the checksum says whether the part is the whole file.
        if not have or error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise


def _digest(file: Path) -> str:
    with file.open("rb") as read:
        return hashlib.file_digest(read, "sha256").hexdigest()
