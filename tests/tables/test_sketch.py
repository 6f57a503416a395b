"""Fits from the sketch against the exact fits, and that sketches add up and are kept."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError
from calibrant.tables.apply import apply
from calibrant.tables.sample import sketch


def _rows(n=30_000, seed=0, extreme=False):
    """Scores crowded at 1, as those of networks are, and an outcome that is less sure."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(2.0, 2.0, n)
    score = 1.0 / (1.0 + np.exp(-logit))
    right = rng.random(n) < 1.0 / (1.0 + np.exp(-(0.7 * logit - 0.3)))
    if extreme:
        score[:300], score[300:320] = 1.0, 0.0
    return score, right.astype(float), rng.integers(0, 3, n), rng.integers(0, 2, n)


@pytest.fixture(scope="module", params=[0, 1, "extreme"])
def data(request):
    import pandas as pd

    score, right, predicted, day = _rows(
        seed=5 if request.param == "extreme" else request.param, extreme=request.param == "extreme"
    )
    label = np.where(right == 1.0, predicted, (predicted + 1) % 3)
    return pd.DataFrame(
        {"score": score, "right": right, "predicted": predicted, "label": label, "day": day}
    )


ASKED = {"score": "score", "predicted": "predicted"}


@pytest.mark.parametrize(
    "map_",
    [
        cb.Platt(),
        cb.Platt(scale="probability"),
        cb.calibrators.Beta(),
        cb.calibrators.KernelDensity(),
    ],
    ids=str,
)
def test_smooth_maps_are_within_1e_3_of_the_exact_fit_at_every_score(map_, data):
    made = sketch(data, **ASKED)
    exact = type(map_)(**map_.get_params()).fit(data["score"], data["right"])
    grid = np.concatenate(
        [data["score"], np.linspace(data["score"].min(), data["score"].max(), 5000)]
    )
    assert np.abs(made.fit(map_).predict(grid) - exact.predict(grid)).max() < 1e-3


def test_isotonic_is_within_1e_3_on_average_and_1e_4_in_log_loss(data):
    made, exact = (
        sketch(data, **ASKED).fit(cb.Isotonic()),
        cb.Isotonic().fit(data["score"], data["right"]),
    )
    found, wanted = made.predict(data["score"]), exact.predict(data["score"])
    assert np.abs(found - wanted).mean() < 1e-3
    losses = [
        metrics.log_loss(data["right"].astype(int), np.clip(p, 1e-6, 1 - 1e-6))
        for p in (found, wanted)
    ]
    assert abs(losses[0] - losses[1]) < 1e-4


def test_per_class_and_slice_is_the_fit_of_those_rows(data):
    made = sketch(data, by="day", **ASKED)
    for name, fitted in made.fit_per_class(cb.Platt(), slice_=1).items():
        own = data[(data["day"] == 1) & (data["predicted"] == name)]
        exact = cb.Platt().fit(own["score"], own["right"])
        assert fitted.n_fit_ == len(own)
        assert np.abs(fitted.predict(own["score"]) - exact.predict(own["score"])).max() < 1e-3
    with pytest.raises(InputError, match="slice 7"):
        made.fit(cb.Platt(), slice_=7)


def test_days_add_up_and_are_kept(data, tmp_path):
    halves = [sketch(part, **ASKED) for _, part in data.groupby("day")]
    joined = cb.load(halves[0].save(tmp_path / "day.calibrant")) + halves[1]
    whole = sketch(data, **ASKED)
    left, right = joined.points(predicted=2), whole.points(predicted=2)
    for found, wanted in zip(left, right, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    assert (tmp_path / "day.calibrant").stat().st_size < 1_000_000


@pytest.fixture(scope="module")
def cells():
    """(frame of 40,000 rows, truth): 24 cells of two columns, one of which has nothing in some
    rows.
    """
    import pandas as pd

    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 6, 40_000), rng.integers(0, 4, 40_000)
    z = rng.normal(-0.5, 1.2, 40_000)
    p, truth = (1.0 / (1.0 + np.exp(-each)) for each in (z, z + rng.normal(0.0, 0.5, (6, 4))[a, b]))
    known = np.array(["north", "south", "east", None], dtype=object)[b]
    return (
        pd.DataFrame(
            {"p": p, "label": (rng.random(40_000) < truth).astype(int), "a": a, "b": known}
        ),
        truth,
    )


def _by_cells(frame, n_bins=512):
    return sketch(frame, probabilities="p", target="event", by=["a", "b"], n_bins=n_bins)


@pytest.mark.parametrize(("n_bins", "near"), [(256, 2e-3), (512, 1e-3), (4096, 2e-4)])
def test_a_calibrator_by_group_is_as_near_to_the_fit_of_the_rows_as_the_bins_are_fine(
    cells, n_bins, near
):
    frame, truth = cells
    exact = cb.GroupCalibrator().fit(frame["p"], frame["label"], groups=frame[["a", "b"]])
    halves = _by_cells(frame[:15_000], n_bins) + _by_cells(frame[15_000:], n_bins)
    made = halves.fit_groups()
    found, wanted = (
        one.predict_proba(frame["p"], groups=frame[["b", "a"]])[:, 1] for one in (made, exact)
    )
    assert np.abs(found - wanted).max() < near
    assert made.group_names_ == ["a", "b"]
    # Both know what the whole does not.
    whole = cb.TemperatureScaling().fit(frame["p"], frame["label"]).predict_proba(frame["p"])[:, 1]
    assert np.abs(found - truth).mean() < 0.3 * np.abs(whole - truth).mean()


def test_tables_are_calibrated_and_audited_by_group(cells, tmp_path):
    import pandas as pd

    frame, _ = cells
    sketched = _by_cells(frame)
    made = sketched.fit_groups(cb.GroupCalibrator(cb.calibrators.Identity()))
    out = apply(made, frame, tmp_path / "out.parquet", probabilities="p")
    found = pd.read_parquet(out)
    np.testing.assert_allclose(
        found["p"], made.predict_proba(frame["p"], groups=frame[["a", "b"]])[:, 1], atol=1e-12
    )
    before, after = (cb.audit(one, n_draws=200) for one in (sketched, _by_cells(found)))
    assert not after.off
    # Draws of other units differ, so that a group at the limit may.
    rows = {
        one.name for one in cb.audit(frame["label"], frame["p"], frame[["a", "b"]], n_draws=200).off
    }
    assert len(rows) > 10
    assert len(rows ^ {one.name for one in before.off}) <= 1
    with pytest.raises(InputError, match="must have a column 'b'"):
        apply(made, frame.drop(columns="b"), tmp_path / "no.parquet", probabilities="p")


def test_what_a_sketch_cannot_calibrate_by_group_is_refused(cells):
    frame, _ = cells
    for made in (
        sketch(frame, probabilities="p", by="a", n_bins=64),
        sketch(frame, probabilities="p", target="event", n_bins=64),
    ):
        with pytest.raises(InputError, match='target="event" and by='):
            made.fit_groups()
    with pytest.raises(InputError, match="must use groups, as GroupCalibrator"):
        _by_cells(frame).fit_groups(cb.TemperatureScaling())
    with pytest.raises(
        InputError,
        match=("by must name columns that are known before the outcome; 'label' is the label"),
    ):
        sketch(frame, probabilities="p", target="event", by=["a", "label"], n_bins=64)
    unnamed = cb.GroupCalibrator().fit(frame["p"], frame["label"], groups=frame["a"].to_numpy())
    with pytest.raises(InputError, match="fitted to groups without names"):
        apply(unnamed, frame, "nowhere.parquet", probabilities="p")
