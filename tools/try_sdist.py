"""Build the sdist, unpack it, and run its tests in a fresh environment, as packagers do.

Run: python tools/try_sdist.py [--python python3.13] [--dependencies locked|newest|lowest] [--
OPTIONS OF PYTEST]  (needs: build)
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The oldest that pyproject.toml allows.
LOWEST = ["numpy==2.0.*", "scipy==1.13.*", "scikit-learn==1.6.*"]


def unpacked(folder: Path) -> Path:
    """A fresh sdist's own folder."""
    subprocess.run(
        [sys.executable, "-m", "build", "--sdist", "--outdir", folder, ROOT],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def installed(source: Path, python: str, dependencies: str) -> Path:
    """The interpreter of a new environment that holds the package, its extras and its test
    group.
    """
    subprocess.run([python, "-m", "venv", source / ".venv"], check=True)
    inside = source / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    chosen = {
        "locked": ["--constraint", "requirements/constraints.txt"],
        "newest": [],
        "lowest": LOWEST,
    }[dependencies]
    subprocess.run([inside, "-m", "pip", "install", "--quiet", "--upgrade", "pip"], check=True)
    subprocess.run(
        [inside, "-m", "pip", "install", "--quiet", ".[all]", "--group", "test", *chosen],
        cwd=source,
        check=True,
    )
    return inside


def main() -> int:
    """Pytest's exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="whose environment to make")
    parser.add_argument("--dependencies", choices=["locked", "newest", "lowest"], default="locked")
    parser.add_argument("pytest", nargs="*", help="what else pytest is told")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = unpacked(Path(folder))
        python = installed(source, options.python, options.dependencies)
        subprocess.run([python, "--version"], check=True)
        subprocess.run([python, "-m", "pip", "list"], check=True)
        return subprocess.run(
            [python, "-m", "pytest", "-q", *options.pytest], cwd=source
        ).returncode


if __name__ == "__main__":
    raise SystemExit(main())
