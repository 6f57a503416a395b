"""A person with the training rows asks which answers the model was never trained to give."""

import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pandas = pytest.importorskip("pandas")
runner = pytest.importorskip("click.testing").CliRunner()


def world(n, seed):
    """A score that knows the likelier label in half of the feature space, and nothing elsewhere.

    The event is likelier with a larger ``v``. Where ``u`` is negative the model answers with the
    likelier label. Where ``u`` is positive it was made without ``v``: it tosses a coin, and is as
    sure of itself. The last result is P(the answer is right | u, v, answer).
    """
    rng = np.random.default_rng(seed)
    known = rng.random(n) < 0.5
    u, v = np.where(known, -4.0, 4.0) + rng.normal(0.0, 0.5, n), rng.uniform(-3.0, 3.0, n)
    truth = 1.0 / (1.0 + np.exp(-4.0 * v))
    y = (rng.random(n) < truth).astype(int)
    answer = np.where(known, v > 0.0, rng.random(n) < 0.5)
    right, sure = np.where(answer, truth, 1.0 - truth), rng.uniform(0.85, 0.98, n)
    p = np.where(answer, sure, 1.0 - sure)
    frame = pandas.DataFrame({"u": u, "v": v, "p_0": 1.0 - p, "p_1": p, "label": y})
    return frame, known, right


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder with the log, new rows without labels, and the training rows."""
    made = tmp_path_factory.mktemp("trained")
    for name, n, seed in (("log", 1_500, 0), ("new", 4_000, 1), ("train", 1_000, 2)):
        columns = {"new": ["u", "v", "p_0", "p_1"], "train": ["u", "v", "label"]}
        frame = world(n, seed)[0]
        frame[columns.get(name, list(frame))].to_csv(made / f"{name}.csv", index=False)
    return made


def _calibrant(*arguments):
    from calibrant.cli.group import group

    found = runner.invoke(group, [str(one) for one in arguments])
    assert found.exit_code == 0, found.output
    return found


def test_the_page_names_the_answers_to_doubt(folder):
    page = folder / "page.html"
    found = _calibrant(
        *("report", folder / "log.csv", "--reference", folder / "train.csv"),
        *("--method", "geometric", "-o", page, "--json"),
    )
    section = json.loads(found.stdout)["distance"]
    frame, known, right = world(1_500, 0)
    wrong = ((frame.p_1 > 0.5) != frame.label).to_numpy()
    safe, dangerous = section["zones"]
    # The score is as sure in both zones; most answers are right in one, and few in the other.
    assert abs(safe["confidence"] - dangerous["confidence"]) < 0.02
    assert safe["low"] > 0.85
    assert dangerous["high"] < 0.25
    losses = {one["name"]: one["change"]["meaning"] for one in section["losses"]}
    assert losses == {"separation": "better", "both": "better"}
    assert len(section["examples"]) == 3
    rows = [one["row"] for one in section["examples"]]
    assert wrong[rows].all()
    assert right[rows].mean() < 0.5
    assert not known[rows].any()
    assert "Distance to the training rows" in page.read_text("utf-8")


def test_applied_confidences_are_calibrated_where_the_score_knows_nothing(folder):
    model, out = folder / "m.calibrant", folder / "out.csv"
    _calibrant(
        *("fit", folder / "log.csv", "--method", "geometric"),
        *("--reference", folder / "train.csv", "-o", model),
    )
    _calibrant("apply", model, folder / "new.csv", "-o", out, "--explain")
    applied, (_, known, right) = pandas.read_csv(out), world(4_000, 1)
    doubted = (applied.zone == "dangerous").to_numpy()
    # Who doubts the dangerous rows doubts few right answers and misses few wrong ones.
    assert right[doubted].mean() < 0.2
    assert right[~doubted].mean() > 0.85
    for part in (known, ~known, ~known & doubted, ~known & ~doubted):
        assert abs(applied.confidence[part].mean() - right[part].mean()) < 0.04
    by_score = cb.ConfidenceCalibrator().fit(
        pandas.read_csv(folder / "log.csv")[["p_0", "p_1"]].to_numpy(),
        world(1_500, 0)[0].label,
    )
    new = pandas.read_csv(folder / "new.csv")[["p_0", "p_1"]].to_numpy()
    gaps = [
        np.abs(confidence - right)[~known].mean()
        for confidence in (applied.confidence, by_score.predict_confidence(new))
    ]
    assert gaps[0] < 0.2 * gaps[1]
