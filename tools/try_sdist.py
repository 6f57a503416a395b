"""Build the sdist, unpack it, and run its tests in a fresh environment, as packagers do.

Run: python tools/try_sdist.py [--python python3.13] [--dependencies locked|newest|lowest] [--
OPTIONS OF PYTEST]  (needs: build)
"""

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST = re.compile(r"([a-z0-9-]+)(?:\[[a-z,]+\])?>=([0-9.]+)")


def lowest() -> list[str]:
    """The oldest versions of what is imported that pyproject.toml and its tests allow."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = settings["project"]["optional-dependencies"]
    used = [*settings["project"]["dependencies"], *extras["cli"], *extras["frames"]]
    names = {LEAST.match(line)[1] for line in used}
    least: dict[str, list[int]] = {}
    for line in (*used, *settings["dependency-groups"]["test"]):
        name, version = LEAST.match(line).groups()
        if name in names:
            least[name] = max(least.get(name, []), [int(part) for part in version.split(".")])
    return [f"{name}=={'.'.join(map(str, version))}.*" for name, version in least.items()]


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
        "lowest": lowest(),
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
