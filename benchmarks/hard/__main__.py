"""Intervals, tests and rules on laws that do not flatter them: ``python -m benchmarks.hard``.

Each line is a world with a known truth, a share of samples, and what that share should be: how
often a truly worse model is called better, an interval holds the truth, a true claim is rejected, a
rule is refused. Beside it stands what another revision found (``--before REV``; 527bd88, whose
numbers are kept); ``--only paired weights`` prints some of the tables.
"""

import sys

from benchmarks.hard.tables import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
