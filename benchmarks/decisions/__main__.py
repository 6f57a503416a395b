"""Everything on decisions:
``python -m benchmarks.decisions [sets|thresholds|rare] [options of that part]``; without a
part, all.
"""

import sys

from benchmarks.decisions import rare, sets, thresholds

PARTS = {"rare": rare.main, "sets": sets.main, "thresholds": thresholds.main}

if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in PARTS:
        sys.exit(PARTS[sys.argv[1]](sys.argv[2:]))
    if sys.argv[1:]:
        sys.exit(
            f"the parts are {', '.join(PARTS)}; got {sys.argv[1]!r}; name one before its options."
        )
    sys.exit(max([main([]) for main in PARTS.values()]))
