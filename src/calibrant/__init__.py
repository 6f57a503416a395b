"""calibrant: know when to trust a prediction.

The public names are in ``__init__.pyi``, one line per name; a name is imported at its first use.
"""

from calibrant.core._exports import attach
from calibrant.core._version import __version__ as __version__

__getattr__, __dir__, __all__ = attach(__name__)
