"""Compare every number of this checkout with another commit's:
``python tools/compare_numbers.py REV``.

``tools/numbers_program.py`` runs on both trees, in a process of its own: reports, metrics with
their intervals, calibrators, decisions, audits, repairs of groups, comparisons, tables, exports,
monitoring and the command line. Numbers are compared bit by bit; differences and missing names are
listed, and the exit code is 1 if there are any.

``tools/numbers_map.json`` lists the exceptions: ``gone`` holds regular expressions for names that
were deleted on purpose, ``renamed`` maps those for names to their new names, and ``texts`` holds
those for names whose words may change, while their numbers are still compared. ``--part PART``
runs a part of the program, ``--only PREFIX`` shows one.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.measure import ROOT, checkout

__all__ = ["compare", "numbers_of", "without_words"]

PROGRAM, MAP = ROOT / "tools" / "numbers_program.py", ROOT / "tools" / "numbers_map.json"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
Found = dict[str, str | list[str]]


def numbers_of(root: Path, parts: Sequence[str] = ()) -> Found:
    """The program's results with the sources at ``root``, by name."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "numbers.json"
        environment = {
            **os.environ,
            "PYTHONPATH": str(root / "src"),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, str(PROGRAM), str(file), *parts]
        subprocess.run(command, env=environment, check=True, cwd=folder)
        return json.loads(file.read_text(encoding="utf-8"))


def without_words(
    found: Found, texts: Sequence[str], renamed: dict[str, str] | None = None
) -> Found:
    """``found`` under its new names; names that match one of ``texts`` keep only their numbers."""
    out: Found = {}
    for name, value in found.items():
        for old, new in (renamed or {}).items():
            name = re.sub(old, new, name)
        if isinstance(value, str) and any(re.search(text, name) for text in texts):
            value = NUMBER.findall(value)
        out[name] = value
    return out


def compare(before: Found, now: Found, gone: Sequence[str] = ()) -> list[str]:
    """One line for each name whose numbers differ, or that only one side has; a name that matches
    one of ``gone`` may be missing now.
    """
    lines = []
    for name in sorted(before.keys() | now.keys()):
        if name not in now and any(re.search(pattern, name) for pattern in gone):
            continue
        if name not in now or name not in before:
            lines.append(f"{'gone' if name not in now else 'new '} {name}")
        elif before[name] != now[name]:
            lines.append(f"differs {name}: {_shown(before[name])} -> {_shown(now[name])}")
    return lines


def _shown(value: str | list[str]) -> str:
    if isinstance(value, list):
        return f"{len(value)} numbers"
    try:
        return repr(float.fromhex(value))
    except (ValueError, OverflowError):
        return value[:80]


def main(arguments: list[str]) -> int:
    """Print the differences and their number; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", metavar="REV")
    parser.add_argument("--only", default="", metavar="PREFIX")
    parser.add_argument("--part", action="append", default=[], metavar="PART")
    options = parser.parse_args(arguments)
    left_out = json.loads(MAP.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        before = numbers_of(checkout(options.revision, Path(folder)), options.part)
    before = without_words(before, left_out["texts"], left_out["renamed"])
    now = without_words(numbers_of(ROOT, options.part), left_out["texts"])
    lines = compare(before, now, left_out["gone"])
    found = [line for line in lines if line.split(" ", 1)[1].lstrip().startswith(options.only)]
    print("\n".join(found))
    values = sum(len(v) if isinstance(v, list) else 1 for v in now.values())
    print(f"{values:,} values under {len(now):,} names; {len(found):,} names differ")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
