"""``calibrant methods``: every method once in its question, short lists first, nothing cut."""

import json
import re

import pytest

from calibrant.cli.list_methods import QUESTIONS
from calibrant.cli.methods import all_named
from calibrant.core.calibrator import DomainCalibrator
from calibrant.core.cards import PAPER_NAMES, PAPERS
from calibrant.core.estimators import offered
from calibrant.core.map import Map


@pytest.fixture
def listed(run, monkeypatch):
    """The output of ``calibrant methods`` on a terminal of 80 columns, as sections of lines."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("calibrant.cli.tables.width", lambda: 80)

    # Other tests register extensions in this process.
    monkeypatch.setattr("calibrant.cli.methods.registered", lambda base: [])

    def sections(*options):
        text = run("methods", *options).output.rstrip()
        return [section.splitlines() for section in text.split("\n\n")]

    return sections


def names(section):
    """The first words of the lines of methods."""
    lines = [line for line in section if line.startswith("    ") and line[4] != " "]
    return [line.split()[0] for line in lines if line[4].islower()]


@pytest.mark.parametrize("cls", [*offered(DomainCalibrator), *offered(Map)])
def test_each_offered_class_declares_its_line(cls):
    assert 10 <= len(cls.use) <= 50
    assert cls.use[0].isupper()
    assert cls.use[-1].isalnum() or cls.use.endswith(")")
    assert cls.family != "other"


def test_all_has_every_method_on_a_line_of_its_own_that_fits(listed):
    sections = listed("--all")
    lines = [line for section in sections for line in section]
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("     ")] == []
    found = [name for section in sections for name in names(section)]
    own = {name for made in all_named().values() for name in made if ":" not in name}
    assert own <= set(found)
    # The automatic choice answers two questions; no other method is repeated.
    assert sorted(set(found)) == sorted(found[found.index("auto") + 1 :])


def test_a_family_stands_in_one_place(listed):
    for section in listed("--all"):
        families = [line for line in section[1:] if not line.startswith("    ")]
        assert len(families) == len(set(families)) > 1


def test_the_short_list_has_the_default_first_and_at_most_five(listed):
    sections = listed()
    assert [section[0] for section in sections[: len(QUESTIONS)]] == [
        title for title, _ in QUESTIONS.values()
    ]
    for section, question in zip(sections, QUESTIONS, strict=False):
        kept = [name for name in names(section) if ":" not in name]
        assert 3 <= len(kept) <= 5
        if question != "answer":
            assert section[1].split()[1] == "Default."
            assert section[1].split()[0] in ("auto", "auto-regression")
            assert "more: --all" in section[-1]
    assert "--target answer" in sections[2][-1]


def test_what_needs_groups_or_a_reference_says_so(listed):
    lines = {line.split()[0]: line for section in listed("--all") for line in section[1:]}
    for name in ("group", "multicalibration", "forecast-group", "forecast-multicalibration"):
        assert lines[name].endswith("[--groups]")
    for name in ("geometric", "clustered"):
        assert lines[name].endswith(" [--reference]")
    assert "[" not in lines["temperature"]


def test_papers_have_the_five_first_then_all(listed):
    short, whole = listed("--paper"), listed("--paper", "--all")
    five = {
        title: names(section) for title, section in zip(PAPERS, short[: len(PAPERS)], strict=True)
    }
    for section, title in zip(whole, PAPERS, strict=False):
        assert title in " ".join(" ".join(section).lower().split())
    geometric, exploratory, gaussian, regression, hoki = five.values()
    assert geometric == ["geometric"]
    assert {"category-temperature", "award-temperature", "kernel-density"} <= set(exploratory)
    assert gaussian == ["gaussian-process"]
    assert {"std", "interval", "isotonic-variance", "variance-binning"} == set(regression)
    assert hoki == ["hoki"]
    assert short[-1] == [f"{len(whole) - len(PAPERS)} other papers: --all"]


#: Paper -> public calls that are of it, and one that it does not have.
CALLS = {
    "geometric": (
        ["calibrators.FastSeparation", "calibrators.MaxPool", "displays.SignalAccuracyDisplay"],
        "calibrators.StackedConfidence",
    ),
    "exploratory": (
        ["calibrators.KernelDensity", "metrics.joint_distribution"],
        "calibrators.StackedConfidence",
    ),
    "gp": (
        ["calibrators.GaussianProcessCalibration", "metrics.underconfidence"],
        "calibrators.AutoCalibrator",
    ),
    "regression": (
        ["regression.StdScaling", "metrics.rmse_rmv_curve", "displays.RmseRmvDisplay"],
        "regression.GaussianProcessScale",
    ),
    "hoki": (
        ["calibrators.LabelStability", "metrics.calibration_error_bound"],
        "calibrators.GeometricCalibrator",
    ),
}


@pytest.mark.parametrize("paper", CALLS)
def test_all_that_is_public_of_one_paper_is_listed_with_its_place(paper, run, listed):
    head, *_ = text = listed("--paper", paper)
    title = list(PAPERS)[PAPER_NAMES.index(paper)]
    assert title in head[0].lower()
    found = json.loads(run("methods", "--paper", paper, "--json").stdout)
    rows = {row["name"]: row for of in found.values() for row in of}
    wanted, foreign = CALLS[paper]
    assert set(wanted) <= set(rows)
    assert foreign not in rows
    for name, row in rows.items():
        assert re.match(
            r"(?:section|equation|figure|definition|theorem|algorithm)s? ", row["facts"]
        )
        assert any(line.startswith(f"    {name} ") for section in text for line in section)
    assert max(len(line) for section in text for line in section) <= 80


def test_a_paper_of_another_name_is_refused_with_the_names(run):
    result = run("methods", "--paper", "platt", code=1)
    assert result.output.count("\n") == 1
    assert (
        "must be one of geometric, exploratory, gp, regression, hoki; got 'platt'" in result.output
    )


def test_metrics_are_listed_only_by_their_option(listed):
    assert not any("log_loss" in line for section in listed("--all") for line in section)
    lines = [line for section in listed("--metrics") for line in section]
    assert any(line.startswith("    log_loss ") and "proper" in line for line in lines)
    assert not any(line.startswith("    temperature ") for line in lines)


def test_json_has_every_fact_of_a_method(run):
    found = json.loads(run("methods", "--json", "--task", "classification").stdout)
    rows = {row["name"]: row for row in found["classification"]["calibrators"]}
    hoki = rows["hoki"]
    assert (hoki["is"], hoki["question"], hoki["default"]) == ("Hoki", "answer", False)
    assert hoki["papers"][0]["title"].lower() in PAPERS
    assert [name for name, row in rows.items() if row["default"]] == ["auto"]
    assert rows["isotonic"]["question"] == "event"
    assert rows["group"]["facts"] == "needs --groups"
