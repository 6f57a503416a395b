"""Count the outcomes of every exported component with every container and extreme value.

    python tools/contract_grid.py [KIND ...] [--show]

It prints one line per kind of component: cases, right results, clear errors, wrong results, obscure
errors. It exits with 1 if any is wrong or obscure; --show names each of these.
"""

import sys
import time
import warnings
from collections import Counter

from calibrant import testing
from calibrant.errors import CalibrationWarning
from calibrant.testing.check import settle
from calibrant.testing.containers import CONTAINER_CASES
from calibrant.testing.extremes import EXTREME_CASES

#: Kind of component -> all exported instances.
PARTS = {
    "calibrator": testing.all_calibrators,
    "map": testing.all_maps,
    "signal": testing.all_signals,
    "metric": lambda: [m for m in testing.all_metrics() if m.domain.name == "classification"],
    "regression calibrator": testing.all_regression_calibrators,
    "regression metric": lambda: [
        m for m in testing.all_metrics() if m.domain.name == "regression"
    ],
}
#: Grids, each a dict: kind of component -> function(component) that yields its cases.
GRIDS: tuple = (CONTAINER_CASES, EXTREME_CASES)
KINDS = ("right", "clear error", "wrong", "obscure")


def count(kind, show=False) -> Counter:
    """Outcomes of all cases of all components of a kind."""
    found = Counter()
    for part in PARTS[kind]():
        for grid in GRIDS:
            for case in grid[kind](part):
                outcome = settle(case)
                found[outcome.kind] += 1
                if show and not outcome.good:
                    print(f"  {part!r}, {case.name}: {outcome.kind}: {outcome.detail}")
    return found


def main(arguments) -> int:
    """Print the table, and return the exit status."""
    warnings.simplefilter("ignore", CalibrationWarning)
    show, kinds = "--show" in arguments, [a for a in arguments if a != "--show"] or list(PARTS)
    total, begin = Counter(), time.process_time()
    print(
        f"{'kind':24}{'cases':>8}{'right':>8}{'clear errors':>14}{'wrong':>8}{'obscure':>9}{'CPU s':>8}"
    )
    for kind in kinds:
        start = time.process_time()
        found = count(kind, show)
        total += found
        print(_line(kind, found, time.process_time() - start), flush=True)
    print(_line("all", total, time.process_time() - begin))
    return int(total["wrong"] + total["obscure"] > 0)


def _line(name, found, seconds):
    right, clear, wrong, obscure = (found[kind] for kind in KINDS)
    return f"{name:24}{found.total():>8}{right:>8}{clear:>14}{wrong:>8}{obscure:>9}{seconds:>8.1f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
