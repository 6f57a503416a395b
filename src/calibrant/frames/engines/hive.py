"""Tables in folders such as ``model=a/day=2026-01-01``, whose names are columns."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["hive_root"]


def hive_root(paths: Sequence[str]) -> Any:
    """The folder above the first that is called ``name=value``; None where no file lies in one."""
    folders = Path(paths[0]).absolute().parts[:-1]
    named = [i for i, name in enumerate(folders) if "=" in name.strip("=")]
    return str(Path(*folders[: named[0]])) if named else None
