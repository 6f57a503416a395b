"""The command that watches."""

import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("polars")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def logs(tmp_path):
    rng = np.random.default_rng(0)
    n = 4000
    frame = pandas.DataFrame(
        {
            "p_no": 0.0,
            "p_yes": rng.uniform(0.5, 1.0, n),
            "model": np.where(np.arange(n) % 2, "new", "old"),
        }
    )
    frame["p_no"] = 1.0 - frame["p_yes"]
    frame["when"] = pandas.Timestamp("2026-03-01") + pandas.to_timedelta(
        np.arange(n) // 200, unit="D"
    )
    rate = np.where(
        (np.arange(n) >= 2000) & (frame["model"] == "new"), frame["p_yes"] - 0.25, frame["p_yes"]
    )
    frame["label"] = np.where(rng.uniform(size=n) < rate, "yes", "no")
    (tmp_path / "logs").mkdir()
    for i, part in enumerate(np.array_split(np.arange(n), 4)):
        frame.iloc[part].to_parquet(tmp_path / "logs" / f"{i}.parquet")
    return frame


def test_it_says_what_has_changed_and_what_to_do(run, logs):
    text = run("monitor", "logs/*.parquet", "--time", "when", "--by", "model").output
    assert "All rows: re-fit. The calibration has changed" in text
    assert "new: re-fit" in text
    assert "old: " not in text


def test_json_equals_the_function(run, logs):
    found = json.loads(
        run("monitor", "logs/*.parquet", "--time", "when", "--by", "model", "--json").output
    )
    want = cb.monitor(cb.evaluate(logs, probabilities="p_*", time="when", by="model"))
    assert found["overall"]["curve"]["log_evidence"] == pytest.approx(want.overall.path_)
    assert [s["model"] for s in found["slices"]] == ["new", "old"]
    assert found["worst_slices"]["slices"][0]["model"] == "new"


def test_words_and_names_are_those_of_the_target(run, logs, tmp_path):
    asked = "monitor", "logs/*.parquet", "--time", "when", "--by", "model", "--json"
    for more, said, names, other in (
        ((), "log loss of the risk", ("mean_risk", "event_rate"), "confidence"),
        (("--target", "answer"), "log loss of the confidence", ("confidence", "accuracy"), "risk"),
    ):
        found = json.loads(run(*asked, *more).output)
        reason = found["overall"]["advice"]["reason"]
        assert said in reason
        assert other not in reason
        for told in (
            found["worst_slices"]["slices"][0],
            found["overall"]["curve"],
            found["slices"][0]["curve"],
        ):
            assert {*names} <= {*told}
            assert other not in told
        run("monitor", "logs/*.parquet", "--time", "when", *more, "-o", "out.parquet", "--force")
        assert {*names} <= {*pandas.read_parquet(tmp_path / "out.parquet").columns}


def test_a_log_of_confidences_keeps_its_words(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"said": 100.0 * rng.uniform(0.5, 1.0, 2000)})
    frame["correct"] = np.where(rng.random(2000) < frame["said"] / 100.0 - 0.2, "yes", "no")
    frame["when"] = pandas.Timestamp("2026-03-01") + pandas.to_timedelta(
        np.arange(2000) // 200, unit="D"
    )
    frame["model"] = np.where(np.arange(2000) % 2, "new", "old")
    frame.to_csv(tmp_path / "log.csv", index=False)
    asked = (
        "monitor",
        "log.csv",
        "--confidence",
        "said",
        "--inputs",
        "percent",
        "--label",
        "correct",
        "--time",
        "when",
        "--by",
        "model",
    )
    text, found = run(*asked).output, json.loads(run(*asked, "--json").output)
    assert "log loss of the confidence" in text
    assert "risk" not in text
    assert {"confidence", "accuracy"} <= {*found["overall"]["curve"]}
    logs = frame.assign(said=frame["said"] / 100.0)
    want = cb.monitor(cb.evaluate(logs, score="said", label="correct", time="when", by="model"))
    assert found["overall"]["curve"]["log_evidence"] == pytest.approx(want.overall.path_)
    frame.assign(correct=np.where(frame["correct"] == "yes", "good", "bad")).to_csv(
        tmp_path / "log.csv", index=False
    )
    assert (
        json.loads(run(*asked, "--json", "--positive", "good").output)["overall"]
        == found["overall"]
    )


def test_the_exit_code_tells(run, logs, tmp_path):
    run("monitor", "logs/*.parquet", "--time", "when", "--fail-if", "alarms>0", code=3)
    run(
        "monitor",
        "logs/0.parquet",
        "--time",
        "when",
        "--fail-if",
        "alarms>0",
        "--resume",
        "sums.calibrant",
    )
    run(
        "monitor",
        "logs/*.parquet",
        "--time",
        "when",
        "--fail-if",
        "alarms>0",
        "--reference",
        "logs/3.parquet",
        "-o",
        "out.parquet",
        code=3,
    )
    assert len(pandas.read_parquet(tmp_path / "out.parquet")) == 20


def test_wrong_usage(run, logs):
    assert "--time when" in run("monitor", "logs/*.parquet", code=2).output
    assert (
        "does not hold with weights"
        in run("monitor", "logs/*.parquet", "--time", "when", "--weight", "p_no", code=2).output
    )


def test_one_batch_a_file_and_short_lines_for_the_log_of_a_ci(run, logs, tmp_path):
    (tmp_path / "days").mkdir()
    for day, part in logs.groupby("when"):
        part.drop(columns="when").to_parquet(tmp_path / "days" / f"{day.date()}.parquet")
    whole = run("monitor", "logs/*.parquet", "--time", "when", "--by", "model", "--lines").output
    options = ("--by-file", "--by", "model", "--lines")
    said = run("monitor", "days", *options, "--fail-if", "discoveries>0", code=3).output
    lines = [json.loads(one) for one in said.splitlines() if one.startswith("{")]
    assert [one["slice"] for one in lines] == [{}, {"model": "new"}, {"model": "old"}]
    assert [one["discovery"] for one in lines] == [False, True, False]
    expected = [json.loads(one) for one in whole.splitlines()]
    assert lines[1]["p_value"] == pytest.approx(expected[1]["p_value"])
    assert lines[1]["since"] == f"{expected[1]['since']}.parquet"
    assert max(map(len, said.splitlines())) < 1000
    run("monitor", "days", "--by-file", "--fail-if", "discoveries>0")
    said = run("monitor", "days", "--by-file", "--time", "when", code=2).output
    assert "pass --by-file for one batch a file" in " ".join(said.split())
