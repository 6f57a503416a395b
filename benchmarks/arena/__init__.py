"""Calibrators × (data set, model, calibration size), beside the peers:
``python -m benchmarks.arena``.
"""
