"""Calibrators around scikit-learn models."""
