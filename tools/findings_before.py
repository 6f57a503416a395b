"""How many tests of findings fail at the commit where the findings were made: ``python tools/findings_before.py [REV]``.

Lays ``tests/findings`` beside the sources, data files and tools of REV (default 1c59415) and runs them there and here; prints a row a
finding and exits with 1 if a finding has no test that fails there, or one that fails here.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tools.measure import ROOT, checkout

__all__ = ["main", "outcomes"]

BEFORE = "1c59415"


def outcomes(root: Path) -> dict[str, Counter]:
    """By finding ("f04"): how many of its tests passed, failed (errors and files that cannot be imported too) or were skipped."""
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    found: dict[str, Counter] = {}
    for file in sorted((root / "tests" / "findings").glob("test_f*.py")):
        command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--tb=no", str(file)]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        counts = Counter(re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL)\b", done.stdout, re.MULTILINE))
        name = file.name.split("_")[1]
        found.setdefault(name, Counter())
        found[name] += Counter(passed=counts["PASSED"], failed=counts["FAILED"] + counts["ERROR"], skipped=counts["SKIPPED"])
    return found


def main(arguments: list[str]) -> int:
    """Print the table; 1 where a finding is not shown to fail before and pass now."""
    revision = arguments[0] if arguments else BEFORE
    with tempfile.TemporaryDirectory() as folder:
        root = checkout(revision, Path(folder))
        shutil.copytree(ROOT / "tests" / "findings", root / "tests" / "findings", dirs_exist_ok=True)
        shutil.copytree(ROOT / "tests" / "golden", root / "tests" / "golden", dirs_exist_ok=True)
        before = outcomes(root)
    now = outcomes(ROOT)
    print(f"{'finding':8s} {'failing at ' + revision:>20s} {'of':>5s} {'failing now':>12s} {'of':>5s} {'skipped now':>12s}")
    for name in now:
        was, is_ = before[name], now[name]
        shown = was["failed"], was["passed"] + was["failed"], is_["failed"], is_["passed"] + is_["failed"], is_["skipped"]
        print(f"{name.upper():8s} {shown[0]:20d} {shown[1]:5d} {shown[2]:12d} {shown[3]:5d} {shown[4]:12d}")
    bad = [name for name in now if not before[name]["failed"] or now[name]["failed"]]
    total = [sum(table[name][key] for name in now) for table, key in ((before, "failed"), (now, "failed"), (now, "passed"))]
    print(f"{len(now)} findings; {total[0]} tests fail at {revision}; now {total[2]} pass and {total[1]} fail")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
