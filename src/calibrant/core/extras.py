"""Optional libraries, imported where they are used."""

import importlib
from types import ModuleType

from calibrant.errors import MissingDependencyError

__all__ = ["import_extra"]


def import_extra(module: str, feature: str, extra: str) -> ModuleType:
    """Import ``module``; the error names the feature that needs it and the command to install
    it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingDependencyError(
            f"{feature} needs {module.split('.')[0]}, which is not installed; run: pip install"
            f" 'calibrant[{extra}]'"
        ) from error
