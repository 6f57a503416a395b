"""Averages of a few calibrators, the default base of wrappers."""
