"""Automatic choice among calibrators."""
