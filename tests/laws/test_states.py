"""The laws of states, for any data: empty is neutral, order and chunking do not matter, merged
equals the value of the whole.

Every metric with a state is found by itself; see ``calibrant.testing.check_state`` for the same
laws on fixed data.
"""

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.errors import InputError
from calibrant.testing import all_metrics

METRICS = [m for m in all_metrics() if m.domain.name == "classification" and m.mergeable]
ids = [" ".join(repr(m).split()) for m in METRICS]


@st.composite
def cut_data(draw, n_classes):
    """(y, P, weight, edges): up to 40 rows with ties, exact zeros and weights of 0, cut into
    parts, some of a single row.
    """
    n = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    P = rng.dirichlet(np.full(n_classes, 0.5), n)
    kind = draw(st.sampled_from(["smooth", "rounded", "certain"]))
    if kind == "rounded":
        P = rng.multinomial(10, P) / 10.0
    elif kind == "certain":
        P = np.eye(n_classes)[rng.integers(0, n_classes, n)]
    weight = (
        rng.integers(0, 4, n).astype(float)
        if draw(st.booleans())
        else rng.random(n) * 10.0 ** draw(st.integers(-3, 3))
    )
    cuts = draw(st.lists(st.integers(1, n), max_size=5))
    return rng.integers(0, n_classes, n), P, weight, sorted({0, n, *cuts})


@st.composite
def metric_and_data(draw, metric):
    return draw(cut_data(2 if metric.binary_only else draw(st.sampled_from([2, 3, 7]))))


def near(a, b):
    """Equal to the order of summation; a value of nothing is nan on both sides."""
    return (np.isnan(a) and np.isnan(b)) or a == b or abs(a - b) <= 1e-9 * max(1.0, abs(b))


# The laws hold for weights of any size; that tiny ones are worth a word is another matter.
@pytest.mark.filterwarnings("ignore:.*weights mean repetition")
@pytest.mark.parametrize("metric", METRICS, ids=ids)
def test_laws(metric):
    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    @given(metric_and_data(metric))
    def laws(data):
        y, P, weight, edges = data
        parts = []
        for a, b in pairwise(edges):
            # A part without weight adds nothing: it is the empty state.
            counted = weight[a:b].any()
            parts.append(
                metric.state(y[a:b], P[a:b], sample_weight=weight[a:b])
                if counted
                else metric.state()
            )
        if not weight.any():
            assert np.isnan(reduce(add, parts).finalise())
            return
        whole = metric(y, P, sample_weight=weight)
        merged = reduce(add, parts)
        assert near(merged.finalise(), whole), "parts merged differ from the whole"
        assert near(reduce(add, parts[::-1]).finalise(), whole), "the order of parts matters"
        assert near((parts[0] + reduce(add, parts[1:], metric.state())).finalise(), whole), (
            "adding is not associative"
        )
        assert near((metric.state() + merged).finalise(), merged.finalise()), (
            "the empty state is not neutral"
        )
        assert near((merged + metric.state()).finalise(), merged.finalise()), (
            "the empty state is not neutral"
        )
        assert near((merged + merged).finalise(), metric(y, P, sample_weight=2 * weight)), (
            "twice the rows is not weight 2"
        )

    laws()


def test_metrics_were_found():
    assert {"log loss", "Brier score", "accuracy", "ECE", "classwise ECE", "event ECE"} <= {
        m.name for m in METRICS
    }


@pytest.mark.parametrize("metric", [m for m in all_metrics() if not m.mergeable], ids=repr)
def test_a_metric_without_a_state_says_so(metric):
    with pytest.raises(InputError, match="no state of fixed size"):
        metric.state()
