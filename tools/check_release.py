"""Build the wheel and the sdist twice, and check the release.

Both builds must have the same bytes, and the tag and the changelog must name the version.

Run: python tools/check_release.py [--tag v0.1.0] [--notes notes.md]   (needs: pip install build)
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version() -> str:
    """The version in ``core/exports.py``, which must equal that in CITATION.cff."""
    said = re.search(
        r'__version__ = "(.+)"',
        (ROOT / "src/calibrant/core/exports.py").read_text(encoding="utf-8"),
    ).group(1)
    cited = re.search(
        r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    ).group(1)
    if said != cited:
        raise SystemExit(f"core/exports.py says {said}, CITATION.cff {cited}; make them agree.")
    return said


def notes(of: str) -> str:
    """The changelog's section of a version."""
    sections = re.split(
        r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    found = [
        s.partition("\n")[2].strip() for s in sections if s.partition("\n")[0].split(" ")[0] == of
    ]
    if not found:
        raise SystemExit(f"CHANGELOG.md has no section '## {of}'; rename 'Unreleased' to it.")
    return found[0]


def built(folder: Path) -> dict[str, str]:
    """Name -> SHA-256 of the files of one build."""
    epoch = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    environment = os.environ | {"SOURCE_DATE_EPOCH": epoch}
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", folder, ROOT],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def main() -> None:
    """Check the release, and leave its files in dist/."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", help="the tag to be released, v and the version")
    parser.add_argument("--notes", type=Path, help="where to write the changelog's section")
    options = parser.parse_args()
    said = version()
    if options.tag is not None and options.tag != f"v{said}":
        raise SystemExit(f"the tag is {options.tag}, the version {said}; tag v{said}.")
    if options.notes is not None:
        options.notes.write_text(notes(said), encoding="utf-8")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        first, second = built(Path(one)), built(Path(two))
        for name, digest in first.items():
            print(
                f"{digest} "
                f" {name}{'' if second.get(name) == digest else '  DIFFERS in the second build'}"
            )
        if first != second:
            raise SystemExit("two builds of this commit differ; make the build reproducible.")
        (ROOT / "dist").mkdir(exist_ok=True)
        for name in first:
            shutil.copy(Path(one) / name, ROOT / "dist" / name)


if __name__ == "__main__":
    main()
