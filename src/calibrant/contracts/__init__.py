"""The templates: what a calibrator, map, signal, metric and state promise; whoever writes one of
their own imports from here.
"""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
