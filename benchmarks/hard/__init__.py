"""Intervals, tests and rules on laws that do not flatter them."""
