"""Everything on decisions: ``python -m benchmarks.decisions``."""

import sys

from benchmarks.decisions import thresholds

if __name__ == "__main__":
    sys.exit(thresholds.main())
