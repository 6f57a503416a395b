"""Small bridges to tools in which models are kept: each imports its tool where it is used, or
needs none.
"""

from calibrant._exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
