import numpy as np
import pytest

from calibrant.datasets.sets import stored
from calibrant.errors import InputError


def test_reads_from_the_folder_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    np.savez(tmp_path / "a.npz", labels=[1, 2])
    assert stored("a")["labels"].tolist() == [1, 2]


def test_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    with pytest.raises(InputError, match="CALIBRANT_DATA must name the folder"):
        stored("nothing")
