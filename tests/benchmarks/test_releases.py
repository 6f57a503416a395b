"""The table of speeds by release: which ratio counts as slower, and than which release."""

import json

import pytest
from benchmarks.speed import releases


def test_a_kernel_is_slower_beyond_a_fifth_more_than_before():
    before = {"a": 1.0, "b": 1.0, "gone": 1.0}
    assert releases.slower({"a": 1.2, "b": 1.21, "new": 9.0}, before) == ["b"]


def test_releases_are_compared_on_one_machine_where_there_is_one():
    stored = [
        {"release": name, "machine": machine, "ratios": {}}
        for name, machine in (("1", "here"), ("2", "here"), ("3", "there"))
    ]
    assert releases.last_of(stored, "here")["release"] == "2"
    assert releases.last_of(stored, "elsewhere")["release"] == "3"
    assert releases.last_of([], "here") is None


@pytest.mark.parametrize(("value", "code"), [(1.1, 0), (1.3, 1)])
def test_the_command_exits_with_1_and_stores_what_it_is_told(
    monkeypatch, tmp_path, capsys, value, code
):
    file = tmp_path / "releases.json"
    file.write_text(json.dumps([{"release": "1", "machine": "here", "ratios": {"row": 1.0}}]))
    monkeypatch.setattr(releases, "STORED", file)
    monkeypatch.setattr(releases, "machine", lambda: "here")
    monkeypatch.setattr(releases, "kernels", lambda: {"row": (lambda: value, lambda: 1.0, 1)})
    monkeypatch.setattr("sys.argv", ["releases.py", "--store", "2"])
    assert releases.main() == code
    assert ("SLOWER" in capsys.readouterr().out) == bool(code)
    assert [one["release"] for one in json.loads(file.read_text())] == ["1", "2"]
