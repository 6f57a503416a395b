"""Audits that test whether a model is calibrated in every group, named or found, with correction
for their number.
"""
