"""Metrics of the risk of an event: one probability, and whether it happened."""
