"""Tables of any size, batch by batch on existing engines: evaluation, calibration, samples, sums,
and readers of files.

``__init__.pyi`` lists the public names, one per line; each is imported at first access.
"""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
