"""The door of regression: what a model said of a number, in whatever form, becomes one
predictive distribution a row.
"""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
