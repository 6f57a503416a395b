"""``python -m benchmarks.groups``: see :mod:`benchmarks.groups.repair`."""

import argparse
import os

from benchmarks.groups.cohorts import cohorts
from benchmarks.groups.halves import halves
from benchmarks.groups.repair import made, methods, other, real

parser = argparse.ArgumentParser(
    description="What repair by group gains on made cells and on real sets."
)
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--data", default=os.environ.get("CALIBRANT_DATA", "../shared/data"))
parser.add_argument("--only", choices=["made", "real", "other", "halves", "cohorts"])
arguments = parser.parse_args()
compared = methods() if arguments.only not in ("halves", "cohorts") else {}
if arguments.only in (None, "made"):
    made(compared, arguments.seeds)
if arguments.only in (None, "real"):
    real(compared, arguments.data, arguments.seeds)
if arguments.only in (None, "other"):
    other(arguments.seeds)
if arguments.only in (None, "halves"):
    halves(arguments.data, arguments.seeds)
if arguments.only in (None, "cohorts"):
    cohorts(arguments.seeds)
