import errno
import os
import tempfile
from tempfile import mkstemp

import pytest

from calibrant.core import saving as files
from calibrant.core.saving import replacing


def test_takes_the_place_of_the_file_when_all_is_well(tmp_path):
    path = tmp_path / "a"
    with replacing(path) as temporary:
        assert temporary.parent == tmp_path
        temporary.write_text("new", encoding="utf-8")
        assert not path.exists()
    assert path.read_text(encoding="utf-8") == "new"
    if os.name != "nt":  # Windows keeps no such bits
        assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_leaves_the_file_as_it_was_when_something_fails(tmp_path):
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(ZeroDivisionError), replacing(path, overwrite=True) as temporary:
        temporary.write_text(f"half, then {1 / 0}", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_refuses_before_anything_is_written(tmp_path):
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(FileExistsError, match="overwrite=True"), replacing(path):
        pytest.fail("must not get here")
    with (
        pytest.raises(FileNotFoundError, match="does not exist; create it first"),
        replacing(tmp_path / "no" / "a"),
    ):
        pytest.fail("must not get here")


def test_where_files_cannot_be_locked_none_is_open_when_it_is_moved_or_removed(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(files, "fcntl", None)
    path, seen = tmp_path / "a", []
    monkeypatch.setattr(
        tempfile, "mkstemp", lambda **options: seen.append(mkstemp(**options)) or seen[-1]
    )
    for attempt in ("new", "newer"):
        with replacing(path, overwrite=True) as temporary:
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(seen[-1][0])
            temporary.write_text(attempt, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == attempt
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def _umask():
    current = os.umask(0)
    os.umask(current)
    return current


def test_a_full_disk_says_of_which_file(tmp_path):
    with (
        pytest.raises(OSError, match="No space left on device") as found,
        replacing(tmp_path / "a"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert found.value.filename == str(tmp_path / "a")
    assert found.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []
