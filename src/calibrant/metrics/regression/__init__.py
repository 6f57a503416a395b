"""Metrics of regression forecasts: ``metric(y, mean, std)`` or ``metric(y, forecast)``, a file
for each family.
"""
