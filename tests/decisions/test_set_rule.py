"""Sets and p-values of few rows, by counting calibration scores one by one."""

from typing import Any

import numpy as np
import pytest

from calibrant.core.predictions import read
from calibrant.decisions.sets import ConformalSets
from calibrant.errors import SparseDataWarning

RNG = np.random.default_rng(0)
P, Y = RNG.dirichlet(np.ones(3), 40), RNG.integers(0, 3, 40)
NEW = np.vstack([RNG.dirichlet(np.ones(3), 12), P[:4], [[0.35, 0.33, 0.32]]])
SCORE = 1.0 - P[np.arange(40), Y]
SITE, NEW_SITE = np.arange(40) % 2, np.arange(17) % 2
MEMBER, NEW_MEMBER = (
    RNG.random((40, 2)) < 0.6,
    np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 4 + [[1, 1]]) == 1,
)


def cells(by: str | None) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """(what is given to the fit, to the sets, and the calibration scores that a class of a new
    row is held against, list by list).
    """
    if by == "groups":
        return {"groups": SITE}, {"groups": NEW_SITE}, lambda i, k: [SCORE[NEW_SITE[i] == SITE]]
    if by == "overlapping":
        own = [SCORE[MEMBER[:, j]] for j in range(2)]
        return (
            {"groups": MEMBER},
            {"groups": NEW_MEMBER},
            lambda i, k: [SCORE, *(own[j] for j in range(2) if NEW_MEMBER[i, j])],
        )
    return {}, {}, lambda i, k: [SCORE[k == Y] if by == "class" else SCORE]


@pytest.mark.parametrize("by", [None, "class", "groups", "overlapping"])
def test_a_class_is_in_the_set_where_enough_scores_are_as_strange(by):
    fit, new, held = cells(by)
    sets = ConformalSets(level=0.7, by=by).fit(P, Y, **fit)
    p = np.array(
        [
            [
                max((np.sum(c >= 1.0 - NEW[i, k]) + 1.0) / (len(c) + 1.0) for c in held(i, k))
                for k in range(3)
            ]
            for i in range(17)
        ]
    )
    np.testing.assert_allclose(sets.p_values(NEW, **new), p)
    for level in (0.3, 0.7, 0.85):
        limit = [
            [
                max(np.sort(c)[int(np.ceil((len(c) + 1) * level - 1e-9)) - 1] for c in held(i, k))
                for k in range(3)
            ]
            for i in range(17)
        ]
        np.testing.assert_array_equal(
            sets.predict_set(NEW, level=level, **new), np.array(limit) >= 1.0 - NEW
        )
    never = (
        ConformalSets(level=0.05, by=by, never_empty=True).fit(P, Y, **fit).predict_set(NEW, **new)
    )
    plain = ConformalSets(level=0.05, by=by).fit(P, Y, **fit).predict_set(NEW, **new)
    assert (~plain.any(axis=1)).any()
    for i in range(17):
        # The least strange, and of several such the most probable.
        best = (p[i] == p[i].max()) & (NEW[i] == NEW[i][p[i] == p[i].max()].max())
        assert never[i].tolist() == (plain[i] if plain[i].any() else best).tolist()


def test_smoothed_p_values_count_a_drawn_part_of_what_is_equal():
    sets = ConformalSets().fit(P, Y)
    plain, smoothed = sets.p_values(NEW), sets.p_values(NEW, smoothed=True)
    u = (smoothed * 41.0 - (plain * 41.0 - 1.0))[:12]
    # No score of a new row equals another: the draw stands for the row itself, the same for all of
    # its classes.
    np.testing.assert_allclose(u, np.repeat(u[:, :1], 3, axis=1), atol=1e-9)
    assert ((u > 0.0) & (u < 1.0)).all()
    assert len(np.unique(u[:, 0].round(9))) == 12
    assert (ConformalSets(random_state=1).fit(P, Y).p_values(NEW, smoothed=True) != smoothed).any()


def test_a_row_of_a_new_group_may_be_anything():
    sets = ConformalSets(level=0.7, by="groups").fit(P, Y, groups=SITE)
    with pytest.warns(SparseDataWarning, match="had no rows in fit"):
        held = sets.predict_set(NEW[:2], groups=[7, 1])
    assert held[0].all()
    assert not held[1].all()
    with pytest.warns(SparseDataWarning, match="had no rows in fit"):
        assert sets.p_values(NEW[:2], groups=[7, 1])[0].tolist() == [1.0, 1.0, 1.0]
    with pytest.warns(SparseDataWarning, match="had no rows in fit"):
        smoothed = sets.p_values(NEW[:2], groups=[7, 7], smoothed=True)
    assert ((smoothed > 0.0) & (smoothed < 1.0)).all()
    assert (smoothed == smoothed[:, :1]).all()


def test_the_penalty_is_that_asked_for():
    for penalty, k_reg in ((0.3, 2), (0.0, 0), (0.05, 1)):
        sets = ConformalSets("raps", level=0.7, penalty=penalty, k_reg=k_reg, randomised=False).fit(
            P, Y
        )
        assert sets.rule_.raps == (penalty, k_reg)
        order = np.argsort(-NEW, axis=1)
        mass = np.take_along_axis(
            np.cumsum(np.take_along_axis(NEW, order, axis=1), axis=1),
            np.argsort(order, axis=1),
            axis=1,
        )
        score = mass + penalty * np.maximum(np.argsort(order, axis=1) + 1 - k_reg, 0)
        np.testing.assert_allclose(sets.rule_.scorer.of_all(read(NEW)), score, atol=1e-9)
