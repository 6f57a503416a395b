"""Run the tests that concern one file: ``python tools/near.py src/calibrant/metrics/proper.py``.

First those of the file's own folder that carry its name, then those that name most of what it
offers. After ``--seconds`` (50) the rest is skipped, and the number of skipped tests is printed.
"""

import argparse
import ast
import re
import sys
import time
from pathlib import Path

import pytest

__all__ = ["Clock", "near"]

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "calibrant"
MOST = 30


class Clock:
    """A pytest plugin that skips what is left when the time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.end = seconds, None

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        now = time.monotonic()
        self.end = now + self.seconds if self.end is None else self.end
        if now > self.end:
            pytest.skip("out of time")


def near(path: Path) -> list[Path]:
    """The test files that concern a source file, the nearest first."""
    relative = path.resolve().relative_to(PACKAGE)
    offered = _offered(path) | {".".join(("calibrant", *relative.with_suffix("").parts))}
    word = re.compile(r"(?<![\w])(" + "|".join(map(re.escape, sorted(offered))) + r")(?!\w)")
    scored = []
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        mirrored = test.relative_to(ROOT / "tests").parent == relative.parent
        own = mirrored and test.stem.removeprefix("test_") in relative.stem
        named = len(set(word.findall(test.read_text(encoding="utf-8"))))
        if own or named:
            scored.append((not own, not mirrored, -named, test))
    return [test for *_, test in sorted(scored)[:MOST]]


def _offered(path: Path) -> set[str]:
    """The names that ``__all__`` of the file lists."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def main(arguments: list[str]) -> int:
    """Run the tests and return pytest's exit code, or 0 if no test concerns the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=50.0)
    options = parser.parse_args(arguments)
    found = near(options.file)
    print("\n".join(str(test.relative_to(ROOT)) for test in found) or "no test names it")
    if not found:
        return 0
    files = [str(test) for test in found]
    return int(
        pytest.main(["-q", "-x", "-p", "no:cacheprovider", *files], [Clock(options.seconds)])
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
