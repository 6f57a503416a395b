"""Sample sizes for studies of calibration: how many rows to validate a model, and how many to
update it.
"""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
