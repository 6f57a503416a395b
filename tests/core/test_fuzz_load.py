"""Damaged files by the hundred: each loads to what was saved, or is refused by name."""

from collections import Counter

import numpy as np
import pytest
from tools.fuzz_load import MUTATIONS, fuzz, saved_files

import calibrant


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return list(saved_files(tmp_path_factory.mktemp("saved")))


@pytest.mark.parametrize("cases", [480, pytest.param(12_000, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_file_loads_as_it_was_or_is_refused(cases, files, tmp_path):
    counts, slowest, bad = fuzz(files, cases, seed=cases, folder=tmp_path)
    assert bad == []
    assert all(counts[name]["refused"] > 0 for name in MUTATIONS)
    total = sum(counts.values(), Counter())
    assert total["loaded"] > 0
    assert total.total() == cases
    assert slowest < 2.0


def test_an_undamaged_file_of_every_kind_loads(files, tmp_path):
    for name, content, use, expected in files:
        (tmp_path / name).write_bytes(content)
        np.testing.assert_array_equal(use(calibrant.load(tmp_path / name)), expected)
    assert len({name for name, *_ in files}) > 40
