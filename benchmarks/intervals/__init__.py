"""Conformal intervals, ours and the peers', on the same forecasts."""
