"""Reports: predictions measured into a plain dictionary, which is rendered as a page, Markdown or a
figure; and comparisons of calibrators, models and versions.
"""
