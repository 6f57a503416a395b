"""``python -m benchmarks.groups``: see :mod:`benchmarks.groups.repair`."""

import argparse
import os

from benchmarks.groups.repair import made, methods, real

parser = argparse.ArgumentParser(description="What repair by group gains on made cells and on real sets.")
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--data", default=os.environ.get("CALIBRANT_DATA", "../shared/data"))
arguments = parser.parse_args()
compared = methods()
made(compared, arguments.seeds)
real(compared, arguments.data, arguments.seeds)
