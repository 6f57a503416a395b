"""``python -m tools.lint [CHECK ...]``: print a line for each violation, exit with 1 if any is.

``python -m tools.lint count`` prints how many texts still have each phrase that is to be refused.
"""

import sys
import time

from tools.lint import public, sources, words

__all__ = ["main"]


def main(names: list[str]) -> int:
    """Run all checks, or those named; their number of violations decides the exit code."""
    if names == ["count"]:
        words.count()
        return 0
    began, found = time.perf_counter(), 0
    checks = {c.__name__: c for c in (*sources.CHECKS, *public.CHECKS, *words.CHECKS)}
    unknown = set(names) - checks.keys()
    if unknown:
        print(f"no check is named {sorted(unknown)}; there are {', '.join(checks)}")
        return 2
    for name in names or checks:
        for line in checks[name]():
            print(f"{name}: {line}")
            found += 1
    seconds = time.perf_counter() - began
    print(f"{len(names or checks)} checks in {seconds:.1f} s, {found} violations")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
