"""The report on error bars: the same questions as for classes, answered for forecasts of
numbers.
"""
