"""Calibrators of error bars × (UCI set, model), beside the peers:
``python -m benchmarks.regression_arena``.
"""
