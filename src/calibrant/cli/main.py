"""The entry point: it needs nothing, so that without the command line's own libraries it can say
which are missing.
"""

import io
import sys
from typing import Any

from calibrant._support.extras import import_extra
from calibrant.errors import MissingDependencyError

__all__ = ["main"]


def main(arguments: Any = None) -> None:
    """Run the ``calibrant`` command with the given arguments (default: those of the process) and
    exit.
    """
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks is written as a code, rather than being an error.
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
