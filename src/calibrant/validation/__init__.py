"""Internal validation: how well a model does on new rows, told from the rows that it was made
of.
"""
