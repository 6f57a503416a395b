"""Limits of options, which the command line names in its help without loading NumPy."""

__all__ = ["MOST_COUNT"]

#: Largest count that needs no other limit: bins, draws and windows beyond it fill the memory.
MOST_COUNT = 1_000_000
