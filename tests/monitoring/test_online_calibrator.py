"""A calibrator that learns on: batches, rows one by one, saving, dictionaries, promises, errors."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit, softmax

import calibrant as cb
from calibrant.calibrators import Beta, Isotonic, Platt, VectorScaling
from calibrant.errors import InputError
from calibrant.testing.check import check_guarantee, saved_copies

OPTIONS = [
    {},
    {"base": Beta()},
    {"base": Isotonic()},
    {"base": cb.TemperatureScaling()},
    {"base": VectorScaling()},
    {"half_lives": (200,), "calibeating": "brier", "n_bins": 7},
    {"calibeating": "log_loss"},
]


def stream(n=1_500, seed=0):
    """Probabilities whose outcomes become twice as likely, in odds, half-way."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.5, 1.5, n)
    shift = np.where(np.arange(n) < n // 2, 0.0, 1.5)
    return expit(x), (rng.random(n) < expit(0.8 * x + shift)).astype(int)


def loss(y, q):
    return float(-np.log(np.where(y > 0, q, 1.0 - q)).mean())


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_batches_do_not_matter_and_order_does(options):
    p, y = stream(900)
    whole = cb.OnlineCalibrator(**options)
    before = whole.run(p, y)
    parts, ends = cb.OnlineCalibrator(**options), [0, 1, 8, 20, 300, 364, 900]
    found = [parts.run(p[a:b], y[a:b]) for a, b in pairwise(ends)]
    np.testing.assert_allclose(np.concatenate(found), before, rtol=0.0, atol=1e-12)
    fitted = cb.OnlineCalibrator(**options).fit(p[:700], y[:700]).partial_fit(p[700:], y[700:])
    one = cb.OnlineCalibrator(**options).partial_fit(p[:600], y[:600])
    for each, label, expected in zip(p[600:], y[600:], before[600:, 1], strict=True):
        assert one.predict_one(each) == pytest.approx(expected, abs=1e-12)
        one.learn_one(each, label)
    for other in (parts, fitted, one):
        assert other.n_ == whole.n_ == 900
        for name, value in whole.state_.items():
            assert np.array_equal(value, other.state_[name]), name
    back = cb.OnlineCalibrator(**options).fit(p[::-1], y[::-1])
    assert not np.array_equal(back.predict_proba(p), whole.predict_proba(p))


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_saved_state_goes_on_with_the_same_bits(options):
    p, y = stream(700)
    cal = cb.OnlineCalibrator(**options).fit(p[:333], y[:333])
    copies = [copy for _, copy in saved_copies(cal)]
    size = {name: value.size for name, value in cal.state_.items() if name not in "xy"}
    later = cal.run(p[333:], y[333:])
    for copy in copies:
        assert np.array_equal(copy.run(p[333:], y[333:]), later)
    assert size == {name: cal.state_[name].size for name in size}
    assert cal.state_["x"].shape[1] < 64


def test_it_follows_a_change_and_loses_nothing_without_one():
    for seed in range(3):
        p, y = stream(6_000, seed)
        online = cb.OnlineCalibrator().run(p, y)[:, 1]
        half = slice(3_000, None)
        fixed = Platt().fit(p[:3_000], y[:3_000]).predict(p)
        refit = Platt().fit(p[half], y[half]).predict(p)
        # The last one knows the rows that it is judged on.
        gain = loss(y[half], fixed[half]) - loss(y[half], refit[half])
        assert loss(y[half], fixed[half]) - loss(y[half], online[half]) > 0.85 * gain
        still = slice(1_000, 3_000)
        assert loss(y[still], online[still]) < loss(y[still], fixed[still]) + 0.004


def test_ten_classes_follow_a_change_of_their_rates():
    rng, n = np.random.default_rng(0), 4_000
    z = rng.normal(0.0, 2.0, (n, 10))
    shift = np.where(np.arange(n)[:, None] < n // 2, 0.0, np.linspace(-1.0, 1.0, 10))
    truth = softmax(z + shift, axis=1)
    y = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    found = cb.OnlineCalibrator(inputs="logit").run(z, y)
    at, late = np.arange(n), slice(3_000, None)
    excess = np.log(truth[at, y]) - np.log(found[at, y])
    raw = np.log(truth[at, y]) - np.log(softmax(z, axis=1)[at, y])
    assert excess[late].mean() < 0.25 * raw[late].mean()
    assert excess[: n // 2].mean() < 0.01


def test_fitted_bases_are_the_start():
    p, y = stream()
    probabilities = np.column_stack([1.0 - p, p])
    for base in (Platt(), Beta(), Isotonic()):
        base.fit(p, y)
        cal = cb.OnlineCalibrator(base)
        found = [cal.predict_one(each) for each in p[:20]]
        # Steps of an isotonic fit are smoothed over a fifth of a unit of log-odds.
        assert np.abs(found - base.predict(p[:20])).mean() < 0.02, base
        wrapped = cb.OneVsRest(type(base)()).fit(probabilities, y)
        assert cb.OnlineCalibrator(wrapped).predict_one(p[0]) == pytest.approx(found[0])
    assert cb.OnlineCalibrator(cb.OneVsRest()).fit(p, y).kind_ == "beta"
    for base in (cb.TemperatureScaling(), VectorScaling()):
        base.fit(probabilities, y)
        found = [cb.OnlineCalibrator(base).predict_one(each) for each in p[:20]]
        assert found == pytest.approx(base.predict_proba(p[:20])[:, 1], abs=1e-6), base
    # Without a fit the predictions themselves are.
    assert cb.OnlineCalibrator().predict_one(0.3) == pytest.approx(0.3)


def test_dictionaries_as_of_river():
    p, y = stream(300)
    numbers, named = cb.OnlineCalibrator(), cb.OnlineCalibrator()
    before = named.predict_one({"no": 0.7, "yes": 0.3})
    assert before == pytest.approx({"no": 0.7, "yes": 0.3})
    for each, label in zip(p, y, strict=True):
        numbers.learn_one(each, bool(label))
        named.learn_one({"no": 1.0 - each, "yes": each}, "yes" if label else "no")
    assert named.classes_.tolist() == ["no", "yes"]
    assert named.predict_one({"yes": 0.4, "no": 0.6})["yes"] == numbers.predict_one(0.4)
    assert named.predict_proba([0.4])[0, 1] == numbers.predict_one(0.4)
    assert named.predict([0.01]).tolist() == ["no"]
    # A class without a probability so far has none.
    assert named.predict_one({"no": 1.0}) == named.predict_one({"no": 1.0, "yes": 0.0})
    many = cb.OnlineCalibrator(classes=["a", "b", "c"]).learn_one({"a": 1.0}, "c")
    assert sum(many.predict_one({"b": 0.5, "a": 0.5}).values()) == pytest.approx(1.0)
    with pytest.raises(InputError, match=r"p must have the classes \['no', 'yes'\]"):
        named.learn_one({"no": 0.5, "perhaps": 0.5}, "no")
    with pytest.raises(InputError, match="p must have the classes"):
        cb.OnlineCalibrator(inputs="logit", classes=["a", "b"]).learn_one({"a": 1.0}, "a")


def test_class_without_labels_keeps_its_probability():
    rng, n = np.random.default_rng(0), 3_000
    P = rng.dirichlet(np.ones(4), n)
    P[:, 3] *= 0.05
    P /= P.sum(axis=1, keepdims=True)
    y = (P[:, :3] / P[:, :3].sum(axis=1, keepdims=True)).cumsum(axis=1)
    cal = cb.OnlineCalibrator().fit(P, (y < rng.random((n, 1))).sum(axis=1))
    found = cal.predict_proba(P)[:, 3]
    assert (found > 0.0).all()
    assert found.mean() < P[:, 3].mean()
    for _ in range(100):
        cal.learn_one({0: 0.3, 1: 0.3, 2: 0.35, 3: 0.05}, 3)
    assert cal.predict_one({0: 0.3, 1: 0.3, 2: 0.35, 3: 0.05})[3] > 0.5


def test_weights_repeat_rows():
    p, y = stream(200)
    weight = np.random.default_rng(0).integers(0, 3, 200)
    weighted = cb.OnlineCalibrator().partial_fit(p, y, sample_weight=weight)
    repeated = cb.OnlineCalibrator().fit(np.repeat(p, weight), np.repeat(y, weight))
    assert np.array_equal(weighted.predict_proba(p), repeated.predict_proba(p))
    fresh = cb.OnlineCalibrator()
    with pytest.raises(InputError, match="whole numbers"):
        fresh.partial_fit(p, y, sample_weight=np.full(200, 0.5))
    assert fresh.predict_one(0.3) == pytest.approx(0.3)
    with pytest.raises(InputError, match="whole numbers"):
        weighted.partial_fit(p, y, sample_weight=np.full(200, 0.5))


@pytest.mark.parametrize("rule", [None, "brier", "log_loss"])
def test_promises_hold_on_a_sequence_against_the_forecasts(rule):
    realised = []
    for seed in range(2):
        cal, rng = cb.OnlineCalibrator(calibeating=rule, n_bins=10), np.random.default_rng(seed)
        raw = cb.OnlineCalibrator()
        q, before, y = np.empty(400), np.empty(400), np.empty(400)
        p = rng.uniform(0.2, 0.8, 400)
        for t, each in enumerate(p):
            q[t], before[t] = cal.predict_one(each), raw.predict_one(each)
            y[t] = float(q[t] < 0.5)
            cal.learn_one(each, int(y[t]))
            raw.learn_one(each, int(y[t]))
        place = np.minimum((before * 10).astype(int), 9)
        rows = np.maximum(np.bincount(place, minlength=10), 1)
        rate = (np.bincount(place, y, 10) / rows)[place]
        if rule == "brier":
            realised.append(np.mean((q - y) ** 2 - (rate - y) ** 2))
        elif rule == "log_loss":
            realised.append(loss(y, q) - loss(y, np.clip(rate, 1e-12, 1.0 - 1e-12)))
        else:
            realised.append(loss(y, q) - loss(y, p))
    promise = cal.guarantee()
    assert promise.guarantee == "long run"
    assert promise.n == 400
    check_guarantee(promise, realised)
    assert max(realised) <= promise.most


@pytest.mark.parametrize("options", OPTIONS[:5], ids=repr)
def test_hard_streams_keep_the_bound_to_the_start(options):
    rng, n = np.random.default_rng(0), 1_500
    for spread in (1.0, 30.0):
        p = expit(rng.normal(0.0, spread, n))
        p[:: n // 10] = np.round(p[:: n // 10])
        half = np.where(np.arange(n) < n // 2, p > 0.5, p < 0.5)
        for y in (p > 0.5, half, np.ones(n), np.arange(n) // 70 % 2):
            cal = cb.OnlineCalibrator(**options)
            q = cal.run(p, y.astype(int))[:, 1]
            assert (q > 0.0).all()
            assert (q < 1.0).all()
            # Steps between the centres of isotonic cells blur its start a little.
            slack = 5e-3 if "base" in options and isinstance(options["base"], Isotonic) else 1e-9
            excess = loss(y, q) - loss(y, np.clip(p, 1e-6, 1.0 - 1e-6))
            assert excess <= cal.guarantee().most + slack


def test_a_reversed_ranking_is_turned_round():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 3_000)
    cal = cb.OnlineCalibrator().fit(p, (rng.random(3_000) > p).astype(int))
    assert cal.predict_one(0.9) == pytest.approx(0.1, abs=0.05)
    assert cal.weight_[0] < 1e-6
    assert "3,000 rows learnt" in cal.explain()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": "platt"}, "base must be"),
        ({"base": Platt(scale="probability")}, "base must be"),
        ({"base": Beta(parameters="am")}, "base must be"),
        ({"half_lives": ()}, "half_lives must be"),
        ({"half_lives": 100}, "half_lives must be"),
        ({"half_lives": (100, 0)}, "half_lives must be"),
        ({"calibeating": "mean"}, "calibeating must be"),
        ({"n_bins": 0}, "n_bins must be"),
    ],
)
def test_wrong_options_are_refused(options, message):
    p, y = stream(20)
    with pytest.raises(InputError, match=message):
        cb.OnlineCalibrator(**options).fit(p, y)


def test_wrong_rows_are_refused_and_change_nothing():
    p, y = stream(50)
    cal = cb.OnlineCalibrator().fit(p, y)
    before = cal.predict_proba(p)
    for bad, label in ((1.2, 1), (np.nan, 0), (0.5, None), (0.5, 2)):
        with pytest.raises(InputError):
            cal.learn_one(bad, label)
    with pytest.raises(InputError):
        cal.partial_fit(p, y[:-1])
    assert np.array_equal(cal.predict_proba(p), before)
    P = np.full((4, 3), 1.0 / 3.0)
    for options in ({"base": Isotonic()}, {"calibeating": "brier"}):
        with pytest.raises(InputError):
            cb.OnlineCalibrator(**options).fit(P, [0, 1, 2, 0])


def test_a_row_of_classes_gives_all_their_probabilities_and_names_stay_plain():
    P = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    online = cb.OnlineCalibrator(classes=list("abc")).fit(
        P, np.array(list("abc"))[P.argmax(axis=1)]
    )
    assert online.predict_one(P[0]) == online.predict_proba(P[:1])[0].tolist()
    found = online.predict_one(dict(zip("abc", P[0].tolist(), strict=True)))
    assert list(found.values()) == online.predict_one(P[0])
    told = cb.OnlineCalibrator().learn_one({False: 0.3, True: 0.7}, True)
    assert {type(one) for one in told.predict_one({False: 0.3, True: 0.7})} == {bool}


@pytest.mark.parametrize("base", [cb.TemperatureScaling(), VectorScaling()])
def test_calibeating_refuses_bases_of_several_classes_and_a_row_must_have_some(base):
    with pytest.raises(InputError, match="base must be Platt"):
        cb.OnlineCalibrator(base, calibeating="brier").fit([0.2, 0.7], [0, 1])
    with pytest.raises(InputError, match="p must have the classes"):
        cb.OnlineCalibrator(base).predict_one({})
