"""The table of candidates: what is tried with how many rows and classes, within what cost."""

import numpy as np
import pytest

from calibrant.calibrators.candidates import CANDIDATES, candidates_for
from calibrant.core.calibrator import Calibrator

MORE_THAN_TWO = ["ensemble temperature scaling", "structured matrix scaling"]
SINGLE_MAPS = [
    "sigmoid of the log-odds",
    "sigmoid of the probability",
    "beta calibration",
    "quadratic scaling",
]


def names(*args, **options):
    return [c.name for c in candidates_for(*args, **options)]


def test_names_are_distinct_and_only_the_identity_is_free():
    assert len({c.name for c in CANDIDATES}) == len(CANDIDATES)
    assert [c.name for c in CANDIDATES if c.cost == 0.0] == ["uncalibrated"]


@pytest.mark.filterwarnings("ignore::calibrant.errors.FitWarning")
@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda c: c.name)
def test_each_makes_a_calibrator_of_its_own_that_calibrates(candidate):
    first, second = candidate.make(), candidate.make()
    assert isinstance(first, Calibrator)
    assert first is not second
    n_classes = int(candidate.classes[0])
    rng = np.random.default_rng(0)
    n = int(candidate.min_rows)
    P, y = rng.dirichlet(np.ones(n_classes), n), np.arange(n) % n_classes
    given = {"groups": np.arange(n) // 2 % 3} if first.tags.uses_groups else {}
    calibrated = first.fit(P, y, **given).predict_proba(P, **given)
    assert calibrated.shape == P.shape
    np.testing.assert_allclose(calibrated.sum(axis=1), 1.0, atol=1e-9)


def test_too_few_rows_leave_the_uncalibrated_alone():
    assert names(19.9, 3) == names(0, 2) == ["uncalibrated"]
    assert len(names(20, 3)) > 1


@pytest.mark.parametrize("candidate", CANDIDATES[1:], ids=lambda c: c.name)
def test_each_is_tried_from_its_fewest_rows_on(candidate):
    n_classes = candidate.classes[0]
    rest = {"given": {"groups"}, "others": min(candidate.most_others, 0.5)}
    assert candidate.name in names(candidate.min_rows, n_classes, **rest)
    assert candidate.name not in names(candidate.min_rows - 1, n_classes, **rest)


def test_classes_decide():
    two, three, many, most = (names(5000, K, given={"groups"}) for K in (2, 3, 41, 151))
    assert {c.name for c in CANDIDATES} - set(two) == {*MORE_THAN_TWO, "class offsets"}
    assert {c.name for c in CANDIDATES} - set(three) == {
        "structured vector scaling",
        "near-isotonic regression",
        "class offsets",
    }
    assert not set(SINGLE_MAPS) & set(many)
    assert "structured matrix scaling" in many
    assert most == [
        "uncalibrated",
        "class rates",
        "temperature scaling",
        "ensemble temperature scaling",
        "offsets by group alone",
        "structured vector scaling",
        "intra-order-preserving scaling",
    ]


def test_groups_that_are_passed_are_always_tried():
    for n, n_classes in ((20, 2), (99, 40), (5000, 151), (5000, 2000)):
        assert "offsets by group alone" in names(n, n_classes, given={"groups"})
        assert "offsets by group alone" not in names(n, n_classes)


def test_the_vector_beside_the_matrix_is_tried_where_it_is_named():
    both = ["structured vector scaling", "structured matrix scaling"]
    assert names(5000, 5, names=both) == ["uncalibrated", *both]


def test_offsets_are_tried_where_the_others_are_rare():
    assert "class offsets" in names(5000, 2, others=0.04)
    assert "class offsets" not in names(5000, 2, others=0.05)


def test_many_entries_leave_out_what_takes_too_long():
    assert "near-isotonic regression" in names(10_000, 2)
    assert "near-isotonic regression" not in names(10_001, 2)
    assert "intra-order-preserving scaling" in names(4_000, 1_000)
    assert "intra-order-preserving scaling" not in names(25_000, 1_000)


def test_cheapest_first():
    costs = [c.cost for c in candidates_for(5000, 5)]
    assert costs == sorted(costs)


def test_names_keep_only_those_and_the_uncalibrated():
    assert names(5000, 5, names=["spline"]) == ["uncalibrated", "spline"]
    assert names(5000, 5, names=[]) == ["uncalibrated"]
    assert names(100, 5, names=["spline"]) == ["uncalibrated"]


def test_the_dearest_are_dropped_until_the_costs_fit():
    within = candidates_for(5000, 10, max_cost=5.0)
    assert [c.name for c in within][:3] == ["uncalibrated", "class rates", "temperature scaling"]
    every = candidates_for(5000, 10)
    assert within == every[: len(within)]
    assert sum(c.cost for c in within) <= 5.0 < sum(c.cost for c in every[: len(within) + 1])
    assert candidates_for(5000, 10, max_cost=0.0) == [CANDIDATES[0]]
    assert candidates_for(5000, 10, max_cost=1e9) == every
