"""Splits of rows, and out-of-fold calibration."""
