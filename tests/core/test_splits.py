import numpy as np
import pytest
from sklearn.model_selection import KFold, PredefinedSplit

from calibrant.core.folds import folds_of, make_splits, refuse_prefit, refuse_small_folds
from calibrant.errors import CalibrationWarning, InputError

X, LABELS = np.zeros((23, 2)), np.array(["a", "b", "c"])[np.arange(23) % 3]


@pytest.mark.parametrize(
    "cv", [4, KFold(4), PredefinedSplit(np.arange(23) % 4), list(KFold(4).split(X))]
)
def test_every_row_is_held_out_once_and_never_in_its_own_fit(cv):
    splits = make_splits(cv, X, LABELS)
    assert len(splits) == 4
    np.testing.assert_array_equal(np.sort(np.concatenate([b for _, b in splits])), np.arange(23))
    for a, b in splits:
        assert not set(a) & set(b)


def test_masks_become_positions():
    mask = np.arange(23) < 10
    ((a, b),) = make_splits([(mask, ~mask)], X, LABELS)
    np.testing.assert_array_equal(np.concatenate([a, b]), np.arange(23))


def test_folds_repeat_themselves_and_follow_the_seed():
    first, again, other = (make_splits(3, X, LABELS, random_state=s) for s in (0, 0, 1))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(first, other, strict=True))


def test_fewer_rows_than_folds_leave_one_out():
    assert len(make_splits(5, X[:3], LABELS[:3])) == 3


def test_outcomes_that_are_no_classes_are_shuffled():
    splits = make_splits(4, X, np.arange(23.0), stratify=False)
    np.testing.assert_array_equal(np.sort(np.concatenate([b for _, b in splits])), np.arange(23))
    assert not all((np.diff(b) == 1).all() for _, b in splits)


@pytest.mark.parametrize("stratify", [True, False])
def test_a_number_of_folds_keeps_groups_whole(stratify):
    groups = np.arange(23) // 4
    splits = make_splits(50, X, LABELS if stratify else np.arange(23.0), groups, stratify=stratify)
    assert len(splits) == 6
    for a, b in splits:
        assert not set(groups[a]) & set(groups[b])


def test_groups_of_mixed_kinds_are_kept_apart():
    names = [[1, "1", "b", (2, 3)][i % 4] for i in range(23)]
    splits = make_splits(50, X, LABELS, names)
    assert sorted(len(b) for _, b in splits) == [5, 6, 6, 6]


def test_a_splitter_gets_what_it_asks_for():
    class Own(KFold):
        def split(self, X, y=None, day=None):
            yield np.flatnonzero(day == 0), np.flatnonzero(day == 1)

    ((a, b),) = make_splits(Own(2), X, LABELS, day=np.arange(23) % 2)
    assert (a[1], b[1]) == (2, 3)


def test_folds_too_small_for_a_calibrator():
    sized = [(np.arange(20), np.arange(size)) for size in (40, 3)]
    refuse_small_folds(sized[:1], "fewer folds")
    with pytest.warns(CalibrationWarning, match="smallest of the 2 folds has 3; fewer folds"):
        refuse_small_folds(sized, "fewer folds")
    with pytest.raises(
        InputError, match=r"at least 3 held-out rows .* smallest of the 3 folds has 2; fewer folds"
    ):
        refuse_small_folds([*sized, (np.arange(20), np.arange(2))], "fewer folds")


def test_what_cannot_split_is_refused():
    with pytest.raises(InputError, match="at least 2 folds"):
        make_splits(1, X, LABELS)
    with pytest.raises(InputError, match="at least 2 rows"):
        make_splits(2, X[:1], LABELS[:1])
    with pytest.raises(InputError, match="at least 2 groups; got 1"):
        make_splits(2, X, LABELS, np.zeros(23))
    with pytest.raises(InputError, match="each of the 23 rows; got 5"):
        make_splits(2, X, LABELS, np.arange(5))
    for missing in (None, np.nan):
        with pytest.raises(InputError, match="the group of every row; row 22 is"):
            make_splits(2, X, LABELS, [*range(22), missing])
    with pytest.raises(InputError, match="at least one split"):
        make_splits([], X, LABELS)
    with pytest.raises(InputError, match="split 0 has 0 and 5"):
        make_splits([([], np.arange(5))], X, LABELS)
    with pytest.raises(InputError, match="rows below 23; split 0 contains 23"):
        make_splits([([0, 1], [23])], X, LABELS)
    with pytest.raises(InputError, match="'prefit'"):
        refuse_prefit("prefit")


def test_no_fold_cuts_a_cluster():
    cluster = np.random.default_rng(0).integers(0, 30, 200)
    folds = folds_of(np.arange(200) % 3, cluster, 5, 0)
    assert all(len(set(folds[cluster == c])) == 1 for c in range(30))
    assert set(folds) == set(range(5))
