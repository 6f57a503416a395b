"""calibrant: know when to trust a prediction.

The public names are in ``__init__.pyi``, one line per name; a name is imported at its first use.
"""

from calibrant.core.exports import __version__ as __version__
from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
