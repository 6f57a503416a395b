import numpy as np
import pytest
from sklearn.base import clone

import calibrant as cb
from calibrant import ConformalSets
from calibrant.errors import InputError, SparseDataWarning
from calibrant.testing import check_guarantee


def drawn(n, n_classes, seed=0, spread=2.0, over=1.0):
    """Labels drawn from softmax(spread z), said as softmax(over spread z)."""
    rng = np.random.default_rng(seed)
    logits = spread * rng.normal(size=(n, n_classes))
    P, said = (_softmax(z) for z in (logits, over * logits))
    return said, (P.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(0, n_classes - 1)


def _softmax(logits):
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def coverage(found, y):
    return found[np.arange(len(y)), y].mean()


def test_lac_by_hand():
    P = [
        [0.9, 0.1],
        [0.8, 0.2],
        [0.7, 0.3],
        [0.6, 0.4],
        [0.5, 0.5],
        [0.6, 0.4],
        [0.7, 0.3],
        [0.8, 0.2],
        [0.9, 0.1],
    ]
    sets = ConformalSets(level=0.8).fit(P, [0] * 9)
    # The 8th of 9 scores .1 .1 .2 .2 .3 .3 .4 .4 .5 is .4: classes of probability .6 and more.
    assert sets.rule_.held.limits(0.8).tolist() == pytest.approx([0.4])
    assert sets.predict_set([[0.61, 0.39], [0.55, 0.45], [0.3, 0.7]]).tolist() == [
        [True, False],
        [False, False],
        [False, True],
    ]
    assert sets.predict_set([[0.55, 0.45]], level=0.9).tolist() == [[True, False]]
    assert sets.labels([[0.61, 0.39], [0.55, 0.45]]) == [[0], []]


def test_labels_are_those_of_the_columns():
    P, y = drawn(200, 3)
    sets = ConformalSets(classes=["cat", "dog", "owl"]).fit(P, np.array(["cat", "dog", "owl"])[y])
    assert sets.labels([[1.0, 0.0, 0.0]]) == [["cat"]]


@pytest.mark.parametrize("score", ["lac", "aps", "raps", "margin", "top_k", "ordered"])
def test_logits_are_their_probabilities(score):
    P, y = drawn(400, 5)
    one = ConformalSets(score, random_state=1).fit(P, y)
    other = ConformalSets(score, inputs="logit").fit(np.log(P), y)
    if score in ("lac", "margin", "top_k"):
        assert (one.predict_set(P) == other.predict_set(np.log(P))).mean() > 0.999
    assert coverage(other.predict_set(np.log(P)), y) == pytest.approx(
        coverage(one.predict_set(P), y), abs=0.05
    )


def test_the_promise_of_aps_is_exact_on_average():
    covered = []
    for seed in range(200):
        P, y = drawn(400, 6, seed, over=1.5)
        covered.append(
            coverage(
                (sets := ConformalSets("aps").fit(P[:100], y[:100])).predict_set(P[100:]), y[100:]
            )
        )
    check_guarantee(sets.guarantee_, covered)
    assert sets.guarantee_.most == pytest.approx(0.9 + 1 / 101)
    assert np.mean(covered) == pytest.approx(91 / 101, abs=0.006)


@pytest.mark.parametrize(("by", "n"), [("class", 100), ("groups", 100)])
def test_each_class_or_group_is_covered(by, n):
    missed, plain = [], []
    for seed in range(100):
        P, y = drawn(3 * n + 600, 3, seed, over=3.0)
        P = np.where((y == 0)[:, None], P[:, [1, 0, 2]], P)  # a class that the model is poor at
        cut = 3 * n
        given = {"groups": (y == 0).astype(int)} if by == "groups" else {}
        first = {k: v[:cut] for k, v in given.items()}
        sets = ConformalSets(by=by).fit(P[:cut], y[:cut], **first)
        rest = {k: v[cut:] for k, v in given.items()}
        hard = y[cut:] == 0
        missed.append(coverage(sets.predict_set(P[cut:], **rest)[hard], y[cut:][hard]))
        plain.append(
            coverage(
                ConformalSets().fit(P[:cut], y[:cut]).predict_set(P[cut:])[hard], y[cut:][hard]
            )
        )
    check_guarantee(sets.guarantee_, missed)
    assert np.mean(plain) < 0.85


def test_groups_that_overlap_are_all_covered():
    realised = {0: [], 1: [], None: []}
    for seed in range(100):
        P, y = drawn(900, 3, seed)
        rng = np.random.default_rng(seed)
        member = rng.random((900, 2)) < 0.4
        P = np.where(member[:, :1], P[:, ::-1], P)
        sets = ConformalSets("aps", by="overlapping").fit(P[:400], y[:400], groups=member[:400])
        held = sets.predict_set(P[400:], groups=member[400:])[np.arange(500), y[400:]]
        for k in (0, 1):
            realised[k].append(held[member[400:, k]].mean())
        realised[None].append(held.mean())
    for each in realised.values():
        check_guarantee(sets.guarantee_, each)


@pytest.mark.filterwarnings("ignore:.*pass cluster=")
def test_clusters_count_as_one_row_each():
    """Rows of a cluster share their answer: as rows they would promise too much."""
    of_clusters, of_rows = [], []
    for seed in range(300):
        P, y = drawn(40, 4, seed)
        new, truth = drawn(300, 4, 1000 + seed)
        size = np.random.default_rng(seed).choice([1, 30], 40, p=[0.8, 0.2])
        rows = np.repeat(np.arange(40), size)
        sets = ConformalSets(level=0.8).fit(P[rows], y[rows], cluster=rows)
        of_clusters.append(coverage(sets.predict_set(new), truth))
        of_rows.append(
            np.var(
                ConformalSets(level=0.8)
                .fit(P[rows], y[rows])
                .predict_set(new)[np.arange(300), truth]
                .mean()
            )
        )
    assert sets.guarantee_.n == 40
    assert sets.guarantee_.unit == "clusters"
    check_guarantee(sets.guarantee_, of_clusters)
    alone = ConformalSets(level=0.8).fit(P, y)
    assert (alone.predict_set(new) == sets.predict_set(new)).all()


def test_no_certificate_on_the_rows_of_the_calibrator():
    """Matrix scaling on 300 rows of 20 classes: as if its own rows were new, its sets cover half
    of what they say.
    """
    fooled, honest = [], []
    for seed in range(8):
        P, y = drawn(2300, 20, seed)
        weak = cb.calibrators.MatrixScaling(ridge=0.01, off_diagonal=0.01)
        own = weak.fit(P[:300], y[:300])
        fooled.append(
            coverage(
                ConformalSets(calibrator=own).fit(P[:300], y[:300]).predict_set(P[300:]), y[300:]
            )
        )
        sets = ConformalSets(calibrator=clone(weak)).fit(P[:300], y[:300])
        honest.append(coverage(sets.predict_set(P[300:]), y[300:]))
    assert sets.split_ == {"calibrator": 150.0, "certificate": 150.0}
    assert sets.guarantee_.n == 150
    assert np.mean(fooled) < 0.75
    check_guarantee(sets.guarantee_, honest)


def test_a_fitted_calibrator_is_used_as_it_is():
    P, y = drawn(600, 4, over=2.0)
    cal = cb.TemperatureScaling().fit(P[:200], y[:200])
    sets = ConformalSets(calibrator=cal).fit(P[200:], y[200:])
    plain = ConformalSets().fit(cal.predict_proba(P[200:]), y[200:])
    assert (sets.predict_set(P) == plain.predict_set(cal.predict_proba(P))).all()
    assert "on none of which the calibrator was fitted" in sets.guarantee_.assumes
    with pytest.raises(InputError, match="fitted on 4 classes but P has 5"):
        ConformalSets(calibrator=cal).fit(*drawn(50, 5))


def test_a_map_is_one_against_the_rest():
    P, y = drawn(600, 3, over=2.0)
    assert coverage(ConformalSets(calibrator=cb.Isotonic()).fit(P, y).predict_set(P), y) > 0.85


def test_the_calibrator_never_shares_a_cluster_with_the_certificate():
    P, y = drawn(400, 3)
    sets = ConformalSets(calibrator=cb.TemperatureScaling()).fit(P, y, cluster=np.arange(400) // 4)
    assert sets.split_ == {"calibrator": 200.0, "certificate": 200.0}
    assert sets.guarantee_.n == 50


def test_few_rows_promise_by_saying_nothing():
    P, y = drawn(8, 3)
    with pytest.warns(SparseDataWarning, match="too few, 8 for a level of 0.9"):
        sets = ConformalSets().fit(P, y)
    assert sets.predict_set(P).all()
    assert sets.guarantee_.most is None
    P, y = drawn(300, 3)
    y = np.where((y == 2) & (np.cumsum(y == 2) > 5), 0, y)
    with pytest.warns(SparseDataWarning, match=r"some classes have too few rows.*2 \(\d rows\)"):
        sets = ConformalSets(by="class").fit(P, y)
    assert sets.too_few_ == [2]
    assert sets.predict_set(P)[:, 2].all()


def test_rows_of_a_new_group_get_every_class():
    P, y = drawn(300, 3)
    sets = ConformalSets(by="groups").fit(P, y, groups=np.arange(300) % 2)
    with pytest.warns(SparseDataWarning, match="had no rows"):
        found = sets.predict_set(P[:1], groups=[7])
    assert found.all()
    with pytest.warns(SparseDataWarning, match="had no rows"):
        p = sets.p_values(P[:1], groups=[7], smoothed=False)
    assert p.tolist() == [[1.0] * 3]


def test_never_empty_costs_the_share_of_empty_sets():
    P, y = drawn(4000, 4, spread=4.0)
    one, other = (
        ConformalSets("aps", level=0.8, never_empty=n).fit(P[:2000], y[:2000]).predict_set(P[2000:])
        for n in (False, True)
    )
    empty = ~one.any(axis=1)
    assert empty.mean() > 0.02
    assert other.any(axis=1).all()
    assert other.sum() - one.sum() == empty.sum()
    assert (other[empty].argmax(axis=1) == P[2000:][empty].argmax(axis=1)).all()
    assert coverage(other, y[2000:]) >= coverage(one, y[2000:])


def test_without_a_draw_aps_is_larger():
    P, y = drawn(4000, 10, spread=3.0)
    one, other = (
        ConformalSets("aps", randomised=r).fit(P[:2000], y[:2000]).predict_set(P[2000:])
        for r in (True, False)
    )
    assert other.sum() > one.sum()


def test_draws_are_of_the_row_and_the_seed():
    P, y = drawn(3000, 5)
    sets = ConformalSets("aps").fit(P, y)
    assert (sets.predict_set(P[::-1])[::-1] == sets.predict_set(P)).all()
    assert (
        sets.predict_set(P) != ConformalSets("aps", random_state=1).fit(P, y).predict_set(P)
    ).any()


def test_similar_classes_share_their_rows():
    """Forty classes of two kinds, 12 rows each: alone each class would take the largest of its
    scores, or all classes.
    """
    rng = np.random.default_rng(0)
    y = np.tile(np.arange(40), 120)
    P = rng.dirichlet(np.full(40, 0.2), len(y)) * 0.5
    P[np.arange(len(y)), y] += np.where(y < 20, 0.5, 0.2)
    P /= P.sum(axis=1, keepdims=True)
    new = np.arange(len(y)) // 40 % 2 == 0
    own, shared = (
        ConformalSets(by=by).fit(P[~new], y[~new]) for by in ("class", "similar_classes")
    )
    assert 1 < len(shared.rule_.cells) < 12
    assert shared.predict_set(P[new]).sum() < 1.5 * own.predict_set(P[new]).sum()
    found = shared.predict_set(P[new])[np.arange(new.sum()), y[new]]
    assert np.bincount(y[new], weights=found).min() / 60 > 0.7


def test_smoothed_p_values_are_uniform_also_with_ties():
    p = []
    for seed in range(60):
        P, y = drawn(250, 3, seed)
        P = np.round(P, 1) / np.round(P, 1).sum(axis=1, keepdims=True)
        sets = ConformalSets("top_k").fit(P[:50], y[:50])
        p.append(sets.p_values(P[50:], smoothed=True)[np.arange(200), y[50:]])
    for level in (0.1, 0.3, 0.5, 0.8):
        assert np.mean(np.concatenate(p) <= level) == pytest.approx(level, abs=0.03)


def test_parts_of_any_number_make_one_fit():
    P, y = drawn(3000, 6)
    cal = cb.TemperatureScaling().fit(P[:500], y[:500])
    sets = ConformalSets("aps", calibrator=cal, by="class")
    total = sum(sets.state(P[s : s + 500], y[s : s + 500]) for s in range(500, 3000, 500))
    sets.fit_state(total)
    exact = ConformalSets("aps", calibrator=cal, by="class").fit(P[500:], y[500:])
    # The promise of each class rests on its own rows: the fewest.
    assert sets.guarantee_.n == exact.guarantee_.n == np.bincount(y[500:]).min()
    assert (sets.predict_set(P) >= exact.predict_set(P)).all()
    assert (sets.predict_set(P) != exact.predict_set(P)).mean() < 1e-3


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"score": "softmax"}, "score must be"),
        ({"level": 1.5}, "level"),
        ({"penalty": 0.1}, "penalty and k_reg must be passed together"),
        ({"score": "raps", "penalty": 0.1}, "penalty and k_reg must be passed together"),
        ({"fit_share": 1.0}, "fit_share"),
        ({"n_bins": 3}, "n_bins"),
        ({"by": "sex"}, "by must be"),
        ({"calibrator": cb.calibrators.Margin()}, "calibrator must be"),
    ],
)
def test_options_that_cannot_be(options, match):
    with pytest.raises(InputError, match=match):
        ConformalSets(**options).fit(*drawn(50, 3))


def test_what_one_pass_cannot_do():
    for sets in (
        ConformalSets("raps"),
        ConformalSets(calibrator=cb.TemperatureScaling()),
        ConformalSets(by="similar_classes"),
    ):
        with pytest.raises(InputError, match="state fits nothing"):
            sets.state(*drawn(50, 3))


def test_weights_that_are_no_repetitions():
    P, y = drawn(50, 3)
    with pytest.raises(InputError, match="must be whole numbers"):
        ConformalSets().fit(P, y, sample_weight=np.full(50, 1.5))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::calibrant.errors.SparseDataWarning")
@pytest.mark.parametrize("score", ["lac", "aps", "raps", "margin", "top_k"])
@pytest.mark.parametrize("by", [None, "class"])
def test_the_promise_in_many_runs(score, by):
    for n in (25, 100):
        covered = []
        for seed in range(1000):
            P, y = drawn(n + 500, 3, seed, over=2.0)
            sets = ConformalSets(score, by=by).fit(P[:n], y[:n])
            held = sets.predict_set(P[n:])[np.arange(500), y[n:]]
            covered.append(held[y[n:] == 0].mean() if by else held.mean())
        check_guarantee(sets.guarantee_, covered)


def test_the_promise_of_similar_classes_leaves_out_those_too_rare_for_one():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 200), rng.integers(0, 2, 200)
    sets = ConformalSets(by="similar_classes").fit(P, np.append(y[:-1], 2))
    assert (sets.rule_.class_cells == 0).tolist() == [False, False, True]
    assert "not of classes too rare" in sets.guarantee_.over


@pytest.mark.parametrize("given", ["nothing", "groups", "overlapping", "cluster"])
@pytest.mark.parametrize("options", [{}, {"randomised": False}, {"never_empty": True}])
def test_sets_of_ordered_levels_have_no_gaps(given, options):
    P, y = drawn(600, 6, over=1.5)  # probabilities with several peaks
    rng = np.random.default_rng(0)
    kinds = {
        "groups": {"groups": rng.integers(0, 3, 600)},
        "overlapping": {"groups": rng.random((600, 2)) < 0.5},
        "cluster": {"cluster": np.arange(600) // 2},
    }
    of_rows = kinds.get(given, {})
    by = given if given in ("groups", "overlapping") else None
    sets = ConformalSets("ordered", by=by, **options)
    sets.fit(P[:300], y[:300], **{k: v[:300] for k, v in of_rows.items()})
    new = {k: v[300:] for k, v in of_rows.items() if k == "groups"}
    for level in (0.3, 0.6, 0.8, 0.95):
        found = sets.predict_set(P[300:], level=level, **new).astype(int)
        starts = (np.diff(found, axis=1, prepend=0) == 1).sum(axis=1)
        assert starts.max() == 1
        # Whole levels and sets that are never empty cover more; 300 rows vary by 0.03.
        assert coverage(found, y[300:]) > level - 0.12
    plain = ConformalSets("aps").fit(P[:300], y[:300]).predict_set(P[300:]).astype(int)
    assert (np.diff(plain, axis=1, prepend=0) == 1).sum(axis=1).max() > 1


def test_the_promise_of_ordered_levels_is_exact_on_average():
    covered = []
    for seed in range(200):
        P, y = drawn(400, 6, seed, over=1.5)
        sets = ConformalSets("ordered").fit(P[:100], y[:100])
        covered.append(coverage(sets.predict_set(P[100:]), y[100:]))
    check_guarantee(sets.guarantee_, covered)
    assert np.mean(covered) == pytest.approx(91 / 101, abs=0.006)


@pytest.mark.parametrize("by", ["class", "similar_classes"])
def test_ordered_levels_need_one_limit_for_all(by):
    P, y = drawn(200, 3)
    for call in (ConformalSets("ordered", by=by).fit, ConformalSets("ordered", by=by).state):
        with pytest.raises(InputError, match=f"one limit for all levels .* got by='{by}'"):
            call(P, y)


def test_equal_weights_are_none():
    P, y = drawn(200, 4, seed=5)
    new, _ = drawn(50, 4, seed=6)
    for options in ({}, {"score": "aps"}, {"by": "class"}, {"score": "aps", "never_empty": True}):
        plain = ConformalSets(**options).fit(P, y)
        for size in (1.0, 0.3):
            same = ConformalSets(**options).fit(
                P, y, sample_weight=np.full(200, size), weight_kind="sampling"
            )
            own = np.full(50, size)
            np.testing.assert_array_equal(
                same.predict_set(new, sample_weight=own), plain.predict_set(new)
            )
            np.testing.assert_allclose(
                same.p_values(new, sample_weight=own), plain.p_values(new), rtol=1e-12
            )
            assert same.labels(new, sample_weight=own) == plain.labels(new)
            assert same.n_ == pytest.approx(200.0)


@pytest.mark.parametrize("score", ["lac", "aps"])
def test_weighted_sets_keep_their_level_under_a_known_shift(score):
    # The sharpness of the labels depends on x, and new rows have more of the blurred ones.
    held, plain, rows, runs = 0.0, 0.0, 50, 120
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        x = np.append(rng.random(60), np.sqrt(rng.random(rows)))
        truth = _softmax(3.0 * (1.0 - x[:, None]) * np.array([1.0, 0.0, -1.0]))
        y = (truth.cumsum(axis=1) < rng.random(len(x))[:, None]).sum(axis=1).clip(0, 2)
        P = np.tile(_softmax(np.array([[1.5, 0.0, -1.5]])), (len(x), 1))
        P = P * np.exp(0.2 * rng.normal(size=P.shape))
        P /= P.sum(axis=1, keepdims=True)
        w = 2.0 * x  # the density of the square root of a uniform, over that of a uniform
        old, new = slice(0, 60), slice(60, None)
        sets = ConformalSets(score, 0.8, random_state=seed).fit(
            P[old], y[old], sample_weight=w[old], weight_kind="sampling"
        )
        held += coverage(sets.predict_set(P[new], sample_weight=w[new]), y[new]) / runs
        unweighted = ConformalSets(score, 0.8, random_state=seed).fit(P[old], y[old])
        plain += coverage(unweighted.predict_set(P[new]), y[new]) / runs
    assert held >= 0.8 - 3.0 * np.sqrt(0.8 * 0.2 / (runs * 30))
    assert held <= 0.86
    assert plain < 0.77


def test_dominating_weights_and_wrong_uses_are_said():
    P, y = drawn(30, 3, seed=7)
    w = np.linspace(0.5, 1.5, 30)
    sets = ConformalSets(level=0.9).fit(P, y, sample_weight=w, weight_kind="sampling")
    with pytest.warns(SparseDataWarning, match="1 of 2 rows have so large a weight"):
        found = sets.predict_set(P[:2], sample_weight=[1.0, 10.0])
    assert found[1].all()
    assert (sets.guarantee_.method, sets.guarantee_.n) == (
        "weighted split conformal",
        pytest.approx(w.sum() ** 2 / (w**2).sum()),
    )
    with pytest.raises(InputError, match="sampling weights; pass those of these rows"):
        sets.predict_set(P)
    with pytest.raises(InputError, match="2 finite weights above 0"):
        sets.predict_set(P[:2], sample_weight=[1.0, 0.0])
    with pytest.raises(InputError, match="leave it out"):
        ConformalSets().fit(P, y).predict_set(P, sample_weight=np.ones(30))
    for options in ({}, {"sample_weight": w, "cluster": np.arange(30)}):
        with pytest.raises(InputError, match="needs sample_weight and independent rows"):
            ConformalSets().fit(P, y, weight_kind="sampling", **options)
    with pytest.raises(InputError, match="are not split, and calibrator needs rows"):
        ConformalSets(calibrator=cb.TemperatureScaling()).fit(
            P, y, sample_weight=w, weight_kind="sampling"
        )


def test_weighted_sets_are_saved_and_take_groups(tmp_path):
    P, y = drawn(60, 3, seed=8)
    w, group = np.linspace(0.5, 1.5, 60), np.arange(60) % 2
    sets = ConformalSets(level=0.8, by="groups").fit(
        P, y, groups=group, sample_weight=w, weight_kind="sampling"
    )
    alone = ConformalSets(level=0.8).fit(
        P[::2], y[::2], sample_weight=w[::2], weight_kind="sampling"
    )
    found = sets.predict_set(P, groups=group, sample_weight=w)
    np.testing.assert_array_equal(found[::2], alone.predict_set(P[::2], sample_weight=w[::2]))
    again = cb.load(sets.save(tmp_path / "sets.calibrant"))
    np.testing.assert_array_equal(again.predict_set(P, groups=group, sample_weight=w), found)
