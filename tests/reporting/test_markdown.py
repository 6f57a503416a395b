import json

import numpy as np
import pytest

import calibrant as cb


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = np.where(rng.random(300) < p**2, "a|b <script>", "[c](d)")
    options = {
        "classes": ["[c](d)", "a|b <script>"],
        "groups": np.arange(300) % 2,
        "n_resamples": 100,
    }
    return cb.report(
        y,
        p,
        calibrator={
            "one": cb.TemperatureScaling,
            "two": cb.ConfidenceCalibrator(map=cb.calibrators.Beta()),
        },
        **options,
    )


def test_tables_are_whole_and_names_start_no_markup(found):
    text = found.to_markdown()
    assert "a\\|b \\<script\\>" in text
    assert "\\[c\\](d)" in text
    assert "<script>" not in text.replace("\\<script\\>", "")
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 8
    for lines in tables:
        assert len({line.replace("\\|", "").count("|") for line in lines}) == 1
    ece = next(row for row in found.to_dict()["metrics"] if row["key"] == "ece")
    assert f"{ece['before']['value']:.4f}" in text
    assert "calibrator = cb." in text


def test_its_order_is_the_page_s(found):
    text, verdict = found.to_markdown(), found.to_dict()["verdict"]
    heads = [
        "# Calibration report",
        f"**{verdict['state'].capitalize()}.**",
        f"→ {verdict['action']}",
        "## Can I rely on this?",
        "## What should I do?",
        "```python",
        "## For whom is it wrong?",
        "## Numbers",
    ]
    places = [text.index(head) for head in heads]
    assert places == sorted(places)
    applied = verdict["state"] in ("calibrate", "calibrate by group")
    assert ("The code that would apply" in text) == (not applied)


def test_saved_by_suffix(found, tmp_path):
    assert json.loads(found.save(tmp_path / "r.json").read_text("utf-8")) == found.to_dict()
    assert found.save(tmp_path / "r.md").read_text("utf-8") == found.to_markdown()


def test_the_lower_log_loss_leads(found):
    rows = found.to_dict()["alternatives"]
    losses = [row["metrics"]["log_loss"]["value"] for row in rows]
    assert {row["name"] for row in rows} == {"one", "two"}
    assert losses == sorted(losses)
    assert rows[0]["chosen"]
    assert found.to_dict()["calibrator"]["name"] == rows[0]["name"]
    table = {row["key"]: row["after"]["value"] for row in found.to_dict()["metrics"]}
    assert table["log_loss"] == losses[0]


@pytest.mark.parametrize("std", [None, 1.0])
def test_change_over_time_is_told(std):
    """Right until the sixth day, then wrong: the alarm and every day's error are in the text."""
    rng = np.random.default_rng(1)
    day, n = np.arange(2000) // 200, 2000
    times, options = (
        np.datetime64("2026-01-05") + day,
        {"groups": np.array(["a|b", "c"])[np.arange(n) % 2], "n_resamples": 0},
    )
    if std is None:
        p = rng.uniform(0.6, 0.95, n)
        options["calibrator"] = cb.calibrators.Identity()
        found = cb.report(
            (rng.random(n) < np.where(day < 5, p, p - 0.4)).astype(int), p, times=times, **options
        )
        drift = found.to_dict()["drift"]
    else:
        found = cb.report(
            rng.normal(0.0, np.where(day < 5, 1.0, 3.0)),
            np.zeros(n),
            np.ones(n),
            times=times,
            **options,
        )
        drift = found.to_dict()["outputs"][0]["drift"]
    text = found.to_markdown()
    section = text.split("### Over time\n\n")[1]
    assert section.startswith(
        f"- All rows: {drift['advice']['reason'].replace('~', chr(92) + '~')}."
    )
    assert "- a\\|b: " in section
    rows = [line for line in section.splitlines() if line.startswith("| 2026-01-")]
    assert len(rows) == 10
    assert f"{drift['before']['error'][-1]:.4f}" in rows[-1]
    assert (
        "over time"
        not in cb.report(
            [0, 1, 1], [0.2, 0.7, 0.9], calibrator=cb.calibrators.Identity(), n_resamples=0
        ).to_markdown()
    )
