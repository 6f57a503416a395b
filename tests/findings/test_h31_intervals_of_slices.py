"""H31: small slices have intervals or a caution, and one number has one interval."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import calibrant as cb
from calibrant import questions
from calibrant.cli.group import group

RNG = np.random.default_rng(0)
P = RNG.random(300).round(3) * 0.98 + 0.01
Y = (RNG.random(300) < P).astype(int)
LOG = [
    {"id": i, "probs": {"no": 1.0 - p, "yes": p}, "label": ["no", "yes"][y], "type": "yes_no"}
    for i, (p, y) in enumerate(zip(P.tolist(), Y.tolist(), strict=True))
]
PAIRS = {
    "log loss": (cb.metrics.log_loss, questions.question_log_loss),
    "brier": (cb.metrics.event_brier_score, questions.question_brier),
    "accuracy": (cb.metrics.accuracy, questions.question_accuracy),
}


@pytest.mark.parametrize("name", PAIRS)
def test_an_event_and_a_question_have_one_interval(name: str):
    event, question = PAIRS[name]
    one, other = event.interval(Y, P), question.interval(None, LOG)
    assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high))


@pytest.mark.parametrize("name", ["calibration_slope", "expected_calibration_error"])
def test_metrics_by_group_have_intervals(name: str):
    found = cb.metrics.per_group(getattr(cb.metrics, name), Y, P, ["a"] * 30 + ["b"] * 270)
    assert np.isfinite(found.low).all()
    assert np.isfinite(found.high).all()


def test_slices_of_few_rows_say_so(tmp_path: Path):
    path = tmp_path / "rows.csv"
    rows = (f"{p},{y},{'few' if i < 6 else 'many'}" for i, (p, y) in enumerate(zip(P, Y)))  # noqa: B905
    path.write_text("p,label,market\n" + "\n".join(rows))
    options = ["evaluate", str(path), "--by", "market", "--probabilities", "p", "--label", "label"]
    found = CliRunner().invoke(group, options)
    assert found.exit_code == 0
    few = next(line for line in found.output.splitlines() if line.startswith("few"))
    many = next(line for line in found.output.splitlines() if line.startswith("many"))
    assert "few rows" in few
    assert "[" in many
