"""Audits: is a model calibrated in every group, those given and those found, with their number
taken into account?
"""
