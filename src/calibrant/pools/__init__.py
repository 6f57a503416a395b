"""Averages of a few calibrators: the base that wrappers start from."""
