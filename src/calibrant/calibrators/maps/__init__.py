"""Calibrators of class probabilities and confidences."""
