"""Entry point of the command line, which imports no optional library and so can name those that
are missing.
"""

import io
import os
import sys
from typing import Any

from calibrant.core.extras import import_extra
from calibrant.errors import MissingDependencyError

__all__ = ["main"]


def main(arguments: Any = None) -> None:
    """Run the ``calibrant`` command with these arguments (default: ``sys.argv``) and exit."""
    # Read when NumPy is imported. Not only calibrant's own calls are then on one thread of BLAS.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal cannot encode is written as a code instead of failing.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        for library in ("click", "rich"):
            import_extra(library, "the calibrant command", "cli")
        from calibrant.cli.group import group

        group.main(args=arguments, prog_name="calibrant")
    except MissingDependencyError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
