"""H25: in a folder or pattern, files without labels are left out with a notice that points to
``estimate``; other odd files end in one sentence; files are ordered by their numbers.
"""

import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("click")
pytest.importorskip("rich")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

COMMANDS = {
    "evaluate": ("logs", "--json"),
    "slices": ("logs", "--by", "site", "--json"),
    "fit": ("logs", "-o", "m", "--method", "platt"),
    "decide": ("logs", "--max-error", "0.4", "-o", "rule"),
    "audit": ("logs", "--groups", "site", "--json"),
    "monitor": ("logs", "--by-file", "--lines"),
    "report": ("logs", "-o", "r.json", "--json"),
    "compare": ("logs", "--risk", "p", "--risk", "q", "--json"),
}


#: Every command on CSV, and the three ways of reading on the other kinds.
EVERY = pytest.mark.parametrize(
    ("command", "kind"),
    [
        (command, kind)
        for command in COMMANDS
        for kind in ("csv", "jsonl", "parquet")
        if kind == "csv" or command in ("evaluate", "slices", "monitor")
    ],
)


def drawn(n=80, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, n)
    y = (rng.random(n) < p).astype(int)
    site = rng.choice(["a", "b"], n)
    return pd.DataFrame({"p": p, "q": p**2, "label": y, "site": site})


def written(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)


#: What the last file of the folder is -> its rows.
ODD = {
    "no label": lambda frame: frame.drop(columns="label"),
    "empty labels": lambda frame: frame.assign(label=None),
    "header only": lambda frame: frame[:0],
    "other columns": lambda frame: frame[["site"]].assign(age=1.0, label=1),
}


def invoked(run, command, *more, code=0):
    name = "evaluate" if command == "slices" else command
    return run(name, *COMMANDS[command], *more, code=code)


def folder(tmp_path, kind, *frames):
    (tmp_path / "logs").mkdir(exist_ok=True)
    for i, frame in enumerate(frames):
        written(frame, tmp_path / "logs" / f"day{i + 1}.{kind}")


@pytest.mark.parametrize("odd", ["no label", "empty labels"])
@EVERY
def test_h25_files_without_labels_are_left_out(command, odd, kind, run, tmp_path):
    one, two = drawn(), drawn(seed=1)
    folder(tmp_path, kind, one, two)
    whole = invoked(run, command)
    folder(tmp_path, kind, one, two, ODD[odd](drawn(seed=2)))
    more = ("--force",) if command in ("fit", "decide", "report") else ()
    found = invoked(run, command, *more)
    assert found.stdout == whole.stdout
    assert f"day3.{kind} has no labels yet and is left out; `calibrant estimate" in found.stderr


@pytest.mark.parametrize("odd", ["header only", "other columns"])
@EVERY
def test_h25_other_odd_files_end_in_a_sentence_or_change_nothing(command, odd, kind, run, tmp_path):
    one, two = drawn(), drawn(seed=1)
    folder(tmp_path, kind, one, two)
    whole = invoked(run, command).stdout
    folder(tmp_path, kind, one, two, ODD[odd](drawn(seed=2)))
    from click.testing import CliRunner

    from calibrant.cli.group import group

    more = ("--force",) if command in ("fit", "decide", "report") else ()
    name = "evaluate" if command == "slices" else command
    found = CliRunner().invoke(group, [name, *COMMANDS[command], *more])
    assert "bug in calibrant" not in found.output
    if found.exit_code == 0:
        assert odd == "header only"
        counted = found.stdout.replace("3 files", "2 files").replace('"files": 3', '"files": 2')
        assert counted == whole
    else:
        assert found.exit_code in (1, 2)
        assert len(found.stderr.strip().splitlines()) <= 4


def test_h25_large_tables_leave_them_out_too(run, tmp_path, monkeypatch):
    for kind in ("csv", "parquet"):
        folder(tmp_path, kind, drawn(), drawn(seed=1), drawn(seed=2).drop(columns="label"))
        monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "50")
        found = run("evaluate", f"logs/*.{kind}", "--json")
        assert json.loads(found.stdout)["data"]["n"] == 160
        assert "has no labels yet" in found.stderr


def test_h25_estimate_takes_the_file_that_was_left_out(run, tmp_path):
    folder(tmp_path, "csv", drawn(), drawn(seed=1), drawn(seed=2).drop(columns="label"))
    run("estimate", "logs/day3.csv", "--reference", "logs")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_h25_estimate_takes_texts_as_python_does(kind, run, tmp_path):
    # Every kind of file holds six decimals exactly; JSON would round the rest.
    old, new = drawn(300).round(6), drawn(200, 5).round(6).assign(site="a")
    old = old.assign(age=np.arange(300) % 7)
    new = new.assign(age=np.arange(200) % 5)
    written(old, tmp_path / f"old.{kind}")
    written(new, tmp_path / f"new.{kind}")
    asked = ("--features", "site,age", "--json")
    told = run("estimate", f"new.{kind}", "--reference", f"old.{kind}", *asked).stdout
    X = (old[["site", "age"]], new[["site", "age"]])
    found = cb.estimate_performance(
        new["p"].to_numpy(),
        metric="accuracy",
        reference=(old["p"].to_numpy(), old["label"].to_numpy()),
        X=X,
    )
    assert json.loads(told)[0]["value"] == pytest.approx(found.value)


@pytest.mark.parametrize(
    "names",
    [
        ("day1", "day2", "day10"),
        ("2026-03-09", "2026-03-10", "2026-11-01"),
        ("v1.2", "v1.10", "v2.0"),
    ],
)
def test_h25_files_are_ordered_by_their_numbers(names, run, tmp_path):
    (tmp_path / "logs").mkdir()
    for i, name in enumerate(names):
        written(drawn(40 + i, i), tmp_path / "logs" / f"{name}.csv")
    run("apply", *fitted(run), "logs", "-o", "out.csv")
    expected = pd.concat([drawn(40 + i, i) for i in range(3)])
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out.csv")["q"], expected["q"])
    told = json.loads(run("monitor", "logs", "--by-file", "--risk", "p", "--json").stdout)
    assert told["overall"]["curve"]["time"] == [f"{name}.csv" for name in names]


def fitted(run):
    run("fit", "logs", "--risk", "p", "--method", "platt", "-o", "m")
    return ("m", "--risk", "p")
