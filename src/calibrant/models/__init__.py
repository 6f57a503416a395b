"""Calibrated versions of scikit-learn models."""
