"""Two equal models under one judge, and judges that are biased for one model by just more than a
margin: how often each is called what it is not, beside 6dd4faf5.
"""

from itertools import product

import numpy as np
from benchmarks.questions.before import difference_before, transport_before
from benchmarks.questions.table import goal, line

from calibrant.questions import audit_transport, compare_rates

__all__ = ["models"]

#: Seeds of the tables; items that both models answered; the margin of the audit.
JUDGED, ITEMS, MARGIN = 200_000, 1_500, 0.05


def _equal(
    rate: float, passes: float, labels: int, paired: bool, rng: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """(scores, labels, first model, items); the judge passes every right answer and a share of the
    wrong ones, of the first model three times as many.
    """
    item, first = np.tile(np.arange(ITEMS), 2), np.arange(2 * ITEMS) < ITEMS
    level = np.log(rate / (1.0 - rate))
    p = 1.0 / (1.0 + np.exp(-level - np.tile(rng.normal(0.0, 2.0, ITEMS), 2)))
    y = (rng.random(2 * ITEMS) < p).astype(float)
    pass_wrong = np.where(first, 3.0 * passes, passes)
    f = np.where(rng.random(2 * ITEMS) < pass_wrong, 1.0, y)
    place = rng.permutation(ITEMS)
    other = place if paired else rng.permutation(ITEMS)
    return f, np.where(np.append(place, other) < labels, y, np.nan), first, item


def _comparisons(repeats: int) -> None:
    line("equal models: rate, passed, labels", ("before", "now", "width"))
    worst = 0.0
    for rate, passes, labels, paired in product(
        (0.1, 0.5, 0.9), (0.01, 0.1), (50, 200), (True, False)
    ):
        kept = np.zeros((repeats, 4))
        for k in range(repeats):
            rng = np.random.default_rng(JUDGED + k)
            f, y, first, item = _equal(rate, passes, labels, paired, rng)
            old = difference_before(f, y, first, item)
            one = compare_rates(judge=f, labels=y, model=np.where(first, "a", "b"), item=item)
            kept[k] = old[1] > 0.0 or old[2] < 0.0, one.low > 0.0 or one.high < 0.0, 0.0, 0.0
            kept[k, 2:] = old[2] - old[1], one.high - one.low
        wrong, width = kept[:, :2].mean(axis=0), np.median(kept[:, 2:], axis=0)
        name = f"{rate:g}, {passes:g}, {labels}, {'same' if paired else 'other'} items"
        line(name, [*wrong.tolist(), float(width[1] / width[0])])
        worst = max(worst, float(wrong[1]))
    goal("equal models differ in at most 7 % of draws", f"{worst:.1%}", worst <= 0.07)


def _transports(repeats: int) -> None:
    """A judge that is perfect for the others and passes wrong answers of this model."""
    line("biased by 1.1 margins: rate, labels", ("before", "now", "holds at 0"))
    worst = 0.0
    for rate, labels in product((0.5, 0.8, 0.9), (50, 100, 300)):
        kept = np.zeros((repeats, 3))
        for k, (column, biased) in product(range(repeats), ((0, True), (2, False))):
            rng = np.random.default_rng(JUDGED + k)
            n = 2 * labels
            this = np.arange(n) < labels
            y = (rng.random(n) < rate).astype(float)
            passed = 1.1 * MARGIN / (1.0 - rate) if biased else 0.0
            f = np.where(this & (rng.random(n) < passed), 1.0, y)
            audit = audit_transport(
                judge=f, labels=y, model=np.where(this, "a", "b"), item=np.arange(n), margin=MARGIN
            )
            holds = audit[0].state == "holds"
            if biased:
                low, high = transport_before(y[this] - f[this])
                kept[k, 0] = low >= -MARGIN and high <= MARGIN
            kept[k, column or 1] = holds
        cells = kept.mean(axis=0).tolist()
        line(f"{rate:g}, {labels}", cells)
        worst = max(worst, cells[1])
    goal('"holds" beyond the margin in at most 4 %', f"{worst:.1%}", worst <= 0.04)


def models(repeats: int) -> None:
    """Print how often equal models are told apart, and biased judges said to hold."""
    _comparisons(repeats)
    _transports(repeats)
