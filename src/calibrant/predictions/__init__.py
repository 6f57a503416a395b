"""Predictions of classes: the function that validates them, and the validated record."""

from calibrant.predictions.given import Inputs
from calibrant.predictions.read import read, reference_pair
from calibrant.predictions.record import Predictions

__all__ = ["Inputs", "Predictions", "read", "reference_pair"]
