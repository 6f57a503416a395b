"""The README holds: its code and commands run and print what it shows."""

from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
OF_THIS_MODEL = (
    "the README shows numbers of a model by scikit-learn 1.9; earlier ones train another"
)


def test_the_first_block_of_python_runs_and_calibrates(capsys):
    pytest.importorskip("sklearn", minversion="1.9", reason=OF_THIS_MODEL)
    matplotlib = pytest.importorskip("matplotlib", reason="the README's code draws")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    from tools.readme_picture import predictions, readme_code

    names = predictions()
    exec(compile(readme_code(), "README.md", "exec"), names)
    titles = [ax.get_title() for ax in plt.gcf().axes]
    plt.close("all")
    said = capsys.readouterr().out
    assert {"As the model says it", "Calibrated"} < set(titles)
    assert " ".join(said.split()) in " ".join(README.split()), (
        "the README shows what the code prints"
    )
    y, before, after = names["y_test"], names["p_test"], names["q_test"]
    assert metrics.calibration_slope.interval(y, before).high < 0.5
    assert (
        metrics.calibration_slope.interval(y, after).low
        < 1.0
        < metrics.calibration_slope.interval(y, after).high
    )
    assert metrics.log_loss(y, after) < 0.7 * metrics.log_loss(y, before)
    at = metrics.net_benefit.with_options(threshold=0.75)
    assert at(y, before) < 0.0 <= at(y, after)


def test_the_models_block_prints_what_is_shown(capsys):
    pytest.importorskip("sklearn", minversion="1.9", reason=OF_THIS_MODEL)
    pytest.importorskip("matplotlib", reason="the picture's tool draws")
    from tools.readme_picture import predictions, readme_code

    exec(compile(readme_code(1), "README.md", "exec"), predictions() | {"cb": cb})
    assert capsys.readouterr().out in README


def test_the_logs_commands_print_what_is_shown(tmp_path, monkeypatch):
    pytest.importorskip("sklearn", minversion="1.9", reason=OF_THIS_MODEL)
    pd, testing = pytest.importorskip("pandas"), pytest.importorskip("click.testing")
    pytest.importorskip("matplotlib")
    pytest.importorskip("rich")
    from tools.readme_picture import predictions

    from calibrant.cli.group import group

    names = predictions()
    # The rows in the order of the two halves, as the library's own example has them.
    score, outcome = (np.concatenate([names[f"{a}_cal"], names[f"{a}_test"]]) for a in "py")
    pd.DataFrame({"score": score, "outcome": outcome}).to_csv(tmp_path / "log.csv", index=False)
    pd.DataFrame({"score": score[:5]}).to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    shown = [
        line.partition("#")[0].split()[2:]
        for line in README.splitlines()
        if line.startswith("$ calibrant ")
    ]
    assert [command[0] for command in shown] == ["evaluate", "report", "fit", "apply"]
    for command in shown:
        # The scaling is fitted fast: what the automatic choice prints is another test's.
        result = testing.CliRunner().invoke(
            group, [*command, *(["--method", "platt"] if command[0] in ("report", "fit") else [])]
        )
        assert result.exit_code == 0, result.output
        if command[0] == "evaluate":
            table = result.output.partition("\nIntervals of")[0]
            assert len(table.splitlines()) == 12
            assert table in README
    assert (tmp_path / "report.html").exists()
    assert len(pd.read_csv(tmp_path / "calibrated.csv")) == 5
