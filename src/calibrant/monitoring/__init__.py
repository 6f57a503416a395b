"""Calibration over time: an alarm with a stated rate of false ones, what to do then, and the
slices that are off.
"""
