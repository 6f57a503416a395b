"""F27: damaged, bloated and incomplete files are refused by ``load``, each with one clear error,
in bounded memory and time.
"""

import io
import json
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from tools.fuzz_load import signed

import calibrant as cb
from calibrant.errors import SavedFileError

P = np.random.default_rng(0).dirichlet(np.ones(3), 60)
Y = np.arange(60) % 3


def parts_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def edited(path, edit, *, keep_digest=False):
    """The file with its manifest edited and without the arrays that it names no more; the digest
    is a forger's, or as it was.
    """
    parts = parts_of(path)
    manifest = json.loads(parts["manifest.json"])
    edit(manifest)
    if not keep_digest:
        manifest = signed(manifest, parts)
    text = json.dumps(manifest)
    kept = {name: data for name, data in parts.items() if f'"{name.removesuffix(".npy")}"' in text}
    return written(path, kept | {"manifest.json": text.encode()})


def test_f27_an_end_record_that_points_nowhere_is_no_bare_oserror(tmp_path):
    path = cb.TemperatureScaling().fit(P, Y).save(tmp_path / "model.calibrant")
    content = bytearray(path.read_bytes())
    for place in (12, 16):
        damaged = bytearray(content)
        end = len(damaged) - 22
        damaged[end + place : end + place + 4] = b"\xff\xff\xff\x7f"
        path.write_bytes(bytes(damaged))
        with pytest.raises(SavedFileError, match="damaged"):
            cb.load(path)


def bomb(path, size, name="a0.npy"):
    """A file that unpacks to ``size`` bytes of zeros; its array is as large as its header says."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (size // 8,)}
    )
    manifest = {
        "format": "calibrant",
        "version": 1,
        "object": {"class": "Identity", "state": {"classes_": {"array": "a0"}}},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        with archive.open(name, "w", force_zip64=True) as part:
            part.write(header.getvalue())
            for _ in range(size // 2**20):
                part.write(bytes(2**20))
    return path


def refused_within(path, megabytes, seconds, match):
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(SavedFileError, match=match):
        cb.load(path)
    spent, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < megabytes * 2**20
    assert spent < seconds


def test_f27_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = bomb(tmp_path / "bomb.calibrant", 80 * 2**20)
    assert path.stat().st_size < 200_000
    refused_within(
        path,
        5,
        0.5,
        r"unpacks to 83,8.* bytes from .*, more than the 67,108,864 that are read unasked; .* pass"
        r" max_bytes=83",
    )


def test_f27_a_bomb_that_hides_its_size_is_read_no_further_than_it_says(tmp_path):
    path = bomb(tmp_path / "bomb.calibrant", 80 * 2**20)
    content = bytearray(path.read_bytes())
    entry = content.rfind(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = (1000).to_bytes(4, "little")
    path.write_bytes(bytes(content))
    refused_within(path, 5, 0.5, "damaged")


def test_f27_parts_that_share_their_bytes_are_refused(tmp_path):
    """One compressed stream under a hundred names unpacks a hundred times."""
    path = bomb(tmp_path / "bomb.calibrant", 2**20)
    content = bytearray(path.read_bytes())
    end = len(content) - 22
    entry, start = (
        content.rfind(b"PK\x01\x02"),
        int.from_bytes(content[end + 16 : end + 20], "little"),
    )
    one = bytes(content[entry:end])
    at = one.index(b"a0.npy")
    many = bytes(content[start:end]) + b"".join(
        one[:at] + b"b%d.npy" % k + one[at + 6 :] for k in range(10)
    )
    tail = bytearray(content[end:])
    tail[8:12] = (12).to_bytes(2, "little") * 2
    tail[12:16] = len(many).to_bytes(4, "little")
    path.write_bytes(bytes(content[:start]) + many + bytes(tail))
    refused_within(path, 5, 0.5, "declares parts that cannot be in its")


def test_f27_a_bomb_of_text_has_a_limit_of_its_own(tmp_path):
    text = '{"format": "calibrant", "version": 1, "object": [' + "[]," * 2**21 + "[]]}"
    refused_within(
        written(tmp_path / "bomb.calibrant", {"manifest.json": text}), 5, 0.5, "a manifest of 6,29"
    )


def test_f27_one_array_named_many_times_is_read_once(tmp_path):
    path = cb.TemperatureScaling().fit(P, Y).save(tmp_path / "model.calibrant")

    def edit(manifest):
        manifest["object"]["state"]["more"] = [manifest["object"]["state"]["classes_"]] * 1000

    with pytest.raises(SavedFileError, match="damaged"):
        cb.load(edited(path, edit))


def test_f27_the_limit_is_the_users_to_set(tmp_path, monkeypatch):
    monkeypatch.setattr("calibrant.core.saving.LARGEST", 2**20)
    cal = cb.calibrators.Identity().fit(P, Y)
    cal.large_ = np.zeros(2**20)
    path = cal.save(tmp_path / "model.calibrant")
    with pytest.raises(SavedFileError, match="pass max_bytes=8") as caught:
        cb.load(path)
    limit = int(str(caught.value).partition("max_bytes=")[2].split()[0])
    assert len(cb.load(path, max_bytes=limit).large_) == 2**20
    with pytest.raises(SavedFileError):
        cb.load(path, max_bytes=limit - 1)


@pytest.mark.parametrize(
    "version", [float("nan"), float("inf"), 0, -1, True, 1.5, "1", None, [1]], ids=str
)
def test_f27_a_version_that_is_no_version(version, tmp_path):
    path = cb.TemperatureScaling().fit(P, Y).save(tmp_path / "model.calibrant")
    with pytest.raises(SavedFileError, match="damaged"):
        cb.load(edited(path, lambda manifest: manifest.update(version=version)))


LACKING = {
    "temperature": (cb.TemperatureScaling(), "temperature_"),
    "classes": (cb.TemperatureScaling(), "classes_"),
    "matrix": (cb.calibrators.MatrixScaling(), "coef_"),
    "map": (cb.ConfidenceCalibrator(), "map_"),
    "maps": (cb.OneVsRest(), "maps_"),
}


@pytest.mark.filterwarnings("ignore:none of the")
@pytest.mark.parametrize("case", LACKING)
def test_f27_a_state_that_lacks_an_attribute_is_refused_at_load(case, tmp_path):
    cal, name = LACKING[case]
    path = cal.fit(P, Y).save(tmp_path / "model.calibrant")
    name = (
        name
        if name in vars(cal)
        else sorted(
            k for k, v in vars(cal).items() if k.endswith("_") and isinstance(v, np.ndarray)
        )[0]
    )
    with pytest.raises(SavedFileError, match="cannot be used"):
        cb.load(edited(path, lambda manifest: manifest["object"]["state"].pop(name)))


@pytest.mark.parametrize("value", [[1.0, 2.0], "x", None, {"number": "nan"}], ids=str)
def test_f27_a_state_of_another_shape_is_refused_at_load(value, tmp_path):
    path = cb.TemperatureScaling().fit(P, Y).save(tmp_path / "model.calibrant")
    with pytest.raises(SavedFileError, match="cannot be used"):
        cb.load(
            edited(path, lambda manifest: manifest["object"]["state"].update(temperature_=value))
        )


def test_f27_maps_and_regression_calibrators_are_tried_too(tmp_path):
    rng = np.random.default_rng(0)
    mean, y = rng.normal(size=50), rng.normal(size=50)
    fitted = {
        "scale_": cb.StdScaling().fit((mean, np.ones(50)), y),
        "n_fit_": cb.Platt().fit(rng.random(50), rng.integers(0, 2, 50)),
    }
    for name, each in fitted.items():
        path = each.save(tmp_path / "model.calibrant", overwrite=True)
        assert name in vars(each)
        with pytest.raises(SavedFileError, match="cannot be used"):
            cb.load(edited(path, lambda manifest, name=name: manifest["object"]["state"].pop(name)))


def test_f27_a_number_that_was_changed_is_noticed(tmp_path):
    path = cb.TemperatureScaling().fit(P, Y).save(tmp_path / "model.calibrant")
    with pytest.raises(SavedFileError, match="was changed after it was written"):
        cb.load(
            edited(
                path,
                lambda manifest: manifest["object"]["state"].update(temperature_=1.5),
                keep_digest=True,
            )
        )


def test_f27_an_array_of_another_file_is_noticed(tmp_path):
    first = cb.calibrators.VectorScaling().fit(P, Y).save(tmp_path / "a.calibrant")
    second = cb.calibrators.VectorScaling().fit(P[::-1], Y).save(tmp_path / "b.calibrant")
    parts, others = parts_of(first), parts_of(second)
    name = next(n for n in parts if n.endswith(".npy") and parts[n] != others[n])
    with pytest.raises(SavedFileError, match="was changed after it was written"):
        cb.load(written(first, parts | {name: others[name]}))


def test_f27_a_file_without_a_digest_is_refused(tmp_path):
    path = cb.TemperatureScaling().fit(P, Y).save(tmp_path / "model.calibrant")
    with pytest.raises(SavedFileError, match="damaged"):
        cb.load(edited(path, lambda manifest: manifest.pop("digest"), keep_digest=True))
