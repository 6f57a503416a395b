"""Rows drawn stand for the table: sums are unbiased, rare classes are there, and fits come close
to those on all rows.
"""

import numpy as np
import pandas as pd
import pytest
from tests.tables.modes import COLUMNS

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError
from calibrant.tables import RowSample, sample

N, NAMES = 20_000, ["ant", "bee", "cow", "dog"]


@pytest.fixture(scope="module")
def log():
    """Four classes, the last a hundredth; twice as sure as it should be."""
    rng = np.random.default_rng(8)
    honest = rng.dirichlet([4.0, 2.0, 1.0, 0.2], N)
    label = (rng.random(N)[:, None] > honest.cumsum(axis=1)).sum(axis=1).clip(0, 3)
    P = np.maximum(honest, 1e-6) ** 2
    made = pd.DataFrame(P / P.sum(axis=1, keepdims=True), columns=[f"p_{name}" for name in NAMES])
    return made.assign(label=np.array(NAMES)[label], w=rng.integers(0, 4, N).astype(float))


@pytest.mark.parametrize("weight", [None, "w"])
def test_sums_over_the_sample_are_unbiased(weight, log):
    own = np.ones(N) if weight is None else log["w"].to_numpy()
    wanted = (own * np.log(log["p_ant"])).sum()
    found = []
    for seed in range(40):
        drawn = sample(log, 1000, probabilities="p_*", weight=weight, random_state=seed)
        found.append((drawn.weight * np.log(drawn.probabilities[:, 0])).sum())
    spread = np.std(found) / np.sqrt(40)
    assert 0.0 < spread < 0.01 * abs(wanted)
    assert abs(np.mean(found) - wanted) < 4.0 * spread


def test_half_by_size_and_half_alike(log):
    drawn = sample(log, 2000, probabilities="p_*")
    counts = np.bincount(
        log[[f"p_{name}" for name in NAMES]].to_numpy().argmax(axis=1), minlength=4
    )
    wanted = np.minimum(counts, 1000 * counts / N + 250)
    got = np.bincount(drawn.predicted, minlength=4)
    assert np.all(np.abs(got - wanted) <= 5.0 * np.sqrt(wanted))
    assert got[3] == counts[3] > 50, "every row of a rare class"
    np.testing.assert_allclose(np.bincount(drawn.predicted, weights=drawn.weight), counts)


def test_fit_is_close_to_the_fit_on_all_rows(log):
    drawn, P = (
        sample(log, 6000, probabilities="p_*"),
        log[[f"p_{name}" for name in NAMES]].to_numpy(),
    )
    whole = cb.TemperatureScaling(classes=NAMES).fit(P, log["label"])
    made = drawn.fit(cb.TemperatureScaling())
    assert made.temperature_ == pytest.approx(whole.temperature_, rel=0.05)
    np.testing.assert_array_equal(made.predict(P[:50]), whole.predict(P[:50]))


def test_penalties_see_a_sample_and_not_the_table(log):
    drawn = sample(log, 300, probabilities="p_*")
    twice = RowSample(
        drawn.probabilities, drawn.labels, drawn.predicted, 2.0 * drawn.weight, drawn.classes
    )
    P = drawn.probabilities[:20]
    fits = [
        rows.fit(cb.calibrators.StructuredMatrixScaling()).predict_proba(P)
        for rows in (drawn, twice)
    ]
    np.testing.assert_allclose(*fits, atol=1e-12)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pyarrow"])
@pytest.mark.parametrize("mode", ["p_*", "vector"])
def test_every_row_where_as_many_are_asked_for(engine, mode, logs, whole):
    pytest.importorskip(engine)
    drawn = sample(logs, 100 * len(whole), probabilities=mode, engine=engine)
    assert len(drawn) == len(whole)
    np.testing.assert_array_equal(drawn.weight, 1.0)
    order, expected = np.lexsort(drawn.probabilities.T), whole[COLUMNS].to_numpy(np.float32)
    np.testing.assert_array_equal(drawn.probabilities[order], expected[np.lexsort(expected.T)])


def test_the_same_seed_draws_the_same_rows_and_is_kept(log, tmp_path):
    first, second, other = (
        sample(log, 500, probabilities="p_*", random_state=seed) for seed in (1, 1, 2)
    )
    kept = cb.load(first.save(tmp_path / "rows.calibrant"))
    np.testing.assert_array_equal(kept.probabilities, second.probabilities)
    np.testing.assert_array_equal(kept.weight, second.weight)
    assert len(other) != len(first) or not np.array_equal(other.probabilities, first.probabilities)


def test_refusals(log):
    with pytest.raises(InputError, match="n must be"):
        sample(log, 0, probabilities="p_*")
    with pytest.raises(InputError, match="no rows"):
        sample(log.iloc[:0], 10, probabilities="p_*")


def test_a_report_of_drawn_rows_is_of_the_table(logs, whole):
    drawn = sample(logs, 1_500, probabilities="p_*")
    page = cb.report(drawn, calibrator=cb.calibrators.Identity()).to_dict()
    assert page["title"] == f"Report of {len(drawn):,} sampled rows that stand for {len(whole):,}"
    assert page["data"]["rows"] == len(drawn)
    loss = next(row for row in page["metrics"] if row["key"] == "log_loss")["before"]
    exact = metrics.log_loss(drawn.labels, drawn.probabilities, sample_weight=drawn.weight)
    assert loss["value"] == pytest.approx(exact, rel=1e-9)
    assert loss["low"] < cb.evaluate(logs, probabilities="p_*").overall()["log_loss"] < loss["high"]
    assert cb.report(drawn, title="Mine").to_dict()["title"] == "Mine"
