"""Curves: records of arrays that displays plot."""
