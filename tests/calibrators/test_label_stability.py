"""The signal: choice of the scale, laws, sampling, transformations of the input and the mix."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.standard_normal((1500, 8))
    truth = logits + 1.5 * rng.gumbel(size=logits.shape)
    return logits, truth.argmax(axis=1)


def shake(X, rng):
    return X + 0.8 * rng.standard_normal(X.shape)


def as_logits(X):
    return X


def test_only_differences_of_logits_matter(predictions):
    logits, y = predictions
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    from_logits = cb.calibrators.LabelStability(inputs="logit").fit(logits, y)
    from_shifted = cb.calibrators.LabelStability(inputs="logit").fit(logits + 7.0, y)
    from_probabilities = cb.calibrators.LabelStability().fit(P, y)
    for other, given in ((from_shifted, logits + 7.0), (from_probabilities, P)):
        assert other.scale_ == pytest.approx(from_logits.scale_, rel=1e-9)
        np.testing.assert_allclose(other.score(given), from_logits.score(logits), atol=1e-9)


def test_the_chosen_scale_follows_the_units_of_the_logits(predictions):
    logits, y = predictions
    one, other = (
        cb.calibrators.LabelStability(inputs="logit").fit(logits, y),
        cb.calibrators.LabelStability(inputs="logit").fit(100.0 * logits, y),
    )
    assert other.scale_ == pytest.approx(100.0 * one.scale_)
    np.testing.assert_allclose(other.score(100.0 * logits), one.score(logits), atol=1e-9)


@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_auto_takes_the_scale_of_largest_spread(predictions, noise):
    logits, y = predictions
    signal = cb.calibrators.LabelStability(inputs="logit", noise=noise).fit(logits, y)
    correct = (logits.argmax(axis=1) == y) * 1.0
    spreads = []
    for scale in signal.scales_:
        gamma = (
            cb.calibrators.LabelStability(inputs="logit", noise=noise, scale=scale)
            .fit(logits)
            .score(logits)
        )
        alpha = (correct @ gamma) / gamma.sum()
        beta = (correct @ (1.0 - gamma)) / (1.0 - gamma).sum()
        spreads.append((alpha * gamma + beta * (1.0 - gamma)).std())
    np.testing.assert_allclose(signal.spread_, spreads, atol=1e-3)
    assert max(spreads) - spreads[list(signal.scales_).index(signal.scale_)] < 1e-3
    assert 0 < list(signal.scales_).index(signal.scale_) < len(signal.scales_) - 1


def test_weights_mean_repetition_in_the_choice_of_scale(predictions):
    logits, y = predictions
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = cb.calibrators.LabelStability(inputs="logit").fit(logits, y, sample_weight=weight)
    repeated = cb.calibrators.LabelStability(inputs="logit").fit(
        np.repeat(logits, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(weighted.scales_, repeated.scales_, rtol=1e-12)
    np.testing.assert_allclose(weighted.spread_, repeated.spread_, atol=1e-10)


@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_sampled_is_near_exact_and_the_same_every_time(predictions, noise):
    logits, y = predictions
    exact = (
        cb.calibrators.LabelStability(inputs="logit", noise=noise, scale=2.0)
        .fit(logits, y)
        .score(logits)
    )
    sampled = cb.calibrators.LabelStability(
        inputs="logit", noise=noise, scale=2.0, method="sampled", n_draws=2000
    ).fit(logits, y)
    assert np.abs(sampled.score(logits) - exact).max() < 4.5 * 0.5 / np.sqrt(2000)
    np.testing.assert_array_equal(sampled.score(logits), sampled.score(logits))
    np.testing.assert_array_equal(sampled.score(logits)[:5], sampled.score(logits[:5]))


def test_sampled_search_finds_the_exact_scale_or_its_neighbour(predictions):
    logits, y = predictions
    exact = cb.calibrators.LabelStability(inputs="logit").fit(logits, y)
    sampled = cb.calibrators.LabelStability(inputs="logit", method="sampled", n_draws=300).fit(
        logits, y
    )
    assert 0.7 < sampled.scale_ / exact.scale_ < 1.5


def test_more_noise_is_never_more_stable(predictions):
    logits, _ = predictions
    scores = [
        cb.calibrators.LabelStability(inputs="logit", scale=s).score(logits)
        for s in (0.1, 0.5, 1.0, 2.0, 8.0)
    ]
    assert (np.diff(scores, axis=0) <= 1e-9).all()


def test_rows_without_a_gap_have_a_scale_too():
    signal = cb.calibrators.LabelStability().fit(np.full((6, 4), 0.25), [0, 1, 2, 3, 0, 1])
    np.testing.assert_allclose(signal.score(np.full((2, 4), 0.25)), 0.25, atol=1e-9)


def test_input_noise_equals_logit_noise_for_a_model_that_passes_inputs_on(predictions):
    logits, y = predictions
    moved = cb.calibrators.LabelStability(
        inputs="logit", transform=shake, model=as_logits, n_draws=2000
    ).fit(logits, y, X=logits)
    exact = cb.calibrators.LabelStability(inputs="logit", scale=0.8).score(logits)
    gamma = moved.score(logits, X=logits)
    assert np.abs(gamma - exact).max() < 5.0 * 0.5 / np.sqrt(2000)
    assert moved.tags.uses_features
    assert moved.tags.random


def test_the_mix_of_input_and_logit_noise_adds_their_variances(predictions):
    logits, y = predictions[0][:300], predictions[1][:300]
    mix = cb.calibrators.LabelStability(
        inputs="logit", noise="gaussian", scale=0.6, transform=shake, model=as_logits, n_draws=200
    )
    gamma = mix.fit(logits, y, X=logits).score(logits, X=logits)
    exact = cb.calibrators.LabelStability(inputs="logit", scale=1.0).score(
        logits
    )  # 0.6^2 + 0.8^2 = 1
    assert np.abs(gamma - exact).max() < 5.0 * 0.5 / np.sqrt(200)
    chosen = cb.calibrators.LabelStability(
        inputs="logit", noise="gaussian", transform=shake, model=as_logits, n_draws=5
    ).fit(logits, y, X=logits)
    assert chosen.scale_ in chosen.scales_


def test_a_model_with_predict_proba_serves_a_whole_calibrator():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    X = rng.standard_normal((600, 3))
    y = (X + rng.standard_normal(X.shape)).argmax(axis=1)
    model = LogisticRegression().fit(X, y)
    P = model.predict_proba(X)
    for calibrator in (
        cb.ConfidenceCalibrator(
            signal=cb.calibrators.LabelStability(transform=shake, model=model, n_draws=30)
        ),
        cb.calibrators.HokiCalibrator(
            signal=cb.calibrators.LabelStability(transform=shake, model=model, n_draws=30)
        ),
    ):
        calibrator.fit(P, y, X=X)
        confidence = calibrator.predict_confidence(P, X=X)
        correct = P.argmax(axis=1) == y
        assert confidence.mean() == pytest.approx(correct.mean(), abs=0.01)
        assert confidence[correct].mean() > confidence[~correct].mean()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"noise": "cauchy"}, "noise"),
        ({"method": "guess"}, "method"),
        ({"scale": 0.0}, "scale"),
        ({"scale": "wide"}, "scale"),
        ({"n_draws": 0}, "n_draws"),
        ({"search_rows": 0}, "search_rows"),
        ({"transform": shake}, "model"),
    ],
)
def test_options_out_of_range_are_refused(options, word):
    with pytest.raises(InputError, match=word):
        cb.calibrators.LabelStability(**options).fit([[0.9, 0.1], [0.3, 0.7]], [0, 1])


def test_features_are_asked_for():
    with pytest.raises(InputError, match="X="):
        cb.calibrators.LabelStability(transform=shake, model=as_logits).fit(
            [[0.9, 0.1], [0.3, 0.7]], [0, 1]
        )


@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
@pytest.mark.parametrize("n_classes", [2, 4, 40])
def test_the_curve_of_one_row_is_the_share_of_noise_draws(noise, n_classes):
    rng = np.random.default_rng(n_classes)
    row, draws = 1.5 * rng.standard_normal((1, n_classes)), 100_000
    signal = cb.calibrators.LabelStability(inputs="logit", noise=noise, scale=1.0)
    found = signal.stability_curve(row, scales=[0.2, 1.0, 4.0], n_classes=n_classes)
    assert found.classes.tolist() == np.argsort(-row[0]).tolist()
    np.testing.assert_allclose(found.probability.sum(axis=1), 1.0, atol=1e-5)
    for scale, probability in zip(found.scale, found.probability, strict=True):
        noise_drawn = (
            rng.standard_normal((draws, n_classes))
            if noise == "gaussian"
            else rng.random((draws, n_classes))
        )
        winner = (row + scale * noise_drawn).argmax(axis=1)
        share = np.bincount(winner, minlength=n_classes)[found.classes] / draws
        np.testing.assert_allclose(probability, share, atol=5.0 * np.sqrt(0.25 / draws))


def test_the_curve_holds_the_score_and_falls(predictions):
    logits, y = predictions
    signal = cb.calibrators.LabelStability(inputs="logit").fit(logits, y)
    for row in (3, 70):
        found = signal.stability_curve(logits[[row]])
        np.testing.assert_array_equal(found.scale, signal.scales_)
        kept, gaining = found.probability[:, 0], found.probability[:, 1]
        assert kept[found.scale == signal.scale_] == pytest.approx(signal.score(logits[[row]]))
        assert (np.diff(kept) <= 1e-9).all()
        assert (kept >= gaining - 1e-9).all()
        assert (gaining[:, None] >= found.probability[:, 2:] - 1e-9).all()
        assert found.classes[0] == logits[row].argmax()


def test_the_curve_without_a_search_lies_about_the_scale_and_sampling_is_near(predictions):
    logits, y = predictions
    exact = cb.calibrators.LabelStability(inputs="logit", scale=2.0).fit(logits, y)
    drawn = cb.calibrators.LabelStability(
        inputs="logit", scale=2.0, method="sampled", n_draws=20_000
    )
    one, other = (each.fit(logits, y).stability_curve(logits[[0]]) for each in (exact, drawn))
    assert one.scale[0] < 2.0 < one.scale[-1]
    np.testing.assert_allclose(one.probability, other.probability, atol=0.02)


def test_the_curve_refuses_several_rows_transforms_and_an_unfitted_search(predictions):
    logits, _ = predictions
    signal = cb.calibrators.LabelStability(inputs="logit", scale=1.0)
    with pytest.raises(InputError, match="needs one row"):
        signal.stability_curve(logits[:2])
    moved = cb.calibrators.LabelStability(inputs="logit", transform=shake, model=as_logits)
    with pytest.raises(InputError, match="without transform"):
        moved.stability_curve(logits[:1])
    with pytest.raises(ValueError, match="not fitted"):
        cb.calibrators.LabelStability(inputs="logit").stability_curve(logits[:1])


@pytest.fixture(scope="module")
def many():
    """3,000 rows of 20 classes, a network that is too sure."""
    rng = np.random.default_rng(7)
    logits = 3.0 * rng.standard_normal((3000, 20))
    return logits, (logits + 2.0 * rng.gumbel(size=logits.shape)).argmax(axis=1)


@pytest.mark.parametrize(
    ("options", "count"),
    [({}, 3000), ({"noise": "uniform"}, 3000), ({"method": "sampled", "n_draws": 20}, 1200)],
)
def test_the_width_from_some_rows_is_that_of_all(many, options, count):
    logits, y = (a[:count] for a in many)
    some = cb.calibrators.LabelStability(inputs="logit", search_rows=300, **options).fit(logits, y)
    every = cb.calibrators.LabelStability(inputs="logit", search_rows=None, **options).fit(
        logits, y
    )
    assert some.scale_ == every.scale_
    best = int(np.flatnonzero(every.scales_ == every.scale_)[0])
    near = slice(best - 1, best + 2)
    np.testing.assert_allclose(some.spread_[near], every.spread_[near], atol=1e-4)
    assert 0.0 < np.abs(some.spread_ - every.spread_).max() < 0.02


def test_all_rows_are_tried_at_few_widths(many, monkeypatch):
    from calibrant._numerics import label_stability as kernel

    tried, sums = [], kernel.spread_sums

    def counted(logits, predicted, correct, weight, scales, noise):
        tried.append((len(logits), len(scales)))
        return sums(logits, predicted, correct, weight, scales, noise)

    monkeypatch.setattr(kernel, "spread_sums", counted)
    logits, y = many
    cb.calibrators.LabelStability(inputs="logit").fit(logits, y)
    assert tried[0] == (1000, 17)
    assert {n for n, _ in tried[1:]} == {3000}
    assert 3 <= sum(widths for _, widths in tried[1:]) <= 5
    tried.clear()
    cb.calibrators.LabelStability(inputs="logit", search_rows=None).fit(logits, y)
    assert tried == [(3000, 17)]


def test_the_search_climbs_where_its_rows_mislead(many):
    """One row says nothing about the width; all rows do, neighbour by neighbour."""
    logits, y = many
    one = cb.calibrators.LabelStability(inputs="logit", search_rows=1).fit(logits, y)
    every = cb.calibrators.LabelStability(inputs="logit", search_rows=None).fit(logits, y)
    assert one.scale_ == every.scale_


def test_weights_mean_repetition_in_the_rows_of_the_search(many):
    logits, y = many
    weight = np.random.default_rng(3).integers(0, 3, len(y))
    options = {"inputs": "logit", "search_rows": 500}
    weighted = cb.calibrators.LabelStability(**options).fit(logits, y, sample_weight=weight)
    repeated = cb.calibrators.LabelStability(**options).fit(
        np.repeat(logits, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(weighted.spread_, repeated.spread_, atol=1e-10)
    assert weighted.scale_ == pytest.approx(repeated.scale_, rel=1e-12)


def test_the_order_of_the_rows_does_not_matter_to_the_search(many):
    logits, y = many
    order = np.random.default_rng(5).permutation(len(y))
    one = cb.calibrators.LabelStability(inputs="logit").fit(logits, y)
    other = cb.calibrators.LabelStability(inputs="logit").fit(logits[order], y[order])
    assert one.scale_ == other.scale_
    np.testing.assert_allclose(one.spread_, other.spread_, atol=1e-10)


@pytest.mark.parametrize("labels", ["none", "all right", "one wrong"])
def test_a_search_without_wrong_rows_takes_the_spread_of_the_stability(many, labels):
    logits, _ = many
    y = logits.argmax(axis=1)
    if labels == "one wrong":
        y[7] = logits[7].argmin()
    given = () if labels == "none" else (y,)
    some, every = (
        cb.calibrators.LabelStability(inputs="logit", search_rows=rows).fit(logits, *given)
        for rows in (300, None)
    )
    assert some.scale_ == every.scale_
