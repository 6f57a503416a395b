"""``--cluster`` of the commands that print intervals."""

import json

import numpy as np
import pytest


@pytest.fixture
def visits(tmp_path):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(30), 5)
    p = np.clip(rng.beta(2, 2, 30)[patient] + rng.uniform(-0.05, 0.05, 150), 0.02, 0.98).round(3)
    y = (rng.random(30)[patient] < p).astype(int)
    path = tmp_path / "visits.csv"
    rows = [
        f"{risk},{label},patient {k},2026-01-{1 + k % 28:02d}"
        for risk, label, k in zip(p, y, patient, strict=True)
    ]
    path.write_text("\n".join(["risk,y,patient,day", *rows]) + "\n", encoding="utf-8")
    return path


def test_evaluate_counts_clusters(run, visits):
    arguments = ["evaluate", visits, "--risk", "risk", "--label", "y"]
    alone, together = (run(*arguments, *more, "--json") for more in ([], ["--cluster", "patient"]))
    width = [
        next(
            row["before"]["high"] - row["before"]["low"]
            for row in json.loads(found.stdout)["metrics"]
            if row["key"] == "log_loss"
        )
        for found in (alone, together)
    ]
    assert width[1] > 1.3 * width[0]
    assert "150 rows in 30 clusters" in run(*arguments, "--cluster", "patient").output


def test_report_counts_clusters(run, visits, tmp_path):
    page = tmp_path / "page.html"
    run(
        "report",
        visits,
        "--risk",
        "risk",
        "--label",
        "y",
        "--cluster",
        "patient",
        "--method",
        "platt",
        "-o",
        page,
    )
    assert "150 rows in 30 clusters" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("code", "arguments", "said"),
    [
        (
            1,
            ["report", "--cluster", "patient", "--time", "day"],
            "--time and --cluster exclude each other",
        ),
        (1, ["report", "--cluster", "ward"], "ward"),
        (2, ["evaluate", "--cluster", "patient", "--by", "day"], "--cluster needs rows"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(run, visits, tmp_path, code, arguments, said):
    command, *options = arguments
    output = ["-o", tmp_path / "page.html"] if command == "report" else []
    found = run(command, visits, "--risk", "risk", "--label", "y", *options, *output, code=code)
    assert said in found.output
    assert "Traceback" not in found.output
