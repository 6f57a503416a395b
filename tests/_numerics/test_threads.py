"""Limiting threads: by call, by context, by environment; blocks in order."""

import pytest

from calibrant._numerics.threads import (
    get_threads,
    map_ahead,
    map_blocks,
    row_blocks,
    set_threads,
    threads,
)


def test_limits_nest_and_are_restored(monkeypatch):
    monkeypatch.setenv("CALIBRANT_THREADS", "7")
    assert get_threads() == 7
    with threads(2):
        assert get_threads() == 2
        with threads(None):
            assert get_threads() == 7
        assert get_threads() == 2
    set_threads(3)
    assert get_threads() == 3
    set_threads(None)
    monkeypatch.delenv("CALIBRANT_THREADS")
    assert 1 <= get_threads() <= 4


def test_a_browser_has_one_thread(monkeypatch):
    monkeypatch.setattr("sys.platform", "emscripten")
    with threads(4):
        assert get_threads() == 1


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_a_bad_limit_is_refused(bad):
    with pytest.raises(ValueError, match="whole number of at least 1"):
        set_threads(bad)


def test_blocks_cover_the_rows_and_come_back_in_order():
    blocks = row_blocks(10, 3)
    assert [(b.start, b.stop) for b in blocks] == [(0, 3), (3, 6), (6, 9), (9, 10)]
    for n in (1, 2, 4, 9):
        with threads(n):
            assert map_blocks(lambda b: b.start, blocks) == [0, 3, 6, 9]


def test_an_error_inside_a_block_reaches_the_caller():
    with threads(2), pytest.raises(ZeroDivisionError):
        map_blocks(lambda b: 1 / b.start, row_blocks(4, 1))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_what_comes_one_by_one_is_taken_a_little_ahead_and_kept_in_order(n):
    taken = []

    def items():
        for i in range(20):
            taken.append(i)
            yield i

    with threads(n):
        found = map_ahead(lambda i: i * i, items())
        assert next(found) == 0
        assert len(taken) <= n + 1
        assert list(found) == [i * i for i in range(1, 20)]
