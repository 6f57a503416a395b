"""Reports on tables too large for memory, from sums that add up, cells of scores, and a seeded
sample of rows.
"""
