"""Predictions of classes: the door that reads them, and the record that code below it trusts."""

from calibrant.predictions.given import Inputs
from calibrant.predictions.read import read, reference_pair
from calibrant.predictions.record import Predictions

__all__ = ["Inputs", "Predictions", "read", "reference_pair"]
