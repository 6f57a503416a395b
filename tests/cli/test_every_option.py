"""Every option of every command changes what the command prints or writes, or is refused; the
exceptions have a reason. Missing values in any column end in numbers or in one sentence.
"""

import io
import zipfile

import click
import numpy as np
import pytest
from click.testing import CliRunner

from calibrant.cli.group import group

pd = pytest.importorskip("pandas")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

COMMANDS = {
    "evaluate": ("f.csv", "--json"),
    "fit": ("f.csv", "-o", "m2", "--method", "platt"),
    "apply": ("m", "new.csv", "-o", "a.csv"),
    "decide": ("f.csv", "--max-error", ".4", "-o", "rule2"),
    "check": ("rule.json", "t.csv"),
    "export": ("m", "-o", "m.c"),
    "audit": ("f.csv", "--groups", "g", "--json"),
    "compare": ("f.csv", "t2.csv", "--json"),
    "estimate": ("new.csv", "--reference", "f.csv", "--json"),
    "monitor": ("f.csv", "--time", "when", "--json"),
    "report": ("f.csv", "-o", "r.json"),
}
#: A value of each option that differs from what the commands above do.
VALUES = {
    "--label": "outcome",
    "--weight": "w",
    "--positive": "0",
    "--risk": "other",
    "--confidence": "other",
    "--predicted": "answer",
    "--inputs": "logit",
    "--probabilities": "pa,pb",
    "--logits": "la,lb",
    "--classes": "1,0",
    "--task": "regression",
    "--mean": "mu",
    "--std": "sd",
    "--quantiles": "u_*",
    "--cluster": "c",
    "--weight-kind": "sampling",
    "--method": "isotonic",
    "--calibrator": "m",
    "--target": "answer",
    "--test": "t.csv",
    "--test-label": "outcome",
    "--test-weight": "w",
    "--fail-if": "event_ece>0.0001",
    "--reference": "t2.csv",
    "--features": "age",
    "--by": "g",
    "--time": "when",
    "--every": "week",
    "--engine": "pyarrow",
    "--resume": "sums",
    "--output": "out.json",
    "--bins": "3",
    "--groups": "g,answer",
    "--max-error": "0.5",
    "--certainty": "0.5",
    "--model-version": "v2",
    "--cost-false-positive": "1",
    "--cost-false-negative": "20",
    "--title": "My title",
    "--metric": "brier_score",
    "--baseline": "t2.csv",
    "--correction": "none",
    "--level": "0.5",
    "--depth": "1",
    "--null": "weak",
    "--found": "tree",
    "--tolerance": "0.3",
    "--alpha": "0.5",
    "--when-uncertain": "accept-none",
    "--unit": "item",
    "--over": "items",
    "--recall": "0.9",
    "--suffix": "_x",
    "--interval": "0.5",
    "--name": "other_name",
    "--table": "log",
    "--columns": "a,b",
    "--keep": "id",
    "--dialect": "postgres",
    "--swap": "20",
    "--estimand": "expected",
}
#: Options without a visible effect here, with the reason.
SAME = {
    "--skip-missing": "no row lacks a value",
    "--force": "there is no file to replace",
    "--all": "no list is cut",
    "--json": "it is among the arguments, or the lines are JSON",
    "--engine": "every engine gives the same numbers",
    ("audit", "--groups"): "a group with each value of the other column",
    ("audit", "--depth"): "one column has no combinations",
    ("monitor", "--time"): "it is among the arguments",
    ("check", "--swap"): "the promise holds with either evidence",
    ("check", "--weight"): "the promise holds with either weight",
    ("check", "--risk"): "the promise holds by either column",
    ("check", "--confidence"): "the promise holds by either column",
    ("fit", "--cluster"): "a sigmoid of all rows has no folds, which clusters keep whole",
    ("decide", "--when-uncertain"): "a threshold is certified",
    ("export", "--risk"): "the function takes one number, whatever its name",
    ("apply", "--confidence"): "a column of probabilities is replaced under its name",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("options")
    rng = np.random.default_rng(0)
    n = 240
    p = rng.uniform(0.03, 0.97, n)
    y = (rng.random(n) < p**2).astype(int)
    days = pd.to_datetime("2026-03-01") + pd.to_timedelta(np.arange(n) // 24, "D")
    table = pd.DataFrame(
        {"risk": p, "label": y, "other": p**1.5, "outcome": 1 - y, "w": rng.integers(1, 4, n)}
    )
    table = table.assign(g=rng.choice(["a", "b"], n), c=np.arange(n) // 2, when=days)
    table = table.assign(age=rng.normal(size=n), answer=rng.integers(0, 2, n))
    table = table.assign(mu=rng.normal(size=n), sd=1.0, la=np.log(1 - p), lb=np.log(p), pa=1 - p)
    table = table.assign(pb=p, **{"u_0.1": -1.0, "u_0.5": 0.0, "u_0.9": 1.0})
    table.to_csv(place / "f.csv", index=False)
    table.assign(risk=p**1.2).to_csv(place / "t2.csv", index=False)
    table.sample(frac=1.0, random_state=1).to_csv(place / "t.csv", index=False)
    table.drop(columns=["label", "outcome"])[:120].to_csv(place / "new.csv", index=False)
    return place


@pytest.fixture
def invoke(folder, monkeypatch):
    monkeypatch.chdir(folder)
    if not (folder / "m").exists():
        for arguments in (
            ("fit", "f.csv", "--method", "platt", "-o", "m"),
            ("decide", "f.csv", "--max-error", ".4", "-o", "rule.json", "--model-version", "v1"),
        ):
            found = CliRunner().invoke(group, arguments)
            assert found.exit_code == 0, found.output
    known = {file.name for file in folder.iterdir()}

    def invoked(*arguments):
        found = CliRunner().invoke(group, arguments)
        written = [file for file in folder.iterdir() if file.name not in known]
        files = {file.name: content(file.read_bytes()) for file in written}
        for file in written:
            file.unlink()
        assert "bug in calibrant" not in found.stderr, (arguments, found.stderr)
        return (found.exit_code, found.stdout, files), found

    return invoked


def content(data):
    if not data.startswith(b"PK"):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(one.filename, one.CRC) for one in archive.infolist()]


def options(command):
    found = group.get_command(click.Context(group), command)
    for param in found.params:
        name = max(param.opts, key=len)
        if isinstance(param, click.Option):
            value = "event" if (command, name) == ("decide", "--target") else VALUES.get(name)
            yield (name,) if param.is_flag else (name, value)


@pytest.mark.parametrize(
    "command",
    [*list(COMMANDS)[:-1], pytest.param("report", marks=pytest.mark.slow)],
)
def test_every_option_has_an_effect_or_is_refused(command, invoke):
    base, found = invoke(command, *COMMANDS[command])
    assert found.exit_code == 0, found.output
    ignored = []
    for option in options(command):
        changed, found = invoke(command, *COMMANDS[command], *option)
        assert found.exit_code in (0, 1, 2, 3)
        if changed == base and not {option[0], (command, option[0])} & set(SAME):
            ignored.append(option[0])
    assert ignored == []


@pytest.mark.parametrize(
    "column", ["risk", "label", "w", "g", "c", "when", "age", "answer", "other"]
)
def test_missing_values_in_any_column_end_in_numbers_or_a_sentence(column, invoke, folder):
    table = pd.read_csv(folder / "f.csv").astype({column: object})
    table.loc[5, column] = None
    table.to_csv(folder / "missing.csv", index=False)
    uses = {"w": "--weight", "c": "--cluster", "answer": "--predicted"}
    more = (uses[column], column) if column in uses else ()
    more += ("--confidence", "other") if column == "answer" else ()
    calls = [
        ("evaluate", "missing.csv", *more),
        ("evaluate", "missing.csv", "--by", "g"),
        ("fit", "missing.csv", "-o", "m3", "--method", "platt", *more),
        ("decide", "missing.csv", "--max-error", ".4", "-o", "rule3", *more),
        ("audit", "missing.csv", "--groups", "g,age"),
        ("compare", "missing.csv", "--risk", "risk", "--risk", "other"),
        ("estimate", "new.csv", "--reference", "missing.csv", "--features", "age"),
        ("monitor", "missing.csv", "--time", "when"),
    ]
    for arguments in calls:
        _, found = invoke(*arguments)
        if found.exit_code:
            assert found.exit_code in (1, 2), arguments
            assert "Traceback" not in found.output
            said = [line for line in found.stderr.splitlines() if line.startswith("Error")]
            assert len(said) == 1, (arguments, found.stderr)
