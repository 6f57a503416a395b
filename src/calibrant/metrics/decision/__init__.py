"""Measures of calibration by what they promise a decision: truthful, testable, actionable."""
