"""Every number that a page states twice is the same number."""

import re
from html import escape

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.text_table import percent
from calibrant.reporting.judge import CALIBRATED
from calibrant.reporting.miscalibration import points


def classes():
    """Three classes, twice as sure in log odds as they should be."""
    rng = np.random.default_rng(3)
    P = rng.dirichlet(np.ones(3), 600)
    y = (rng.random(600)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    return y, P**2 / (P**2).sum(axis=1, keepdims=True)


def tenths(dtype):
    rng = np.random.default_rng(0)
    p = (rng.integers(1, 10, 600) / 10).astype(dtype)
    return (rng.random(600) < p**1.5).astype(int), np.column_stack([np.ones(600, dtype) - p, p])


def numbers(d=None):
    """Error bars too small by half, of one output or of two."""
    rng = np.random.default_rng(1)
    shape = 600 if d is None else (600, d)
    mean, std = 3.0 * rng.normal(size=shape), np.exp(0.6 * rng.normal(size=shape))
    return mean + 1.5 * std * rng.normal(size=shape), mean, std


DAYS = np.datetime64("2026-01-01") + np.arange(600) // 60
SEVERAL = [cb.TemperatureScaling, cb.ConfidenceCalibrator, cb.calibrators.Identity]
CASES = {
    "classes as they are": (classes, {"calibrator": cb.calibrators.Identity()}),
    "classes out of fold": (
        classes,
        {"calibrator": cb.TemperatureScaling(), "groups": np.arange(600) % 3, "times": DAYS},
    ),
    "float32 at tenths": (
        lambda: tenths(np.float32),
        {"calibrator": cb.TemperatureScaling(), "n_bins": 10, "times": DAYS, "target": "answer"},
    ),
    "float16 at tenths": (
        lambda: tenths(np.float16),
        {"calibrator": cb.calibrators.Identity(), "n_bins": 12, "target": "answer"},
    ),
    "weighted, several": (
        classes,
        {
            "calibrator": SEVERAL,
            "sample_weight": np.arange(600) % 3 + 1,
            "groups": np.arange(600) % 2,
        },
    ),
    "the model's own label": (
        classes,
        {
            "calibrator": cb.ConfidenceCalibrator(map=cb.calibrators.HistogramBinning()),
            "times": DAYS,
        },
    ),
    "held out": (classes, {"calibrator": cb.TemperatureScaling(), "test": classes()}),
}
FORECASTS = {
    "numbers as they are": (numbers, {"calibrator": cb.calibrators.Identity()}),
    "numbers out of fold": (
        numbers,
        {"calibrator": cb.StdScaling(), "groups": np.arange(600) % 3, "times": DAYS},
    ),
    "numbers, several": (
        numbers,
        {
            "calibrator": [cb.StdScaling, cb.regression.IntervalCalibration],
            "sample_weight": np.arange(600) % 3 + 1,
        },
    ),
    "two outputs": (
        lambda: numbers(2),
        {"calibrator": [cb.StdScaling, cb.regression.ForecastIdentity], "times": DAYS},
    ),
}


def same(*values):
    assert values[1:] == pytest.approx(values[:1] * (len(values) - 1), rel=1e-9, abs=1e-12)


def mean(rows, name, n="rows"):
    """The mean over the rows of a table, or the entries of columns, by their weight."""
    columns = (
        rows
        if isinstance(rows, dict)
        else {key: [row[key] for row in rows if row["gap"] is not None] for key in (name, n)}
    )
    weight = np.array(columns[n])
    return float(weight @ np.array(columns[name]) / weight.sum())


def total(rows, n="rows"):
    return float(np.sum(rows[n] if isinstance(rows, dict) else [row[n] for row in rows]))


def error(curve):
    n, gap = np.array(curve["n"]), np.array(curve["confidence"]) - np.array(curve["accuracy"])
    return float(n @ np.abs(gap) / n.sum())


@pytest.fixture(scope="module", params=CASES)
def found(request):
    make, options = CASES[request.param]
    return cb.report(*make(), **options, n_resamples=0)


@pytest.fixture(scope="module", params=FORECASTS)
def of_numbers(request):
    make, options = FORECASTS[request.param]
    return cb.report(*make(), **options, n_resamples=0)


def tables(said):
    """The tables that hold all rows once, of what is shown."""
    return [
        said[name]
        for name in ("regions", "std_regions", "value_regions", "groups")
        if said.get(name)
    ]


def test_errors_of_the_confidence(found):
    said = found.to_dict()
    scores = {row["key"]: row for row in said["metrics"]}
    bins = str(said["bound"]["n_bins"])
    same(scores["ece"]["before"]["value"], said["chance"]["observed"])
    for when in ("before", "after"):
        if said["curves"][when] is not None:
            same(
                scores["ece"][when]["value"],
                said["binned"][when][bins]["ece"],
                error(said["curves"][when]),
            )
            assert said["binned"][when][bins]["curve"] == said["curves"][when]
            assert f"{scores['ece'][when]['value']:.4f}" in found.to_markdown()
            for each in said["binned"][when].values():
                same(each["ece"], error(each["curve"]))
    words = [
        f"{when} {said['binned'][when][bins]['ece']:.4f}"
        for when in ("before", "after")
        if said["binned"][when] is not None
        and (when == "before" or said["verdict"]["state"] in CALIBRATED)
    ]
    start = f"{bins} bins: ECE {', '.join(words) if len(words) > 1 else words[0].split()[1]}"
    assert f'<output id="bins-value" for="bins-slider">{start}</output>' in found.to_html()


def test_rows_accuracy_and_confidence(found):
    said = found.to_dict()
    scores, quality, of = {row["key"]: row for row in said["metrics"]}, said["quality"], said["of"]
    assert said["classes"]["of"] == of
    same(
        scores["accuracy"]["before"]["value"],
        quality["accuracy"],
        mean(said["curves"]["before"], "accuracy", "n"),
    )
    same(
        quality["confidence"],
        mean(said["curves"]["before"], "confidence", "n"),
        mean(said["equal_mass"]["before"], "confidence", "n"),
    )
    accuracy, confidence = (
        scores["accuracy"][of]["value"],
        mean(said["curves"][of], "confidence", "n"),
    )
    for table in tables(said):
        same(said["data"]["n"], total(table))
        same(accuracy, mean(table, "accuracy"))
        same(confidence, mean(table, "confidence"))
    rows, counts = said["classes"]["rows"], np.array(said["confusion"]["counts"])
    same(said["data"]["n"], quality["n"], total(rows, "n"), total(rows, "predicted"), counts.sum())
    same(
        accuracy,
        mean(rows, "accuracy", "predicted"),
        np.trace(counts) / counts.sum(),
        1.0 - said["risk"][of]["risk"][-1],
    )
    for when in ("before", "after"):
        if said["histograms"][when] is not None:
            right, wrong = (sum(said["histograms"][when][name]) for name in ("right", "wrong"))
            same(said["data"]["n"], right + wrong, sum(said["curves"][when]["n"]))
            same(scores["accuracy"][when]["value"], right / (right + wrong))
            if said["drift"] is not None:
                same(said["data"]["n"], total(said["drift"][when], "n"))
                same(scores["accuracy"][when]["value"], mean(said["drift"][when], "accuracy", "n"))
                same(
                    mean(said["curves"][when], "confidence", "n"),
                    mean(said["drift"][when], "confidence", "n"),
                )


def agree(said, rows):
    """Changes, the alternative chosen, and the sentences about outputs say what the table of
    metrics says.
    """
    for row in rows:
        if row["change"] is not None:
            same(row["change"]["value"], row["after"]["value"] - row["before"]["value"])
    chosen = [one for one in said["alternatives"] if one["chosen"]]
    for one in chosen:
        assert one["name"] == said["calibrator"]["name"]
        for row in rows:
            if one["output"] in (None, row.get("output")):
                shown = (
                    row["after"] if said["calibrator"]["evaluation"] != "none" else row["before"]
                )
                same(one["metrics"][row["key"]]["value"], shown["value"])
                assert one["metrics"][row["key"]]["change"] == row["change"]


def test_changes_alternatives_and_the_verdict(found):
    said = found.to_dict()
    assert said["schema"] == 1
    agree(said, said["metrics"])
    scores, verdict = {row["key"]: row for row in said["metrics"]}, said["verdict"]
    confidence = said["quality"]["confidence"]
    accuracy, ece = (scores[key]["before"]["value"] for key in ("accuracy", "ece"))
    page = found.to_html()
    tiles = [
        f"<dd>{percent(confidence)} / {percent(accuracy)} <small>",
        f"<dd>{points(ece)} <small>"
        if scores["ece"]["after"] is None or verdict["state"] not in CALIBRATED
        else f"<dd>{points(ece).split()[0]} → {points(scores['ece']['after']['value'])} <small>",
    ]
    # Numbers that a veto rules out are not among the first to be read.
    told = verdict["state"] != "check the data first"
    assert all((tile in page) == told for tile in tiles)
    assert all(page.count(escape(verdict[name])) >= 1 for name in ("sentence", "action"))


def test_the_sentence_says_the_numbers_of_the_table(found):
    """What it states in whole points are the rounded numbers of the table."""
    said = found.to_dict()
    scores, sentence = {row["key"]: row for row in said["metrics"]}, said["verdict"]["sentence"]
    for share, words in re.findall(r"(\d+ %) (sure|of the time)", sentence):
        value = {
            "sure": said["quality"]["confidence"],
            "of the time": scores["accuracy"]["before"]["value"],
        }[words]
        assert share == percent(value, 0)
    within = re.search(r"then typically within ([\d.]+ points?), and", sentence)
    assert (within is not None) == (said["verdict"]["state"] == "calibrate")
    if within is not None:
        assert within[1] == points(said["verdict"]["off_by"]["after"] / 100.0)


def test_numbers_of_each_output(of_numbers):
    said = of_numbers.to_dict()
    agree(said, said["metrics"])
    for output in said["outputs"]:
        scores = {row["key"]: row for row in said["metrics"] if row["output"] == output["name"]}
        for key, one in output["chance"].items():
            same(scores[key]["before"]["value"], one["observed"])
        same(said["data"]["n"], output["quality"]["n"])
        for when in ("before", "after"):
            curves = output["curves"][when]
            if curves is not None:
                at = next(row for row in curves["coverage"] if row["claimed"] == 0.9)
                same(scores["coverage"][when]["value"], at["seen"])
                same(scores["width"][when]["value"], at["width"])
                bins = curves["reliability"]
                same(said["data"]["n"], sum(bins["n"]), sum(curves["pit"]["n"]))
                gap = np.abs(np.array(bins["rmv"]) - np.array(bins["rmse"])) / np.array(bins["rmv"])
                same(scores["ence"][when]["value"], gap.mean())
                if output["drift"] is not None:
                    same(
                        scores["coverage"][when]["value"],
                        mean(output["drift"][when], "accuracy", "n"),
                    )
        shown = {key: row[output["of"]]["value"] for key, row in scores.items()}
        for table in tables(output):
            same(said["data"]["n"], total(table))
            same(shown["coverage"], mean(table, "coverage"))
            same(
                shown["rmse"] ** 2,
                mean([{**row, "square": row["error"] ** 2} for row in table], "square"),
            )


def test_the_sentence_on_error_bars(of_numbers):
    said = of_numbers.to_dict()
    for output in said["outputs"]:
        scores = {row["key"]: row for row in said["metrics"] if row["output"] == output["name"]}
        coverage = scores["coverage"]
        held = re.findall(r"hold (\d+ %)", output["verdict"]["sentence"])
        each = [coverage[when] and coverage[when]["value"] for when in ("before", "after")]
        assert held == [percent(value, 0) for value in each if value is not None][: len(held)]
        assert held
    if len(said["outputs"]) == 1:
        assert {**said["verdict"], "code": []} == said["outputs"][0]["verdict"]
