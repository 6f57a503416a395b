"""Out-of-fold predictions from the folds of an automatic choice's own fit."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators import auto
from calibrant.calibrators.candidates import candidates_for
from calibrant.calibrators.evidence import FoldFits
from calibrant.calibrators.held_out import canonical, tried
from calibrant.core.folds import cross_fit, out_of_fold
from calibrant.core.groups import in_clusters
from calibrant.core.labels import SoftLabels
from calibrant.core.predictions import read
from calibrant.errors import InputError

CHEAP = ["temperature scaling", "structured vector scaling", "sigmoid of the log-odds"]


def predictions(n, slope=1.0, seed=0, step=None):
    """Predictions of two classes whose log-odds are ``slope`` times the true ones, in multiples of
    ``step``, and labels.
    """
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n) * 1.5
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(int)
    z = slope * z
    return 1.0 / (1.0 + np.exp(-(z if step is None else step * np.round(z / step)))), y


def fits(record, folds, names=None, objective="log_loss"):
    """The fit of a choice in given folds."""
    pieces = canonical(record)
    candidates = candidates_for(len(record), record.n_classes, names)
    held_out, _ = tried(candidates, pieces, folds, objective)
    held_out.folds = folds
    return FoldFits(pieces, held_out, 0)


@pytest.mark.parametrize("objective", ["log_loss", "brier"])
def test_labels_of_a_fold_change_neither_its_weights_nor_its_predictions(objective):
    p, y = predictions(150, 2.0)
    record, moved_by = read(p, y), []
    # Folds that do not follow the labels, by the order in which rows are merged.
    folds = np.random.default_rng(1).integers(0, 4, 150)
    by_row = folds[canonical(record).piece]
    rng = np.random.default_rng(2)
    for k in range(4):
        own = np.flatnonzero(by_row == k)
        other = y.copy()
        other[own] = rng.permutation(y[own])
        assert (other != y).any()
        changed = read(p, other)
        # The order of merged rows begins with the label; each row keeps its fold.
        moved = np.empty(150, dtype=int)
        moved[canonical(changed).piece] = by_row
        before, after = (
            fits(*each, objective=objective).choices("pairs")[1][k]
            for each in ((record, folds), (changed, moved))
        )
        np.testing.assert_allclose(before[0], after[0], atol=1e-12)
        near = [
            fits(*one).choices("extrapolated")[1][k][0]
            for one in ((record, folds), (changed, moved))
        ]
        moved_by.append(len(near[0]) != len(near[1]) or np.abs(near[0] - near[1]).max())
        held = record.take(own)
        for one, again in zip(before[1], after[1], strict=True):
            np.testing.assert_allclose(
                one.predict_record(held), again.predict_record(held), atol=1e-12
            )
    # Extrapolated fits have seen the fold, if to no great effect: the test can fail.
    assert max(moved_by) > 1e-6


WORLDS = {
    "labels independent of the predictions": lambda p: np.full(len(p), 0.5),
    "calibrated": lambda p: p,
    "overconfident": lambda p: 1.0 / (1.0 + (1.0 / p - 1.0) ** 0.7),
}


def bias(world, n, n_folds, repeats, names):
    """The mean bias of the gain out of fold, with weights by pairs of folds and with weights by the
    losses of all folds, and twice the errors of these means, in mean standard errors of the gain.
    """
    found, errors = [], []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        p = 1.0 / (1.0 + np.exp(-1.5 * rng.normal(size=n)))
        truth = WORLDS[world](p)
        y = (rng.random(n) < truth).astype(int)
        fit = fits(read(p, y), rng.integers(0, n_folds, n), names)
        by_row, all_folds = (
            fit.held_out.folds[fit.pieces.piece],
            fit._weights(fit.held_out),
        )
        excess, variance = np.zeros(2), np.zeros(2)
        for k, (weights, members) in enumerate(fit.choices("pairs")[1]):
            own = by_row == k
            held = read(p[own])
            said = np.array([one.predict_record(held)[:, 1] for one in members])
            q = np.clip(np.stack([weights, all_folds]) @ said, 1e-15, 1.0 - 1e-15)
            # The gain of a row with label 1 beyond that of one with label 0.
            gap = np.log(q / p[own]) - np.log((1.0 - q) / (1.0 - p[own]))
            excess += gap @ (y - truth)[own]
            variance += gap**2 @ (truth * (1.0 - truth))[own]
        found.append(excess)
        errors.append(variance[0] ** 0.5)
    error = np.mean(errors)
    return np.mean(found, axis=0) / error, 2.0 * np.std(found, axis=0) / repeats**0.5 / error


@pytest.mark.parametrize("world", ["labels independent of the predictions", "calibrated"])
def test_the_gain_out_of_fold_is_unbiased(world):
    (honest, leaking), spread = bias(world, 120, 4, 150, CHEAP[:2])
    assert abs(honest) <= 0.1 + spread[0]
    if world == "calibrated":
        assert leaking > 0.1 + spread[1]


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("n", [100, 250, 1_000])
def test_the_gain_out_of_fold_is_unbiased_with_all_candidates(world, n):
    (honest, _), spread = bias(world, n, 5, 500, None)
    assert abs(honest) <= 0.1 + spread[0]


def test_the_calibrator_of_the_fit_is_that_of_a_fit_alone():
    p, y = predictions(300, 2.0)
    record = read(p, y)
    found = cross_fit(cb.AutoCalibrator(methods=CHEAP), record)
    alone = cb.AutoCalibrator(methods=CHEAP).fit(p, y)
    np.testing.assert_array_equal(found.fitted.predict_proba(p), alone.predict_proba(p))
    assert found.fold_fits == "pairs"
    assert np.bincount(found.folds).tolist() == [30] * 10
    np.testing.assert_allclose(found.result.sum(axis=1), 1.0, atol=1e-9)
    assert not np.allclose(found.result, alone.predict_proba(p))


def test_other_calibrators_and_a_number_of_folds_mean_fits_without_each():
    record = read(*predictions(300, 2.0))
    for calibrator, n_splits in ((cb.TemperatureScaling(), None), (cb.AutoCalibrator(), 3)):
        found = cross_fit(calibrator, record, n_splits=n_splits)
        assert (found.fold_fits, found.fitted) == ("refits", None)
        again, _ = out_of_fold(calibrator, record, n_splits=n_splits or 5)
        np.testing.assert_array_equal(found.result, again)


@pytest.mark.parametrize("n", [400, 3_000])
def test_tied_rows_are_in_folds_of_their_own(n):
    p, y = predictions(n, 2.0, step=0.5)
    pieces = canonical(read(p, y))
    assert (np.bincount(pieces.piece, minlength=len(pieces.row)) <= 1 + n // 1_000).all()
    np.testing.assert_array_equal(pieces.labels[pieces.piece], y)
    np.testing.assert_allclose(
        pieces.record.probabilities[pieces.row[pieces.piece], 1], p, atol=1e-7
    )
    found = cross_fit(cb.AutoCalibrator(methods=CHEAP), read(p, y))
    assert np.isfinite(found.result).all()
    tied = read(p, y, sample_weight=np.arange(n) % 3 + 1.0)
    assert cross_fit(cb.AutoCalibrator(methods=CHEAP), tied).fold_fits == "refits"


def test_weights_without_ties_are_no_obstacle():
    p, y = predictions(300, 2.0)
    record = read(p, y, sample_weight=np.arange(300) % 3 + 1.0)
    assert cross_fit(cb.AutoCalibrator(methods=CHEAP), record).fold_fits == "pairs"


@pytest.mark.parametrize("evidence", [150, 20_000])
def test_folds_keep_clusters_whole(monkeypatch, evidence):
    monkeypatch.setattr(auto, "EVIDENCE_ROWS", evidence)
    p, y = predictions(600, 2.0)
    cluster = np.repeat(np.arange(150), 4)
    found = cross_fit(cb.AutoCalibrator(methods=CHEAP), in_clusters(read(p, y), cluster))
    assert found.fold_fits == ("halves" if evidence == 150 else "pairs")
    assert all(len(np.unique(found.folds[cluster == c])) == 1 for c in range(150))


def test_many_rows_are_chosen_for_by_the_other_half(monkeypatch):
    monkeypatch.setattr(auto, "EVIDENCE_ROWS", 400)
    p, y = predictions(4_000, 2.0)
    found = cross_fit(cb.AutoCalibrator(), read(p, y))
    assert found.fold_fits == "halves"
    assert np.bincount(found.folds).tolist() == [2_000, 2_000]
    nested, _ = out_of_fold(cb.AutoCalibrator(), read(p, y))
    loss = [-np.log(Q[np.arange(4_000), y]).mean() for Q in (found.result, nested)]
    assert loss[0] == pytest.approx(loss[1], abs=0.003)


def test_middling_numbers_of_rows_are_extrapolated_to():
    p, y = predictions(2_500, 2.0)
    found = cross_fit(cb.AutoCalibrator(), read(p, y))
    assert found.fold_fits == "extrapolated"
    found = fits(read(p, y), np.random.default_rng(0).integers(0, 5, 2_500), CHEAP)
    far, near = (
        [weights[-len(CHEAP) :] for weights, _ in found.choices(kind)[1]]
        for kind in ("pairs", "extrapolated")
    )
    np.testing.assert_allclose(far, near, atol=0.02)


def test_soft_labels_and_few_rows_mean_fits_without_each_fold():
    p, y = predictions(60)
    assert cross_fit(cb.AutoCalibrator(), read(p[:15], y[:15])).fold_fits == "refits"
    soft = read(p, SoftLabels(p), soft=True)
    assert cb.AutoCalibrator().fit_out_of_fold(soft) is None
    with pytest.raises(InputError, match="policy"):
        cross_fit(cb.AutoCalibrator(policy="none"), read(p, y))


def test_without_the_only_event_the_class_rates_are_all_that_is_left():
    p, _ = predictions(120)
    y = (np.arange(120) == 7).astype(int)
    record = read(p, y)
    found = fits(record, np.random.default_rng(0).integers(0, 4, 120), [*CHEAP, "class rates"])
    k = found.held_out.folds[found.pieces.piece][7]
    _, choices = found.choices("pairs")
    assert len(choices[k][0]) == 2
    assert all(len(weights) > 2 for j, (weights, _) in enumerate(choices) if j != k)
