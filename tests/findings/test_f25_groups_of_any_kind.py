"""F25 and F12: groups may be missing, of mixed types, and crossings of columns; different labels
are different groups.
"""

from dataclasses import replace

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics

N = 60
Y, P = np.arange(N) % 2, np.linspace(0.05, 0.95, N)
GROUPS = {
    "None": ["a", None, "b"],
    "nan": [1.0, float("nan"), 2.0],
    "mixed types": ["a", 1, 2.5],
    "missing and mixed": [None, "1", 1],
}


def _reported(**options):
    return cb.report(Y, P, calibrator=cb.calibrators.Identity(), n_resamples=0, **options).to_dict()


@pytest.mark.parametrize("name", GROUPS)
def test_f25_groups_missing_or_of_mixed_types(name):
    groups = GROUPS[name] * (N // 3)
    values = metrics.per_group(metrics.accuracy, Y, P, groups)
    assert values.n.tolist() == [20.0, 20.0, 20.0]
    assert [row["rows"] for row in _reported(groups=groups)["groups"]] == [20.0, 20.0, 20.0]
    assert len({row["group"] for row in _reported(groups=groups)["groups"]}) == 3
    assert len(metrics.group_coverage(P, P, np.ones(N), groups=groups).n) == 3
    forecasts = cb.report(
        P,
        np.zeros(N),
        np.ones(N),
        calibrator=cb.calibrators.Identity(),
        groups=groups,
        n_resamples=0,
    ).to_dict()
    assert len(forecasts["outputs"][0]["groups"]) == 3
    assert metrics.worst_group(metrics.accuracy, Y, P, groups, min_rows=5).groups == 3


def test_f25_pandas_missing_values():
    pd = pytest.importorskip("pandas")
    groups = pd.Series([1, pd.NA, 3] * (N // 3), dtype="Int64")
    assert metrics.per_group(metrics.accuracy, Y, P, groups).group.tolist() == [1.0, 3.0, None]
    texts = pd.Series(["a", pd.NA, "b"] * (N // 3))
    assert metrics.per_group(metrics.accuracy, Y, P, texts).group.tolist() == ["a", "b", None]


def test_f25_columns_are_crossed():
    pd = pytest.importorskip("pandas")
    df = pd.DataFrame({"sex": ["f", "m"] * (N // 2), "age_band": ["old", "old", "new"] * (N // 3)})
    values = metrics.per_group(metrics.accuracy, Y, P, df[["sex", "age_band"]])
    assert values.group.tolist() == [("f", "new"), ("f", "old"), ("m", "new"), ("m", "old")]
    assert values.n.tolist() == [10.0, 20.0, 10.0, 20.0]
    assert {row["group"] for row in _reported(groups=df)["groups"]} == {
        "f, new",
        "f, old",
        "m, new",
        "m, old",
    }


def test_f25_drift_by_group_with_missing_labels():
    times = np.datetime64("2026-01-05") + np.arange(N) // 10
    found = _reported(groups=["a", None, 3] * (N // 3), times=times)["drift"]
    assert {row["group"] for row in found["groups"]} == {"a", "3", "(missing)"}


def test_f12_a_number_and_its_text_are_two_groups():
    values = metrics.per_group(metrics.accuracy, Y, P, [1, "1"] * (N // 2))
    assert values.group.tolist() == [1, "1"]
    assert values.n.tolist() == [30.0, 30.0]


def test_f12_the_quantiles_of_the_calibration_index_have_their_own_names():
    found = [metrics.integrated_calibration_index, metrics.calibration_e50, metrics.calibration_e90]
    assert [m.name for m in found] == ["ICI", "E50", "E90"]
    assert [replace(found[0], quantile=q).name for q in (0.25, 1.0)] == ["E25", "Emax"]
    assert list(metrics.compute(found, Y, P)) == ["ici", "e50", "e90"]
