"""Metrics of regression forecasts: ``metric(y, mean, std)`` or ``metric(y, forecast)``, one file
per family.
"""
