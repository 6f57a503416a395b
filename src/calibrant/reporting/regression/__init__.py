"""Reports on the error bars of forecasts of a number."""
