"""Saved files: what comes back, what is refused, and that nothing in a file is ever executed."""

import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant.core import saving
from calibrant.errors import InputError, SavedFileError

GOLDEN = Path(__file__).parent.parent / "golden"
P = np.random.default_rng(0).dirichlet(np.ones(3), 60)
Y = np.arange(60) % 3


@pytest.fixture
def fitted():
    return cb.ConfidenceCalibrator(map=cb.calibrators.HistogramBinning(n_bins=5)).fit(P, Y)


@pytest.fixture
def saved(fitted, tmp_path):
    return fitted.save(tmp_path / "model.calibrant")


def archive_of(manifest, **files):
    """The bytes of a zip with this manifest (text, or what becomes JSON) and these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        if manifest is not None:
            archive.writestr(
                "manifest.json", manifest if isinstance(manifest, str) else json.dumps(manifest)
            )
        for name, data in files.items():
            archive.writestr(name.replace("_npy", ".npy"), data)
    return out.getvalue()


def with_object(node, **files):
    return archive_of({"format": "calibrant", "version": 1, "object": node}, **files)


class Bomb:
    """Unpickling one of these leaves a trace."""

    def __reduce__(self):
        return (exec, ("import os; os.environ['CALIBRANT_BOMB'] = '1'",))


def pickled_array():
    out = io.BytesIO()
    np.save(out, np.array([Bomb()], dtype=object), allow_pickle=True)
    return out.getvalue()


def huge_array():
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        out, {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
    )
    return out.getvalue()


DAMAGED = "is damaged or not a calibrant file"
REFUSED = {
    "empty": (b"", DAMAGED),
    "text": (b"hello", DAMAGED),
    "a pickle": (pickle.dumps(Bomb()), DAMAGED),
    "a zip without a manifest": (archive_of(None, other="1"), DAMAGED),
    "a manifest that is no JSON": (archive_of("{"), DAMAGED),
    "a manifest of another shape": (archive_of([]), "is not a calibrant file"),
    "a foreign manifest": (
        archive_of({"format": "skops", "version": 1}),
        "is not a calibrant file",
    ),
    "no version": (archive_of({"format": "calibrant", "object": {}}), DAMAGED),
    "a newer version": (
        archive_of({"format": "calibrant", "version": saving.FORMAT_VERSION + 1, "object": {}}),
        (
            f"has format {saving.FORMAT_VERSION + 1}; this calibrant reads format"
            f" {saving.FORMAT_VERSION}; use the calibrant"
        ),
    ),
    "a class of a later calibrant": (
        with_object({"class": "NeuralOracle", "state": {}}),
        "holds a 'NeuralOracle', which this calibrant does not have; upgrade calibrant",
    ),
    "a class of Python's": (
        with_object({"class": "os.system", "state": {}}),
        "holds a 'os.system'",
    ),
    "an abstract class": (with_object({"class": "Calibrator", "state": {}}), DAMAGED),
    "no object": (with_object(5), DAMAGED),
    "an unknown node": (
        with_object({"class": "Identity", "state": {"classes": {"lambda": "x"}}}),
        DAMAGED,
    ),
    "an array that is not there": (
        with_object({"class": "Identity", "state": {"classes_": {"array": "a0"}}}),
        DAMAGED,
    ),
    "an array outside": (
        with_object({"class": "Identity", "state": {"classes_": {"array": "../../etc/passwd"}}}),
        DAMAGED,
    ),
    "a pickled array": (
        with_object(
            {"class": "Identity", "state": {"classes_": {"array": "a0"}}}, a0_npy=pickled_array()
        ),
        DAMAGED,
    ),
    "an array of 80 terabytes": (
        with_object(
            {"class": "Identity", "state": {"classes_": {"array": "a0"}}}, a0_npy=huge_array()
        ),
        DAMAGED,
    ),
    "a method": (
        with_object({"class": "Identity", "state": {"predict_proba": 1}}),
        r"sets \['predict_proba'\] of a Identity",
    ),
    "a special attribute": (
        with_object({"class": "Identity", "state": {"__class__": 1}}),
        r"sets \['__class__'\] of a Identity",
    ),
    "a very deep manifest": (
        archive_of(
            '{"format": "calibrant", "version": 1, "object": ' + "[" * 100_000 + "]" * 100_000 + "}"
        ),
        DAMAGED,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_ours_is_refused_and_never_executed(case, tmp_path, monkeypatch):
    monkeypatch.delenv("CALIBRANT_BOMB", raising=False)
    content, message = REFUSED[case]
    path = tmp_path / "model.calibrant"
    path.write_bytes(content)
    with pytest.raises(SavedFileError, match=message) as caught:
        cb.load(path)
    assert str(path) in str(caught.value)
    assert "CALIBRANT_BOMB" not in os.environ


def test_the_bomb_is_armed(monkeypatch):
    monkeypatch.delenv("CALIBRANT_BOMB", raising=False)
    pickle.loads(pickle.dumps(Bomb()))
    assert os.environ.pop("CALIBRANT_BOMB") == "1"


def test_truncated_anywhere(saved):
    content = saved.read_bytes()
    for keep in range(0, len(content), 101):
        saved.write_bytes(content[:keep])
        with pytest.raises(SavedFileError):
            cb.load(saved)


def test_a_flipped_byte_is_noticed_or_harmless(saved, fitted):
    content = saved.read_bytes()
    noticed = 0
    for at in range(0, len(content), 13):
        damaged = bytearray(content)
        damaged[at] ^= 0xFF
        saved.write_bytes(bytes(damaged))
        try:
            same = cb.load(saved)
        except SavedFileError:
            noticed += 1
        else:
            np.testing.assert_array_equal(same.predict_proba(P), fitted.predict_proba(P))
    assert noticed > len(content) / 13 / 2


def test_an_existing_file_is_kept_unless_told(saved, fitted):
    before = saved.read_bytes()
    with pytest.raises(FileExistsError, match="exists and is not overwritten; pass overwrite=True"):
        cb.calibrators.Identity().fit(P, Y).save(saved)
    assert saved.read_bytes() == before
    cb.calibrators.Identity().fit(P, Y).save(saved, overwrite=True)
    assert isinstance(cb.load(saved), cb.calibrators.Identity)


def test_a_save_that_fails_leaves_the_old_file_and_no_rest(saved):
    before = saved.read_bytes()
    broken = cb.calibrators.Identity().fit(P, Y)
    broken.learned_ = open  # what cannot be saved
    with pytest.raises(
        InputError,
        match=r"Identity\.learned_ is a .*, which cannot be saved without executing code on load",
    ):
        broken.save(saved, overwrite=True)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == ["model.calibrant"]


def test_a_crash_while_writing_leaves_the_old_file_and_no_rest(saved, fitted, monkeypatch):
    before = saved.read_bytes()

    def full_disk(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(saving, "_write", full_disk)
    with pytest.raises(OSError, match="No space left"):
        fitted.save(saved, overwrite=True)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == ["model.calibrant"]


def test_missing_files_and_folders(tmp_path, fitted):
    with pytest.raises(FileNotFoundError):
        cb.load(tmp_path / "nothing.calibrant")
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist; create it first"):
        fitted.save(tmp_path / "nowhere" / "model.calibrant")


def test_the_same_object_gives_the_same_bytes(fitted, tmp_path):
    assert fitted.save(tmp_path / "a").read_bytes() == fitted.save(tmp_path / "b").read_bytes()


def test_a_pickle_inside_the_model_is_not_written(saved):
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            if name.endswith(".npy"):
                np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)


@pytest.mark.parametrize(
    "classes",
    [["b", "a", "ü"], [3, 1, 2], [1.5, 0.5, 2.5], [("a", 1), ("b", 2), "c"], [True, "x", -1]],
    ids=str,
)
def test_classes_of_any_kind_come_back(classes, tmp_path):
    cal = cb.TemperatureScaling(classes=classes).fit(P, [classes[k] for k in Y])
    copy = cb.load(cal.save(tmp_path / "model.calibrant"))
    assert copy.classes_.tolist() == classes
    assert [type(c) for c in copy.classes_.tolist()] == [type(c) for c in classes]
    assert copy.predict(P).tolist() == cal.predict(P).tolist()


VALUES = {
    "none": None,
    "whole number": 10**30,
    "fraction": 0.1,
    "not finite": [float("inf"), -float("inf")],
    "text": 'ü"\n',
    "nested": [1, (2.0, [None, True])],
    "dict": {"a": 1, 2: (3,), ("b", 4): [5]},
}


@pytest.mark.parametrize("kind", VALUES)
def test_plain_attributes_come_back_as_they_were(kind, tmp_path):
    cal = cb.calibrators.Identity().fit(P, Y)
    cal.value_ = VALUES[kind]
    copy = cb.load(cal.save(tmp_path / "model.calibrant"))
    assert copy.value_ == VALUES[kind]
    assert type(copy.value_) is type(VALUES[kind])


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.zeros((0, 3), np.float32),
        np.array(3),
        np.array([np.nan, np.inf, -0.0]),
        np.array(["a", "bc"]),
        np.array([True, False]),
        np.arange(4, dtype=np.int8)[::2],
        np.asfortranarray(np.eye(2)),
        np.array([[1, "a"], [None, (1, 2)]], dtype=object),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_arrays_come_back_with_their_bits(array, tmp_path):
    cal = cb.calibrators.Identity().fit(P, Y)
    cal.value_ = array
    copy = cb.load(cal.save(tmp_path / "model.calibrant")).value_
    assert copy.dtype == array.dtype
    assert copy.shape == array.shape
    assert (
        copy.tolist() == array.tolist()
        if array.dtype == object
        else copy.tobytes() == array.tobytes()
    )


def test_an_unfitted_object_may_be_saved(tmp_path):
    copy = cb.load(cb.calibrators.HistogramBinning(n_bins=7).save(tmp_path / "model.calibrant"))
    assert copy.get_params() == cb.calibrators.HistogramBinning(n_bins=7).get_params()


def golden_objects():
    """One object for each kind of node that the format has."""
    names = np.array(["b", "a", "c"])
    return {
        "confidence": cb.ConfidenceCalibrator(map=cb.calibrators.HistogramBinning(n_bins=5)).fit(
            P, Y
        ),
        "temperature": (
            cb.TemperatureScaling(classes=[("x", 1), "y", 3]).fit(
                P, [[("x", 1), "y", 3][k] for k in Y]
            )
        ),
        "identity": cb.calibrators.Identity(classes=names.tolist()).fit(P, names[Y]),
    }


@pytest.mark.parametrize("name", ["confidence", "temperature", "identity"])
def test_files_of_format_version_1_stay_readable(name):
    with zipfile.ZipFile(GOLDEN / f"{name}-v1.calibrant") as archive:
        assert json.loads(archive.read("manifest.json"))["version"] == 1
    cal = cb.load(GOLDEN / f"{name}-v1.calibrant")
    expected = json.loads((GOLDEN / "saved-v1.json").read_text(encoding="utf-8"))[name]
    np.testing.assert_allclose(cal.predict_proba(P[:3]), expected["proba"], rtol=1e-12)
    assert [repr(c) for c in cal.classes_.tolist()] == expected["classes"]


if (
    __name__ == "__main__"
):  # python tests/core/test_saving.py writes the golden files of this format version anew
    record = {}
    for name, cal in golden_objects().items():
        cal.save(GOLDEN / f"{name}-v{saving.FORMAT_VERSION}.calibrant", overwrite=True)
        record[name] = {
            "proba": cal.predict_proba(P[:3]).tolist(),
            "classes": [repr(c) for c in cal.classes_.tolist()],
        }
    (GOLDEN / f"saved-v{saving.FORMAT_VERSION}.json").write_text(
        json.dumps(record, indent=1) + "\n", encoding="utf-8"
    )
