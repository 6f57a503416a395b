"""Worlds with a known truth, and what a person takes away from calibrant in each of them."""
