"""The command line never shows a traceback: whatever a file or a name is, one sentence says what
to do.
"""

import contextlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

pytest.importorskip("click")
pytest.importorskip("rich")
from calibrant.tables.readers import read_file

TEXT = "id,p_a,p_b,label\n" + "".join(
    f"ü{i},{p},{1 - p},{'ab'[i % 2]}\n" for i, p in enumerate([0.25, 0.75, 0.125, 0.5] * 3)
)


@pytest.fixture
def run(run):
    """The same, and every refusal is one sentence without colour."""

    def invoke(*arguments, code=0):
        result = run(*arguments, code=code)
        assert "\x1b" not in result.output
        if code == 1:
            assert result.stderr.startswith("Error: ")
            assert len(result.stderr.splitlines()) == 1
            assert "bug" not in result.stderr
        return result

    return invoke


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-32"])
def test_f26_text_with_a_mark_is_read_and_written_as_it_came(encoding, run, tmp_path):
    (tmp_path / "f.csv").write_text(TEXT, encoding=encoding)
    (tmp_path / "g.csv").write_text(TEXT, encoding="utf-8")
    cb.calibrators.Identity(classes=["a", "b"]).fit([[0.5, 0.5]], ["a"]).save(tmp_path / "m")
    assert (
        run("evaluate", "f.csv", "--positive", "b").output
        == run("evaluate", "g.csv", "--positive", "b").output
    )
    run("apply", "m", "f.csv", "-o", "out.csv")
    assert [
        line.split(",")[0] for line in (tmp_path / "out.csv").read_text(encoding).splitlines()
    ] == ["id"] + [f"ü{i}" for i in range(12)]


@pytest.mark.parametrize(
    ("encoding", "seen"),
    [
        ("latin-1", "looks like Latin-1 or Windows-1252 (byte 0xfc in line 2)"),
        ("utf-16-le", "looks like UTF-16 without its mark"),
        ("utf-16-be", "-f UTF-16BE"),
    ],
)
def test_f26_other_text_is_refused_with_what_it_looks_like(encoding, seen, run, tmp_path):
    (tmp_path / "f.csv").write_text(TEXT, encoding=encoding)
    assert seen in run("evaluate", "f.csv", "--positive", "b", code=1).stderr


def test_f26_long_fields_are_read(run, tmp_path):
    (tmp_path / "f.csv").write_text(TEXT.replace("ü3", "x" * 200_000), encoding="utf-8")
    run("evaluate", "f.csv", "--positive", "b")


def test_f26_a_quote_that_is_never_closed_swallows_no_rows(run, tmp_path):
    (tmp_path / "f.csv").write_text(TEXT.replace("0.875,a", '0.875,"a'), encoding="utf-8")
    assert "after line 3" in run("evaluate", "f.csv", "--positive", "b", code=1).stderr


def test_f26_damaged_archives(run, tmp_path):
    np.savez_compressed(
        tmp_path / "f.npz", probabilities=np.full((50, 2), 0.5), labels=np.arange(50) % 2
    )
    whole = (tmp_path / "f.npz").read_bytes()
    for at in range(0, len(whole), 7):
        (tmp_path / "g.npz").write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        with contextlib.suppress(InputError):
            read_file(tmp_path / "g.npz")
    (tmp_path / "g.npz").write_bytes(whole[:60] + bytes(40) + whole[100:])
    assert (
        "is damaged or not an npz file"
        in run("evaluate", "g.npz", "--positive", "b", code=1).stderr
    )


def test_f26_a_header_that_asks_for_more_than_there_is(run, tmp_path):
    np.save(tmp_path / "f.npy", np.zeros((3, 2)))
    data = (tmp_path / "f.npy").read_bytes().replace(b"(3, 2), }      ", b"(3000000000,2)}")
    assert len(data) == (tmp_path / "f.npy").stat().st_size
    (tmp_path / "f.npy").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "f.npz", "w") as archive:
        archive.writestr("probabilities.npy", data)
    for name in ("f.npy", "f.npz"):
        assert (
            "its header says shape (3000000000, 2), 48,000,000,000 bytes, and 48 are there"
            in run("evaluate", name, "--positive", "b", code=1).stderr
        )


def test_f26_a_file_that_is_there_is_no_pattern(run, tmp_path):
    (tmp_path / "a[1].csv").write_text(TEXT, encoding="utf-8")
    assert "12 rows" in run("evaluate", "a[1].csv", "--positive", "b").output
    if os.name == "nt":
        pytest.skip("Windows has no such names")
    (tmp_path / "a*.csv").write_text(TEXT, encoding="utf-8")
    assert "12 rows of 1 file" in run("evaluate", "a*.csv", "--positive", "b", "--by", "id").output


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pyarrow"])
def test_f26_so_is_a_parquet_file(engine, run, tmp_path):
    pytest.importorskip(engine)
    pandas = pytest.importorskip("pandas")
    (tmp_path / "f.csv").write_text(TEXT, encoding="utf-8")
    pandas.read_csv(tmp_path / "f.csv").to_parquet(tmp_path / "a[1].parquet")
    assert (
        "12 rows of 1 file"
        in run("evaluate", "a[1].parquet", "--positive", "b", "--engine", engine).output
    )
    # What goes wrong beside the files is not said of them.
    assert (
        "the folder"
        in run(
            "evaluate",
            "a[1].parquet",
            "--positive",
            "b",
            "--engine",
            engine,
            "--resume",
            "none/sums",
            code=1,
        ).stderr
    )


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pyarrow"])
def test_f26_bad_parquet_by_slice(engine, run, tmp_path):
    pytest.importorskip(engine)
    for name, content in [("short", b"PAR1"), ("text", b"no parquet at all" * 9), ("empty", b"")]:
        (tmp_path / f"{name}.parquet").write_bytes(content)
        said = run(
            "evaluate",
            f"{name}.parquet",
            "--positive",
            "b",
            "--by",
            "x",
            "--engine",
            engine,
            code=1,
        ).stderr
        assert f"{name}.parquet is damaged, is not a Parquet file" in said


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_f26_a_name_that_is_no_text(run, tmp_path):
    name = os.fsdecode(b"caf\xe9\x1b[31m.csv")
    (tmp_path / name).write_text(TEXT, encoding="utf-8")
    run("report", name, "--positive", "b", "-o", "r.md", "--method", "temperature")
    assert r"caf\xe9\x1b[31m.csv" in (tmp_path / "r.md").read_text("utf-8").replace(
        r"\\", "\\"
    ).replace(r"\[", "[")
    run("evaluate", name, "--positive", "b")
    run("evaluate", os.fsdecode(b"not\xe9there\x1b.csv"), "--positive", "b", code=2)


def test_f26_interrupted(run, tmp_path, monkeypatch):
    (tmp_path / "f.csv").write_text(TEXT, encoding="utf-8")

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("calibrant.tables.readers.read_file", interrupt)
    assert run("evaluate", "f.csv", "--positive", "b", code=130).stderr == "Interrupted.\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("0.125,0.875,a", "0.125,0.875,"), "row 2 is missing"),
        (
            ("0.125,0.875,a", "0.125,0.875,c"),
            "the labels (--label) must hold only the classes ['a', 'b']; got ['c'], first in row 2",
        ),
        (("0.125,0.875", "1.5,-0.5"), "pass --logits NAMES"),
        (("0.125,0.875", "0.125,0.886"), "divide each row by its sum"),
    ],
)
def test_f26_messages_name_options_and_rows(change, words, run, tmp_path):
    (tmp_path / "f.csv").write_text(TEXT.replace(*change, 1), encoding="utf-8")
    assert words in run("evaluate", "f.csv", "--positive", "b", code=1).stderr


def test_f26_a_bug_is_one_sentence_too(run, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from calibrant.cli.group import group

    (tmp_path / "f.csv").write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr("calibrant.tables.readers.read_file", lambda *_, **__: 1 / 0)
    result = CliRunner().invoke(group, ["evaluate", "f.csv"])
    assert result.stderr.startswith(
        "Error: this is a bug in calibrant (ZeroDivisionError: division by zero)"
    )
    monkeypatch.setenv("CALIBRANT_DEBUG", "1")
    assert isinstance(CliRunner().invoke(group, ["evaluate", "f.csv"]).exception, ZeroDivisionError)


def test_f26_an_end_that_is_not_finite_is_no_number():
    from calibrant.cli.tables import with_interval

    assert with_interval({"value": 1.5, "low": 0.5, "high": None}) == "1.5000 [0.5000,\xa0–]"


def test_f26_too_few_rows_for_folds(run, tmp_path):
    (tmp_path / "f.csv").write_text(
        "p_a,p_b,label\n0.25,0.75,a\n0.5,0.5,b\n0.75,0.25,a\n", encoding="utf-8"
    )
    assert (
        "needs 5 rows or more; there are 3"
        in run("evaluate", "f.csv", "--positive", "b", "--method", "temperature", code=1).stderr
    )


def test_f26_threads_of_libraries_say_nothing_beside_the_error():
    code = """
import os, sys
from calibrant.cli.tables import own_words
with own_words():
    os.write(2, b"thread panicked")
    print("ours", file=sys.stderr)
os.write(2, b"after")
"""
    folder = str(Path(cb.__file__).parent.parent)
    made = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": folder},
    )
    assert made.stderr == "ours\nafter"
