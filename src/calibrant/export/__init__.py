"""Export of fitted calibrators to other languages, all from the same expression, and to MLflow; and
model cards of reports.
"""

from calibrant.core.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
