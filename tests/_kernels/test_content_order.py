"""Parts are numbered by what they hold."""

import numpy as np

from calibrant._kernels.draws import numbered_by_content


def test_names_and_the_order_of_rows_change_no_number():
    rng = np.random.default_rng(0)
    part, mark, weight = rng.integers(0, 20, 300), rng.random(300), rng.integers(1, 4, 300) * 1.0
    found = numbered_by_content(part, mark, weight)
    renamed, order = rng.permutation(20)[part], rng.permutation(300)
    np.testing.assert_array_equal(numbered_by_content(renamed, mark, weight), found)
    shuffled = numbered_by_content(part[order], mark[order], weight[order])
    np.testing.assert_array_equal(shuffled, found[order])
    assert len(np.unique(found)) == len(np.unique(np.column_stack([found, part]), axis=0)) == 20


def test_a_weight_is_a_repetition_and_parts_that_are_alike_keep_their_order():
    part, mark = np.array([0, 1, 2]), np.array([0.4, 0.1, 0.1])
    assert numbered_by_content(part, mark, np.array([1.0, 2.0, 2.0])).tolist()[1:] in (
        [0, 1],
        [1, 2],
    )
    often, once = np.repeat(part, [3, 1, 2]), np.array([3.0, 1.0, 2.0])
    found = numbered_by_content(often, np.repeat(mark, [3, 1, 2]), np.ones(6))
    assert found.tolist() == np.repeat(numbered_by_content(part, mark, once), [3, 1, 2]).tolist()
