"""Search for groups in the features of one half of the rows, to be tested on the other."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from calibrant._numerics.bins import equal_mass_groups
from calibrant._numerics.clusters import membership
from calibrant.audits.levels import Family
from calibrant.audits.sample import Sample
from calibrant.core.groups import coded

__all__ = ["found_groups", "number_features"]

#: Maximum number of levels of a column of names, the most common ones.
MOST_LEVELS = 20
DEPTH, LEAST_ROWS, TAIL_PARTS = 3, 50, 5


def number_features(
    labelled: Sequence[tuple[str | None, np.ndarray]],
) -> tuple[list[str], np.ndarray]:
    """Return (names (d,), numbers (n, d)) of columns: numbers unchanged, and for names a column of
    0 and 1 for each of the most common levels.
    """
    names, columns = list[str](), list[np.ndarray]()
    for j, (name, labels) in enumerate(labelled):
        called = f"feature {j + 1}" if name is None else name
        if labels.dtype.kind in "iuf":
            names.append(called)
            columns.append(labels.astype(np.float64))
            continue
        found = coded(labels)
        count = np.bincount(found.index)
        for k in np.argsort(-count, kind="stable")[:MOST_LEVELS].tolist():
            names.append(f"{called} is {found.texts[k]}")
            columns.append((found.index == k).astype(np.float64))
    return names, np.column_stack(columns)


def found_groups(
    kind: str, names: Sequence[str], features: np.ndarray, sample: Sample, random_state: int
) -> list[tuple[np.ndarray, Family]]:
    """Return for each half its units, and the groups of them that the errors of the other half
    suggest; clusters stay whole.

    "tree" uses the nodes of a tree of depth 3 on the errors, "boosting" the fifths of the rows by
    predicted error.
    """
    units = np.arange(len(sample)) if sample.cluster is None else sample.cluster
    rng = np.random.default_rng(random_state)
    first = (rng.permutation(int(units.max()) + 1) % 2 == 0)[units]
    out = list[tuple[np.ndarray, Family]]()
    for here in (first, ~first):
        other, at = np.flatnonzero(~here), np.flatnonzero(here)
        if min(len(other), len(at)) < 2 * LEAST_ROWS:
            continue
        off = (sample.came - sample.said)[other]
        make = _tree if kind == "tree" else _boosted
        out.append(
            (
                at,
                make(names, features[other], off, sample.weight[other], features[at], random_state),
            )
        )
    return out


def _tree(
    names: Sequence[str],
    X: np.ndarray,
    off: np.ndarray,
    weight: np.ndarray,
    at: np.ndarray,
    seed: int,
) -> Family:
    from sklearn.tree import DecisionTreeRegressor  # pyright: ignore

    model = cast(Any, DecisionTreeRegressor)(
        max_depth=DEPTH, min_samples_leaf=LEAST_ROWS, random_state=seed
    )
    model.fit(X, off, sample_weight=weight)
    rules = _rules(model.tree_, names)
    # The root holds all rows.
    row, node = model.decision_path(at).nonzero()
    return Family(
        [{"group": rule} for rule in rules[1:]], membership(node, row, (len(rules), len(at)))[1:]
    )


def _rules(tree: Any, names: Sequence[str]) -> list[str]:
    """Return the rules that lead to each node, the root's first."""
    rules = [""] * tree.node_count
    for node in range(tree.node_count):
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            continue
        name, cut = names[tree.feature[node]], float(tree.threshold[node])
        ways = (
            (f"not {name}", name)
            if " is " in name
            else (f"{name} <= {cut:.4g}", f"{name} > {cut:.4g}")
        )
        for child, way in zip((left, right), ways, strict=True):
            rules[child] = f"{rules[node]} and {way}" if rules[node] else way
    return rules


def _boosted(
    names: Sequence[str],
    X: np.ndarray,
    off: np.ndarray,
    weight: np.ndarray,
    at: np.ndarray,
    seed: int,
) -> Family:
    from sklearn.ensemble import HistGradientBoostingRegressor  # pyright: ignore

    where, part_of = list[dict[str, str]](), list[np.ndarray]()
    for q in range(off.shape[1]):
        model = cast(Any, HistGradientBoostingRegressor)(
            max_iter=100, learning_rate=0.05, max_leaf_nodes=8, random_state=seed
        )
        expected = model.fit(X, off[:, q], sample_weight=weight).predict(at)
        part = equal_mass_groups(expected, TAIL_PARTS)
        count = int(part.max()) + 1
        if count > 1:
            part_of.append(part + len(where))
            where += [
                {"group": f"part {k + 1} of {count} by the error that boosting expects"}
                for k in range(count)
            ]
    rows = np.tile(np.arange(len(at)), len(part_of))
    return Family(
        where,
        membership(
            np.concatenate([*part_of, np.zeros(0, dtype=np.intp)]), rows, (len(where), len(at))
        ),
    )
