"""Comparison of the same rows before and after calibration, and of several calibrators, for every
task.
"""
