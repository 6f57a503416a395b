"""What users call their classes becomes positions."""

import numpy as np
import pytest

from calibrant.core import labels
from calibrant.errors import InputError


def test_positions_and_names_of_labels():
    codes, classes = labels.encode_labels([0, 2, 1], None, 3, 3)
    assert codes.tolist() == [0, 2, 1]
    assert classes is None
    codes, classes = labels.encode_labels(["b", "a"], labels.class_array(["b", "a"], 2), 2, 2)
    assert codes.tolist() == [0, 1]
    assert classes.tolist() == ["b", "a"]


@pytest.mark.parametrize(
    ("given", "classes"),
    [
        ([1, 2, 1], ["1", "2"]),
        (np.array([1.0, 2.0, 1.0]), [1, 2]),
        (np.array([1, 2, 1], np.int8), [1.0, 2.0]),
        ([True, False, True], [1, 0]),
    ],
    ids=[
        "numbers for text columns",
        "floats for integers",
        "integers for floats",
        "booleans for integers",
    ],
)
def test_labels_that_compare_equal_are_one_label(given, classes):
    codes, _ = labels.encode_labels(given, labels.class_array(classes, 2), 3, 2)
    assert codes.tolist() == [0, 1, 0]


def test_many_unknown_labels_are_counted_not_listed():
    with pytest.raises(InputError, match=r"got \[2, 3, 4, 5, 6, 7\] and 92 more"):
        labels.encode_labels(np.arange(100), np.array([0, 1]), 100, 2)


def test_unhashable_labels():
    given = np.empty(2, dtype=object)
    given[:] = [[1], [2]]
    with pytest.raises(InputError, match="y must hold hashable labels; got list"):
        labels.encode_labels(given, np.array(["a", "b"]), 2, 2)


def test_classes_of_one_simple_kind_have_its_dtype():
    assert labels.class_array(["a", "bc"], 2).dtype.kind == "U"
    assert labels.class_array([3, 1], 2).dtype.kind == "i"
    assert labels.class_array([1, "a"], 2).dtype == object
    assert labels.class_array([("a", 1), ("b", 2)], 2).shape == (2,)


@pytest.mark.parametrize(
    ("given", "classes", "expected"),
    [
        (["0", "1"], [1, 0], [1, 0]),
        ([0, 1.0, True], ["0", "1"], [0, 1, 1]),
        (["True", "0", 1], [False, True], [1, 0, 1]),
        ([True, "True"], ["False", "True"], [1, 1]),
        ([1, "1"], ["1", 1], [1, 0]),
        (["1_0", "10"], [10, 11], [-1, 0]),
    ],
    ids=[
        "text for numbers",
        "numbers for text",
        "text for truth values",
        "truth values for text",
        "both kinds",
        "underscores",
    ],
)
def test_a_label_is_the_class_of_its_value_or_else_of_its_text(given, classes, expected):
    assert labels.places(given, classes) == expected
