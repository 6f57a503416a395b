"""Saying how far a long fit has come."""

import sys
import time

__all__ = ["Progress"]

#: Seconds that pass before anything is said.
PATIENCE = 2.0


class Progress:
    """Called with what is done; speaks on the error stream where asked to, and only once the work has taken two seconds."""

    def __init__(self, verbose: bool) -> None:
        self.verbose: bool = verbose
        self.start: float = time.monotonic()

    def __call__(self, done: str) -> None:
        seconds = time.monotonic() - self.start
        if self.verbose and seconds > PATIENCE:
            print(f"calibrant: {done}, {seconds:.0f} s", file=sys.stderr, flush=True)
