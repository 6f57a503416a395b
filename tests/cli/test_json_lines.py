"""JSON lines, gzip and standard input are read as CSV is, by every command."""

import gzip
import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner

from calibrant.cli.group import group


@pytest.fixture
def log():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 60)
    days = [f"2026-03-{1 + i // 10:02d}" for i in range(60)]
    return [
        {
            "id": i,
            "p": round(p[i], 6),
            "y": int(rng.random() < p[i]),
            "model": {"name": "ab"[i % 2]},
            "when": days[i],
            "tags": ["x"],
        }
        for i in range(60)
    ]


@pytest.fixture
def files(log, tmp_path):
    """The log as JSON lines and as CSV."""
    (tmp_path / "f.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in log), encoding="utf-8"
    )
    rows = [f"{r['id']},{r['p']},{r['y']},{r['model']['name']},{r['when']}" for r in log]
    (tmp_path / "f.csv").write_text(
        "id,p,y,model.name,when\n" + "\n".join(rows) + "\n", encoding="utf-8"
    )
    for name in ("f.jsonl", "f.csv"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    return tmp_path


def metrics_of(result):
    return json.loads(result.stdout)["metrics"]


def piped(path, *arguments):
    result = CliRunner().invoke(group, arguments, input=path.read_bytes())
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("name", ["f.jsonl", "f.jsonl.gz", "f.csv.gz"])
def test_each_kind_has_the_numbers_of_the_csv(name, run, files):
    want = metrics_of(run("evaluate", "f.csv", "--json"))
    assert metrics_of(run("evaluate", name, "--json")) == want
    assert metrics_of(piped(files / name, "evaluate", "-", "--json")) == want


@pytest.mark.parametrize("name", ["f.jsonl", "f.jsonl.gz"])
@pytest.mark.parametrize("by", ["model.name", "model.name,id"])
def test_slices_are_those_of_the_csv(name, by, run, files):
    want = json.loads(run("evaluate", "f.csv", "--by", by, "--json").output)
    assert json.loads(run("evaluate", name, "--by", by, "--json").output) == want
    assert json.loads(piped(files / name, "evaluate", "-", "--by", by, "--json").output) == want


def test_monitor_reads_json_lines_and_standard_input(run, files):
    arguments = "--time", "when", "--by", "model.name", "--json"
    want = run("monitor", "f.csv", *arguments).output
    assert run("monitor", "f.jsonl", *arguments).output == want
    assert piped(files / "f.jsonl", "monitor", "-", *arguments).output == want


def test_fit_and_report_read_standard_input(run, files):
    run("fit", "f.csv", "--method", "platt", "-o", "a")
    piped(files / "f.jsonl", "fit", "-", "--method", "platt", "-o", "b")
    P = [[0.7, 0.3], [0.2, 0.8]]
    np.testing.assert_array_equal(cb.load("a").predict_proba(P), cb.load("b").predict_proba(P))
    piped(files / "f.jsonl", "report", "-", "-o", "r.json")
    assert json.loads((files / "r.json").read_text(encoding="utf-8"))["title"] == "standard input"


def test_apply_changes_the_prediction_and_nothing_else(run, files, log):
    run("fit", "f.jsonl", "--method", "platt", "-o", "m")
    run("apply", "m", "f.jsonl", "-o", "out.jsonl")
    out = [
        json.loads(line) for line in (files / "out.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    p, fitted = [row["p"] for row in log], cb.load("m")
    Q, sure = fitted.predict_proba(p)[:, 1].tolist(), fitted.predict_confidence(p).tolist()
    assert out == [{**row, "p": q, "confidence": c} for row, q, c in zip(log, Q, sure, strict=True)]
    piped(files / "f.jsonl.gz", "apply", "m", "-", "-o", "piped.jsonl")
    assert (files / "piped.jsonl").read_bytes() == (files / "out.jsonl").read_bytes()


def test_a_nested_prediction_is_replaced_where_it_is(run, tmp_path):
    (tmp_path / "f.jsonl").write_text(
        '{"model": {"p": 0.25, "v": "ü"}, "y": 0}\n{"model": {"v": "2", "p": 0.5}, "y": 1}\n',
        encoding="utf-8",
    )
    cb.calibrators.Identity().fit([0.5, 0.5], [0, 1]).save(tmp_path / "m")
    run("apply", "m", "f.jsonl", "--probabilities", "model.p", "-o", "o.jsonl")
    first = (tmp_path / "o.jsonl").read_text("utf-8").splitlines()[0]
    assert first == '{"model": {"p": 0.25, "v": "ü"}, "y": 0, "confidence": 0.75}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it holds none"),
        ('{"p": 0.5, "y": 1}\n[1]\n', "line 2"),
        ('{"p": 0.5\n', "line 1"),
        ('{"a": 1, "a": 2}', "'a' twice"),
        ('{"a": {"b": 1}, "a.b": 2}', "two values named 'a.b'"),
        ('{"p": [0.5], "y": 1}', "one value per line"),
        ('{"p": "x", "y": 1}', "row 0 is 'x'"),
        ('{"p": 0.5, "y": null}\n{"p": 0.4, "y": 1}', "row 0"),
        ('{"p": %s, "y": 1}' % ("9" * 400), "digits"),
        ('{"p": ' + '{"a": ' * 100_000 + "1" + "}" * 100_001, "line 1"),
        ('{"p": ' + "[" * 600 + "]" * 600 + "}", "601 deep"),
        ('{"p": 0.5, "y": 1}\n{"y": 1}', "row 1 is"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(text, words, run, tmp_path):
    (tmp_path / "f.jsonl").write_text(text, encoding="utf-8")
    result = run("evaluate", "f.jsonl", code=1)
    assert words in result.stderr
    assert "bug" not in result.stderr


def test_damaged_gzip_and_other_kinds(run, tmp_path):
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(b"p,y\n0.5,1\n")[:-6])
    assert "not a gzip file" in run("evaluate", "f.csv.gz", code=1).stderr
    lines = {
        "csv": "p,label,g\n" + "".join(f"0.{k},{k % 2},a\n" for k in range(1000, 4000)),
        "jsonl": "".join(f'{{"p": 0.{k}, "label": {k % 2}, "g": 1}}\n' for k in range(1000, 4000)),
    }
    for kind, text in lines.items():
        (tmp_path / kind).mkdir()
        packed = gzip.compress(text.encode())
        (tmp_path / f"{kind}/a.{kind}.gz").write_bytes(packed)
        middle = packed[: len(packed) // 2] + bytes(20) + packed[len(packed) // 2 + 20 :]
        for damaged in (packed[: len(packed) // 2], packed[:-6], middle):
            (tmp_path / f"{kind}/b.{kind}.gz").write_bytes(damaged)
            for words in (
                ("evaluate", kind, "--by", "g"),
                ("monitor", kind, "--by-file"),
                ("evaluate", kind),
                ("evaluate", f"{kind}/b.{kind}.gz", "--by", "g"),
            ):
                error = run(*words, code=1).stderr
                assert f"b.{kind}.gz is damaged or not a gzip file" in error, (words, error)
                assert "compress it again" in error
    (tmp_path / "f.txt.gz").write_bytes(b"")
    assert "must end in" in run("evaluate", "f.txt.gz", code=1).stderr
