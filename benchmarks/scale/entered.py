"""Functions and files of the package that ``calibrant evaluate TABLE`` enters:
``python -m benchmarks.scale.entered`` prints them as JSON, after a first run that imports.
"""

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["GOALS", "entered"]

#: Most functions and files.
GOALS = {"functions": 320, "files": 55}
ROWS = 600


def entered(call: Callable[[], Any], root: str) -> dict[str, int]:
    """Return the numbers of functions and files under a folder that a call enters, without lambdas
    and comprehensions.
    """
    seen = set()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and code.co_name[0] != "<":
            seen.add((code.co_filename, code.co_firstlineno, code.co_name))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {"functions": len(seen), "files": len({file for file, *_ in seen})}


def main() -> dict[str, int]:
    """Return the numbers of the command on a CSV file of two classes."""
    from benchmarks.scale.tables import write

    import calibrant
    from calibrant.cli.main import main as command

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        write(file, ROWS)

        def call():
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
                command(["evaluate", str(file), "--risk", "risk", "--label", "label"])

        call()
        return entered(call, str(Path(calibrant.__file__).parent))


if __name__ == "__main__":
    print(json.dumps(main()))
