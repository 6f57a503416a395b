"""The README's first screen holds: its code runs, does what the text says, and its picture is there."""

import re
from pathlib import Path

import pytest

from calibrant import metrics

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_block_of_python_runs_and_calibrates(capsys):
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
    assert " ".join(said.split()) in " ".join(README.split()), "the README shows what the code prints"
    y, before, after = names["y_test"], names["p_test"], names["q_test"]
    assert metrics.calibration_slope.interval(y, before).high < 0.5
    assert metrics.calibration_slope.interval(y, after).low < 1.0 < metrics.calibration_slope.interval(y, after).high
    assert metrics.log_loss(y, after) < 0.7 * metrics.log_loss(y, before)
    at = metrics.net_benefit.with_options(threshold=0.75)
    assert at(y, before) < 0.0 <= at(y, after)


def test_it_fits_one_screen_and_its_links_lead_somewhere():
    assert README.index("![") < README.index("## "), "the picture belongs to the first screen"
    assert len(README[: README.index("![")].splitlines()) <= 40
    for target in re.findall(r"\]\((?!http)([^)]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_two_commands_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"^\$ make (\S+)", README, flags=re.MULTILINE):
        assert re.search(rf"^{command}:", makefile, flags=re.MULTILINE), command
