"""Internal validation: the expected performance of a model on new rows, from its
development rows.
"""
