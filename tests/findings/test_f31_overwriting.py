"""Nothing of the user's is replaced unasked, links and devices least of all, and what a killed
run left is cleared away.
"""

import os
import signal
import stat
import subprocess
import sys

import pytest

import calibrant as cb
from calibrant.core import saving as files

links = pytest.mark.skipif(os.name == "nt", reason="making a link needs a privilege on Windows")


@pytest.fixture
def fitted():
    return cb.calibrators.Identity().fit([[0.5, 0.5]], [0])


def names(folder):
    return sorted(os.listdir(folder))


@links
def test_f31_a_dangling_link_is_not_replaced(fitted, tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError, match="a link to nowhere, which does not exist"):
        fitted.save(tmp_path / "link")
    assert names(tmp_path) == ["link"]


@links
def test_f31_with_overwrite_the_link_stays_and_its_target_is_written(fitted, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "old").write_text("old", encoding="utf-8")
    for place in ("old", "new"):
        (tmp_path / f"to_{place}").symlink_to(f"data/{place}")
        fitted.save(tmp_path / f"to_{place}", overwrite=True)
        assert (tmp_path / f"to_{place}").is_symlink()
        assert cb.load(tmp_path / "data" / place).classes_.tolist() == [0, 1]
    assert names(tmp_path / "data") == ["new", "old"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes and devices among its files")
def test_f31_what_is_no_regular_file_is_never_replaced(fitted, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "null").symlink_to("/dev/null")
    for name, kind in [
        ("pipe", "a pipe"),
        ("folder", "a folder"),
        ("circle", "a circular link"),
        ("null", "a device"),
    ]:
        with pytest.raises(FileExistsError, match=f"is {kind}, which is never replaced"):
            fitted.save(tmp_path / name, overwrite=True)
    assert names(tmp_path) == ["circle", "folder", "null", "pipe"]
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no such bits")
def test_f31_a_file_keeps_who_may_read_it(fitted, tmp_path):
    (tmp_path / "secret").touch(mode=0o600)
    fitted.save(tmp_path / "secret", overwrite=True)
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


KILLED = """
import runpy, sys, time
replacing = runpy.run_path(sys.argv[2])["replacing"]
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


def writing(path):
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, path, files.__file__], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == "writing\n"
    return run


@pytest.mark.skipif(
    files.fcntl is None, reason="without locks nothing that is left is taken for dead"
)
def test_f31_the_next_run_removes_what_a_killed_one_left(fitted, tmp_path):
    killed, other, alive = (writing(str(tmp_path / name)) for name in ("a", "b", "a"))
    try:
        for run in (killed, other):
            run.send_signal(signal.SIGKILL)
            run.wait(10)
        mine = tmp_path / "a.calibrant.part"
        mine.write_text("the user's own", encoding="utf-8")
        assert len(names(tmp_path)) == 4
        fitted.save(tmp_path / "a")
        left = [name for name in names(tmp_path) if name not in ("a", mine.name)]
        # That of another target, and that of a run which still writes, are none of this run's.
        assert len(left) == 2
    finally:
        alive.kill()
        alive.wait(10)
        for run in (killed, other, alive):
            run.stdout.close()
    fitted.save(tmp_path / "a", overwrite=True)
    fitted.save(tmp_path / "b")
    assert names(tmp_path) == ["a", mine.name, "b"]


@pytest.mark.parametrize("command", ["evaluate", "monitor"])
def test_f31_tables_are_not_overwritten_without_force(command, tmp_path, monkeypatch):
    click_testing = pytest.importorskip("click.testing")
    pytest.importorskip("pyarrow")
    from calibrant.cli.group import group

    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.csv").write_text(
        "p,label,when\n" + "".join(f"0.{i},{i % 2},2026-01-0{i}\n" for i in range(1, 9)),
        encoding="utf-8",
    )
    (tmp_path / "out.json").write_text("precious", encoding="utf-8")
    arguments = [command, "f.csv", "--time", "when", "-o", "out.json"]
    result = click_testing.CliRunner().invoke(group, arguments)
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: out.json exists and is not overwritten; pass --force or another -o.\n",
    )
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == "precious"
    assert click_testing.CliRunner().invoke(group, [*arguments, "--force"]).exit_code == 0
    assert '"' in (tmp_path / "out.json").read_text(encoding="utf-8")


@links
def test_f31_what_a_command_reads_is_not_its_output(tmp_path, monkeypatch):
    click_testing = pytest.importorskip("click.testing")
    from calibrant.cli.group import group

    monkeypatch.chdir(tmp_path)
    text = "p,label\n" + "".join(f"0.{i},{i % 2}\n" for i in range(1, 9))
    (tmp_path / "f.csv").write_text(text, encoding="utf-8")
    (tmp_path / "link").symlink_to("f.csv")
    for output in ("f.csv", "link"):
        result = click_testing.CliRunner().invoke(
            group, ["fit", "f.csv", "--method", "temperature", "-o", output, "--force"]
        )
        assert "is a file that is read, and would be lost; pass another -o" in result.stderr
    assert (tmp_path / "f.csv").read_text(encoding="utf-8") == text


def test_f31_no_input_of_any_command_is_its_output(run, tmp_path):
    """A table, each file of a folder, a reference, a saved file, labels of npy: however written."""
    np, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    P, x = rng.random(80), rng.normal(size=80)
    table = pandas.DataFrame({"p": P, "label": (rng.random(80) < P).astype(int), "x": x})
    (tmp_path / "days").mkdir()
    for name in ("a.csv", "b.csv", "days/d1.csv", "days/d2.csv"):
        table.to_csv(name, index=False)
    np.save("p.npy", P)
    np.save("y.npy", table["label"].to_numpy())
    run("fit", "a.csv", "--method", "temperature", "-o", "m")
    near = ("fit", "a.csv", "--method", "geometric", "--features", "x", "--reference")
    before = {one: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()}
    for *words, output in [
        (*near, "b.csv", "b.csv"),
        (*near, tmp_path / "b.csv", "days/../b.csv"),
        (*near, "days", (tmp_path / "days/d1.csv").as_uri()),
        ("fit", "p.npy", "--label", "y.npy", "y.npy"),
        ("decide", "p.npy", "--label", "y.npy", "y.npy"),
        ("apply", "m", "days", "days/d2.csv"),
        ("apply", "m", "a.csv", "m"),
        ("evaluate", "days", "--by", "x", "--resume", "s.json", tmp_path / "s.json"),
    ]:
        result = run(*words, "-o", output, "--force", code=1)
        assert "is read, and would be lost; pass another -o" in result.stderr, (words, output)
    after = {one: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()}
    assert after == before
