"""Splits and out-of-fold calibration."""
