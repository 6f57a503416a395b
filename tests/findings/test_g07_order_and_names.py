"""G7: neither the order of group columns nor the names of clusters moves a result."""

import numpy as np
import pytest

import calibrant as cb

RNG = np.random.default_rng(0)
N = 600
P = 1.0 / (1.0 + np.exp(-RNG.normal(size=N)))
Y = (RNG.random(N) < P).astype(int)
FIRST, SECOND, CLUSTER = (
    RNG.choice(list("abc"), N),
    RNG.choice(list("xyz"), N),
    RNG.integers(0, 30, N),
)


def p_values(groups: dict[str, np.ndarray]) -> list[float]:
    return sorted(cb.audit(Y, P, groups).frame()["p_value"].tolist())


def test_the_order_of_group_columns_changes_no_p_value():
    one, other = {"one": FIRST, "other": SECOND}, {"other": SECOND, "one": FIRST}
    assert p_values(one) == pytest.approx(p_values(other), abs=1e-12)


def test_the_names_of_clusters_change_no_interval():
    renamed = np.random.default_rng(3).permutation(30)[CLUSTER]
    found = [
        cb.metrics.expected_calibration_error.interval(
            Y,
            P,
            cluster=clusters,
            method="bootstrap",
            n_resamples=100,
        )
        for clusters in (CLUSTER, renamed)
    ]
    assert (found[0].low, found[0].high) == (found[1].low, found[1].high)
