"""``python -m benchmarks.questions``: calibrators, rules and rates of questions beside their goals.

Each part prints a table and its goals with what was found. ``--only cells rules`` runs some of
the parts; ``--full`` takes many more repeats than the two CPU minutes a part of the default.
"""

import argparse
import warnings
from collections.abc import Callable

from benchmarks.questions.arrays import multilabel, ordinal
from benchmarks.questions.cells import cells
from benchmarks.questions.judge import judge
from benchmarks.questions.logs import logs
from benchmarks.questions.models import models
from benchmarks.questions.rules import rules
from benchmarks.questions.speed import speed
from benchmarks.questions.unequal import unequal

#: Part -> (what runs it, its repeats by default and in full; the rows of a log for ``speed``).
PARTS: dict[str, tuple[Callable[[int], None], int, int]] = {
    "cells": (cells, 3, 20),
    "logs": (logs, 2, 10),
    "multilabel": (multilabel, 5, 20),
    "ordinal": (ordinal, 10, 50),
    "rules": (rules, 300, 10_000),
    "unequal": (unequal, 400, 2_000),
    "judge": (judge, 400, 2_000),
    "models": (models, 400, 2_000),
    "speed": (speed, 1_000_000, 1_000_000),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeats", type=int, help="repeats of each part, rows of speed")
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.only:
        run, few, many = PARTS[name]
        print(f"\n{name}")
        run(arguments.repeats or (many if arguments.full else few))
