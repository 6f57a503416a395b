"""Measure the share of public names whose types a user's type checker knows:
``python tools/typed_surface.py``.

Pyright's ``--verifytypes`` goes through every public name; the exit code is 1 below ``LEAST`` of
them, and what is missing is listed.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["LEAST", "main"]

#: Of all public names, the share whose types must be known.
LEAST = 0.99


def main() -> int:
    """Run pyright, print the share and the names without types, and return the exit code."""
    pyright = Path(sys.executable).with_name("pyright")
    command = [
        str(pyright),
        "--pythonpath",
        sys.executable,
        "--verifytypes",
        "calibrant",
        "--ignoreexternal",
        "--outputjson",
    ]
    # The sources as they are: pyright does not look for py.typed behind an editable install.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["typeCompleteness"]
    for symbol in found["symbols"]:
        if symbol["isExported"] and (not symbol["isTypeKnown"] or symbol["isTypeAmbiguous"]):
            said = (
                symbol["diagnostics"][0]["message"].splitlines()[0]
                if symbol["diagnostics"]
                else "its type is not known"
            )
            print(f"{symbol['name']}: {said}")
    share = found["completenessScore"]
    print(f"{share:.1%} of the public names have known types; at least {LEAST:.0%} must.")
    return 0 if share >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
