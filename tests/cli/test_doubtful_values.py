"""Values that two readers would take for different numbers are refused, however they are read."""

import json

import pytest

pytest.importorskip("click")
pytest.importorskip("pyarrow")


@pytest.fixture
def lines(tmp_path, monkeypatch):
    def written(**changed):
        rows = [{"risk": 0.3, "label": i % 2, "site": "s", "w": 2} for i in range(40)]
        rows[3].update(changed)
        (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))

    monkeypatch.chdir(tmp_path)
    return written


@pytest.mark.parametrize("by", [(), ("--by", "site")], ids=["whole", "slices"])
@pytest.mark.parametrize(
    "changed", [{"risk": "0_1"}, {"risk": True}, {"risk": [0.4]}, {"w": "1_0"}, {"w": "x"}], ids=str
)
def test_json_lines(run, lines, changed, by):
    lines(**changed)
    weight = ("--weight", "w") if "w" in changed else ()
    output = run("evaluate", "rows.jsonl", *by, *weight, code=1).output
    assert next(iter(changed)) in output
    assert "bug in calibrant" not in output


def test_numbers_as_text_count_in_slices_too(run, lines):
    lines(risk="0.4")
    whole = json.loads(run("evaluate", "rows.jsonl", "--json").output)
    slices = json.loads(run("evaluate", "rows.jsonl", "--by", "site", "--json").output)
    loss = next(row for row in whole["metrics"] if row["key"] == "log_loss")["before"]["value"]
    assert slices["overall"]["log_loss"] == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("by", [(), ("--by", "label")], ids=["whole", "slices"])
def test_points_beside_decimal_commas(run, tmp_path, monkeypatch, by):
    monkeypatch.chdir(tmp_path)
    lines = [f"0,{4 + i % 3};{i % 2};{'500' if i % 2 else '1.500'}" for i in range(40)]
    (tmp_path / "rows.csv").write_text("risk;label;w\n" + "\n".join(lines))
    output = run("evaluate", "rows.csv", *by, "--weight", "w", code=1).output
    assert "points in 'w'" in output
    run("evaluate", "rows.csv", *by)


def test_lone_carriage_returns_end_lines(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, end in (("unix.csv", "\n"), ("mac.csv", "\r")):
        text = end.join(["risk,label", *(f"0.{4 + i % 3},{i % 2}" for i in range(40)), ""])
        (tmp_path / name).write_bytes(text.encode())
    ours, theirs = (
        json.loads(run("evaluate", name, "--json").output) for name in ("mac.csv", "unix.csv")
    )
    assert ours["metrics"] == theirs["metrics"]


def test_a_zero_byte_is_named_by_its_line(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_bytes(b"risk,label\n0.4,1\n0.5,\x000\n" + b"0.3,1\n" * 30)
    assert "line 3 holds a zero byte" in run("evaluate", "rows.csv", code=1).output


@pytest.mark.parametrize(
    "address", ["file://bob:secret@h/x.csv?sig=KEY", "https:/bob:secret@h/x.csv?sig=KEY"]
)
def test_wrong_addresses_show_no_secret(run, address):
    output = run("evaluate", address, code=1).output
    assert "secret" not in output
    assert "KEY" not in output
