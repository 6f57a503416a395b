"""No column is lost: two of one name are refused, and none is overwritten that is not a
prediction.
"""

import csv

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

pytest.importorskip("click")
pytest.importorskip("rich")
from click.testing import CliRunner

from calibrant.cli.group import group

FORECASTS = "mean,std,y,low_0.9\n" + "".join(f"{i},1,{i + 0.5},mine\n" for i in range(5))
PREDICTIONS = "p_a,p_b,label,confidence\n" + "0.25,0.75,a,mine\n0.5,0.5,b,mine\n"


@pytest.fixture
def run(run):
    """What the command said on stderr, with three saved calibrators at hand."""
    cb.calibrators.Identity(classes=["a", "b"]).fit([[0.5, 0.5]], ["a"]).save("m")
    cb.calibrators.Identity(classes=["a", "b"], inputs="logit").fit([[0.5, 0.5]], ["a"]).save("l")
    cb.StdScaling().fit(([0.0, 0.0], [1.0, 1.0]), [1.0, -1.0]).save("bars")
    return lambda *arguments, code=0: run(*arguments, code=code).stderr


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "f.csv"),
        ("apply", "m", "f.csv", "-o", "out.csv"),
        ("evaluate", "f.csv", "--by", "note"),
    ],
)
def test_f30_two_columns_of_one_name(command, run, tmp_path):
    (tmp_path / "f.csv").write_text("p_a,p_b,p_a,label,note\n0.25,0.75,0.5,a,x\n", encoding="utf-8")
    assert "has 2 columns or arrays named 'p_a'; give each a different name" in run(
        *command, code=1
    )


@pytest.mark.parametrize(
    ("text", "calibrator", "name"),
    [
        (PREDICTIONS, "m", "confidence"),
        (FORECASTS, "bars", "low_0.9"),
        ("logit_a,logit_b,p_a\n1,2,mine\n2,1,mine\n", "l", "p_a"),
    ],
)
def test_f30_apply_overwrites_no_other_column(text, calibrator, name, run, tmp_path):
    (tmp_path / "f.csv").write_text(text, encoding="utf-8")
    command = (
        "apply",
        calibrator,
        "f.csv",
        "-o",
        "out.csv",
        *(["--logits", "logit_*"] if calibrator == "l" else []),
    )
    said = run(*command, code=1)
    assert f"already has a column {name!r}, which is not overwritten" in said
    assert "--suffix _calibrated" in said
    run(*command, "--suffix", "_new")
    out = read(tmp_path / "out.csv")
    assert {row[name] for row in out} == {"mine"}
    assert f"{name}_new" in out[0]


def test_f30_nor_does_apply_of_npz(run, tmp_path):
    np.savez(tmp_path / "f.npz", probabilities=[[0.25, 0.75]], confidence=["mine"])
    assert "'confidence'" in run("apply", "m", "f.npz", "-o", "out.npz", code=1)
    run("apply", "m", "f.npz", "-o", "out.npz", "--suffix", "_2")
    with np.load(tmp_path / "out.npz") as out:
        assert out["confidence"].tolist() == ["mine"]
        assert out["confidence_2"].tolist() == [0.75]


def test_f30_levels_that_look_alike_keep_names_of_their_own(run, tmp_path):
    (tmp_path / "f.csv").write_text(FORECASTS, encoding="utf-8")
    run("apply", "bars", "f.csv", "-o", "out.csv", "--interval", "0.95", "--interval", "0.9500001")
    assert {"low_0.95", "low_0.9500001"} <= {*read(tmp_path / "out.csv")[0]}


def test_f30_nor_does_the_function(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    from calibrant.tables.apply import apply

    logs = pandas.DataFrame({"p_0": [0.9, 0.6], "p_1": [0.1, 0.4], "confidence": ["mine", "mine"]})
    calibrator = cb.calibrators.Identity().fit([[0.5, 0.5]], [0])
    with pytest.raises(
        InputError,
        match=(
            "already has a column 'confidence'; pass another name for the added column as"
            " confidence="
        ),
    ):
        apply(calibrator, logs, tmp_path / "out.parquet", probabilities="p_*")
    out = pandas.read_parquet(
        apply(calibrator, logs, tmp_path / "out.parquet", probabilities="p_*", confidence="honest")
    )
    assert list(out) == ["p_0", "p_1", "confidence", "honest"]
    assert set(out["confidence"]) == {"mine"}


@pytest.mark.parametrize("y", [[0, 1] * 10, [False, True] * 10])
def test_f29_labels_that_no_column_names_are_refused(tmp_path, y):
    pd = pytest.importorskip("pandas")
    p = np.linspace(0.05, 0.95, 20)
    pd.DataFrame({"p_yes": p, "p_no": 1 - p, "label": y}).to_parquet(tmp_path / "f.parquet")
    done = CliRunner().invoke(group, ["evaluate", str(tmp_path / "f.parquet"), "--label", "label"])
    assert done.exit_code != 0
    assert "must be among the classes that its columns name" in done.output
