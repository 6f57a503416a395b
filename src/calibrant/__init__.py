"""calibrant: know when to trust a prediction.

What is offered stands in ``__init__.pyi``, one line a name; a name is imported when it is first
asked for.
"""

from calibrant._exports import attach
from calibrant._version import __version__ as __version__

__getattr__, __dir__, __all__ = attach(__name__)
