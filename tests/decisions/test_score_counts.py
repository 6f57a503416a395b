import numpy as np
import pytest

import calibrant as cb
from calibrant._numerics.bins import upper_edges
from calibrant.decisions.cells import ScoreCounts
from calibrant.errors import InputError

SETTINGS = {"n_bins": 65_536, "shares": False}


def counts(score, cells=(None,), cell=None):
    out = ScoreCounts(SETTINGS, list(cells), (0.0, 1.0), float(len(score)))
    out.add(
        np.asarray(score),
        np.ones(len(score)),
        np.zeros(len(score), dtype=np.intp) if cell is None else np.asarray(cell),
    )
    return out


def test_bins_are_fine_everywhere():
    edges = upper_edges(65_536)
    assert edges[0] == 0.0
    assert edges[-1] == 1.0
    assert 65_000 < len(edges) <= 65_536
    assert (np.diff(edges) > 0).all()
    assert np.diff(edges).max() < 2 / 65_000
    inner = edges[(edges > 0.0) & (edges < 1 - 1e-9)]
    assert np.diff(np.log(inner) - np.log1p(-inner)).max() < 121 / 65_000


def test_scores_are_rounded_up_and_add_up():
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.random(5000), 10.0 ** -rng.uniform(0, 12, 5000), [0.0, 1.0]])
    whole, parts = counts(score), sum([counts(score[:3000]), counts(score[3000:])])
    assert (whole.keys == parts.keys).all()
    assert (whole.counts == parts.counts).all()
    for level in (0.05, 0.5, 0.9):
        exact, found = (
            np.quantile(score, level, method="inverted_cdf"),
            whole.cell_scores({}).limits(level)[0],
        )
        assert exact - 1e-9 <= found
        assert np.mean(score <= found) - level <= 5e-4


def test_cells_are_matched_by_name():
    total = counts([0.1, 0.2], ["a", "b"], [0, 1]) + counts([0.7, 0.9], ["b", "c"], [0, 1])
    assert total.cells == ["a", "b", "c"]
    assert total.cell_scores({}).n.tolist() == [1.0, 2.0, 1.0]


def test_other_settings_do_not_add_up():
    other = ScoreCounts({**SETTINGS, "score": "aps"}, [None], (0.0, 1.0), 0.0)
    with pytest.raises(InputError, match="differ in score"):
        counts([0.5]) + other
    with pytest.raises(InputError, match="call state"):
        counts([0.5]).cell_scores({"n_bins": 300})


def test_it_is_saved(tmp_path):
    total = counts([0.1, 0.7])
    again = cb.load(total.save(tmp_path / "counts.calibrant"))
    assert (again + total).n == 4.0


def test_coverage_differs_by_a_ten_thousandth():
    rng = np.random.default_rng(3)
    logits = 3.25 * rng.normal(size=(40_000, 20))
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    y = (P.cumsum(axis=1) < rng.random(40_000)[:, None]).sum(axis=1).clip(0, 19)
    rows = np.arange(20_000)
    for score in ("lac", "aps", "margin"):
        exact, binned = cb.ConformalSets(score).fit(P[:20_000], y[:20_000]), cb.ConformalSets(score)
        binned.fit_state(
            sum(binned.state(P[s : s + 5000], y[s : s + 5000]) for s in range(0, 20_000, 5000))
        )
        one, other = (
            sets.predict_set(P[20_000:])[rows, y[20_000:]].mean() for sets in (exact, binned)
        )
        assert 0.0 <= other - one <= 1e-4
