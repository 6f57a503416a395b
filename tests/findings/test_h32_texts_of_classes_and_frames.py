"""H32: names of classes that are one number as floats stay apart in every kind of file, and groups
in a data frame are read at every door.
"""

import json
from functools import lru_cache

import numpy as np
import pandas as pd
import polars as pl
import pytest

import calibrant as cb

NAMES = {
    "numbers": ["0", "1", "2"],
    "twenty digits": ["12345678901234567890", "12345678901234567891", "3"],
    "seventeen digits": ["10000000000000001", "10000000000000002", "3"],
    "zeros": ["007", "01", "1"],
    "fractions": ["1", "1.0", "2"],
    "powers": ["1e3", "1000", "2"],
}


def drawn(n=200, n_classes=3):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(n_classes), n)
    return P, (rng.random(n)[:, None] > P.cumsum(axis=1)).sum(axis=1)


def written(path, P, labels, names):
    frame = pd.DataFrame(P, columns=[f"p_{name}" for name in names])
    frame["label"] = labels
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True, double_precision=15)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_h32_names_of_classes_stay_apart(names, kind, run, tmp_path):
    P, y = drawn()
    path = tmp_path / f"f.{kind}"
    written(path, P, [names[k] for k in y], names)
    found = json.loads(run("evaluate", path.name, "--json").stdout)["metrics"]
    value = {row["key"]: row["before"]["value"] for row in found}["accuracy"]
    assert value == pytest.approx((P.argmax(axis=1) == y).mean())
    run("fit", path.name, "--method", "temperature", "-o", "m.calibrant")
    run("apply", "m.calibrant", path.name, "-o", f"o.{kind}")
    if kind == "csv":
        made = pd.read_csv(tmp_path / "o.csv")[[f"p_{name}" for name in names]]
        expected = cb.TemperatureScaling().fit(P, y).predict_proba(P)
        np.testing.assert_allclose(made, expected, atol=1e-6)


def test_h32_a_label_that_is_the_number_of_a_column_is_its_class(run, tmp_path):
    P, y = drawn()
    losses = []
    for labels, names in (
        (y, "012"),
        (y.astype(float), "012"),
        (y, ["00", "01", "02"]),
        ([f"{k:02d}" for k in y], "012"),
    ):
        written(tmp_path / "f.csv", P, labels, list(names))
        found = json.loads(run("evaluate", "f.csv", "--json").stdout)["metrics"]
        losses.append({row["key"]: row["before"]["value"] for row in found}["log_loss"])
    assert losses == [losses[0]] * 4


def test_h32_classes_beyond_int64_do_not_fall_together_in_python():
    P, y = drawn()
    names = [int(name) for name in NAMES["twenty digits"]]
    with pytest.raises(cb.errors.InputError, match="must hold only the classes"):
        cb.metrics.log_loss([names[k] for k in y], P, classes=names)


GROUPS = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(columns),
    "series": lambda columns: pd.Series(columns["s"]),
    "polars series": lambda columns: pl.Series(columns["s"]),
}


def two_columns():
    rng = np.random.default_rng(1)
    return {"s": rng.choice(["a", "b"], 200), "t": rng.integers(0, 2, 200)}


@lru_cache
def reported():
    """The numbers of a report with the groups in a dictionary."""
    P, y = drawn(n_classes=2)
    return cb.report(y, P, groups=two_columns()).to_dict()["metrics"]


@pytest.mark.parametrize("kind", GROUPS)
def test_h32_groups_in_a_frame_are_groups(kind):
    P, y = drawn(n_classes=2)
    columns = two_columns()
    groups, plain = GROUPS[kind](columns), columns["s"] if "series" in kind else columns
    for part in (cb.AutoCalibrator, cb.GroupCalibrator):
        found, expected = (
            part().fit(P, y, groups=one).predict_proba(P, groups=one) for one in (groups, plain)
        )
        np.testing.assert_array_equal(found, expected)
    if "series" not in kind:
        assert cb.report(y, P, groups=groups).to_dict()["metrics"] == reported()
