"""``python -m benchmarks.time``: levels, calibrators, estimates and monitors as time goes on.

Each part prints a table and its goals with what was found. ``--only adaptive learn`` runs some of
the parts; ``--full`` takes many more repeats than the few CPU minutes of the default.
"""

import argparse
import importlib
import warnings

#: Part -> its repeats by default and in full; module ``benchmarks.time.PART`` has ``run(repeats)``.
PARTS: dict[str, tuple[int, int]] = {
    "adaptive": (5, 50),
    "learn": (2, 10),
    "estimate": (2, 20),
    "doubts": (20, 200),
    "rates": (10, 50),
    "streams": (4, 20),
    "delays": (400, 2_000),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeats", type=int, help="repeats of each part")
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.only:
        few, many = PARTS[name]
        print(f"\n{name}")
        part = importlib.import_module(f"benchmarks.time.{name}")
        part.run(arguments.repeats or (many if arguments.full else few))
