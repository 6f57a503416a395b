"""Before and after calibration on the same rows, and several calibrators side by side: once, for
every task.
"""
