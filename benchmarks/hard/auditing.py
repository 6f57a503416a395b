"""Audits whose groups are right on average, order and names, and rules: G6, G7 and G12."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.groups.audit import alarms
from benchmarks.hard.draws import Line, share, sigmoid

import calibrant as cb

__all__ = ["audits", "order", "rules"]


#: Audit -> (rows, options, whether groups overlap, times too bold), of risks whose group means are
#: right.
AUDITS: dict[str, tuple[int, dict[str, Any], bool, float]] = {
    "six groups": (600, {}, False, 2.5),
    "six groups, weak null": (600, {"null": "weak"}, False, 2.5),
    "overlapping groups": (1_500, {}, True, 2.5),
    "overlapping groups, 1.5 times too bold": (1_500, {}, True, 1.5),
    "overlapping groups, control share": (1_500, {"control": "share"}, True, 2.5),
}


def audits(repeats: int) -> Iterator[Line]:
    """Risks too bold, with the mean of every group right; and the power of either control."""
    for name, (n, options, overlap, bold) in AUDITS.items():
        found = [_audited(n, overlap, bold, options, seed) for seed in range(max(repeats // 2, 1))]
        yield f"{name}: all intervals hold", float(np.mean([one[0] for one in found])), ".95"
        yield (
            f"{name}: a group without a gap is off",
            float(np.mean([one[1] for one in found])),
            "at most .05",
        )
    for name in ("event, strong null", "event, share of false finds"):
        found = alarms(name, max(repeats // 2, 1), power=True)
        yield f"{name}: the group that is off is found", found.found, "much"
        yield f"{name}: false among those called off", found.false_share, "at most .05"


def _audited(
    n: int, overlap: bool, bold: float, options: dict[str, Any], seed: int
) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    z = rng.normal(0.0, 1.0, n)
    y = (rng.random(n) < sigmoid(z)).astype(int)
    groups: Any = rng.integers(0, 6, n).astype(str)
    if overlap:
        groups = {"six": groups, **{f"of {k}": rng.integers(0, k, n).astype(str) for k in (2, 4)}}
    table = cb.audit(y, sigmoid(bold * z), groups, n_draws=200, **options).frame()
    return bool(((table["low"] <= 0.0) & (table["high"] >= 0.0)).all()), bool(
        (table["outcome"] == "off").any()
    )


def order(repeats: int) -> Iterator[Line]:
    """The same rows, their columns in another order, their clusters under other names."""
    times = max(repeats // 8, 1)
    yield "audit: the order of group columns moves a p-value", share(_moved_by_columns, times), "0"
    yield "bootstrap: the names of clusters move a limit", share(_moved_by_names, times), "0"


def _rows(seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = sigmoid(rng.normal(size=600))
    return rng, (rng.random(600) < p).astype(int), p


def _moved_by_columns(seed: int) -> bool:
    rng, y, p = _rows(seed)
    groups = {"one": rng.choice(list("abc"), 600), "other": rng.choice(list("xyz"), 600)}
    both = [
        cb.audit(y, p, dict(items), n_draws=200)
        for items in (groups.items(), [*groups.items()][::-1])
    ]
    one, other = (sorted(found.frame()["p_value"].tolist()) for found in both)
    return not np.allclose(one, other, atol=1e-12)


def _moved_by_names(seed: int) -> bool:
    rng, y, p = _rows(seed)
    cluster, renamed = rng.integers(0, 30, 600), rng.permutation(30)
    options: Any = {"method": "bootstrap", "n_resamples": 100}
    ece = cb.metrics.expected_calibration_error
    one, other = (
        ece.interval(y, p, cluster=names, **options) for names in (cluster, renamed[cluster])
    )
    return (one.low, one.high) != (other.low, other.high)


def rules(repeats: int) -> Iterator[Line]:
    """The surest 12 % of the rows are worse than the next 43 %."""
    for n in (2_000, 5_000):
        yield (
            f"fixed_sequence, n = {n}: refused",
            share(lambda seed, n=n: _refused(n, seed), max(repeats // 2, 1)),
            "little",
        )
    for starts in (1, 2):
        none = share(lambda seed, s=starts: _none(s, seed), repeats)
        yield (
            f"certified_settings, the third of six is good, n_starts={starts}: none",
            none,
            "little",
        )


def _refused(n: int, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    lost = (rng.random(n) < np.where(u > 0.88, 0.1, np.where(u > 0.45, 0.005, 0.3))).astype(float)
    try:
        cb.SelectiveClassifier(0.05, 0.95).fit_scores(u, lost)
    except ValueError:
        return True
    return False


def _none(n_starts: int, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    losses = rng.random((150, 6)) < np.array([0.2, 0.1, 0.005, 0.005, 0.2, 0.4])
    return not len(
        cb.decisions.certified_settings(losses.astype(float), 0.05, n_starts=n_starts).settings
    )
