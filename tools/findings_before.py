"""Count the tests of findings that fail at the commits where the findings were made:
``python -m tools.findings_before``.

Runs ``tests/findings`` at the commit where each round of findings was made (F: 1c59415, G: 527bd88,
H: 6dd4faf5) and here, and prints one row per finding. A failure there counts only if the finding
causes it, not an import, a name or an option that does not exist there. The exit code is 1 if a
finding has no such failure, no test, or a test that fails here.

``python -m tools.findings_before G14 G15``     these only
``python -m tools.findings_before --write``     H only; also writes its ``outcomes_6dd4faf5.json``
``python -m tools.findings_before --stored``    G and H, beside such files; nothing else is run
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

from tools.measure import ROOT, checkout

__all__ = ["Outcome", "is_own", "main", "outcomes"]

FOLDER = Path("tests") / "findings"
#: Where the findings of a letter were made, and which of them must have a test.
ROUNDS = {"f": "1c59415", "g": "527bd88", "h": "6dd4faf5"}
LATER = {28, 30}
EVERY = {
    "g": [f"g{j:02d}" for j in range(1, 28)],
    "h": [f"h{j:02d}" for j in range(1, 34) if j not in LATER],
}
#: Bytes of memory of a run: counts without a limit (H33) would take all there is.
MEMORY = 6 * 2**30
#: Failures that only show that something has another name at that commit.
OTHER_NAMES = re.compile(
    r"ModuleNotFoundError|ImportError|NameError|collection failure|fixture '\w+' not found"
    r"|No such (option|command)"
    r"|TypeError: .*(unexpected keyword|positional argument|required keyword|no option)"
    r"|AttributeError: (module|type object) "
    r"|AttributeError: '[A-Z](?!oneType)\w*' object has no attribute"
)


@dataclass(frozen=True)
class Outcome:
    """Outcome of a test: passed, failed, skipped or open (marked as still failing)."""

    outcome: str
    reason: str = ""

    @property
    def own(self) -> bool:
        """Whether the finding itself made the test fail."""
        return self.outcome == "failed" and is_own(self.reason)


def is_own(reason: str) -> bool:
    """Whether a failure concerns the behaviour and not a name.

    Examples
    --------
    >>> is_own("AssertionError: assert 0.5 < 0.1"), is_own("ImportError: cannot import name 'x'")
    (True, False)
    """
    return OTHER_NAMES.search(reason) is None


def outcomes(root: Path, letter: str, findings: set[str], *, marked: bool) -> dict[str, Outcome]:
    """{test: outcome} of a round in one run of pytest; ``marked`` keeps the marks of xfail."""
    files = [str(file) for file in _files(root, letter) if file.name.split("_")[1] in findings]
    if not files:
        return {}
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "junit.xml"
        options = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--tb=short"]
        command = [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", *files]
        command += [] if marked else ["--runxfail"]
        done = subprocess.run(
            command,
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )
        if not report.exists():
            raise SystemExit(f"pytest did not run in {root}: {(done.stdout + done.stderr)[-1000:]}")
        cases = ElementTree.parse(report).getroot().iter("testcase")
        return {_name(case): _outcome(case) for case in cases}


def _files(root: Path, letter: str) -> list[Path]:
    return sorted((root / FOLDER).glob(f"test_{letter}[0-9][0-9]_*.py"))


def _name(case: ElementTree.Element) -> str:
    """The test's name; a file that cannot be collected is a case of its own."""
    file = case.get("classname") or case.get("name") or ""
    return f"{file.rsplit('.', 1)[-1]}::{case.get('name')}"


def _outcome(case: ElementTree.Element) -> Outcome:
    for kind in ("failure", "error", "skipped"):
        if (found := case.find(kind)) is not None:
            message = " ".join(f"{found.get('message') or ''}".split())[:300]
            if kind == "skipped":
                return Outcome("open" if found.get("type") == "pytest.xfail" else kind, message)
            return Outcome("failed", f"{message} {_raised(found.text or '')}".strip())
    return Outcome("passed")


def _raised(text: str) -> str:
    """The last line that names an error, where the message of the report does not."""
    named = re.findall(r"^E\s+((?:\w+\.)*\w+(?:Error|Exception|Warning)\b.*)$", text, re.MULTILINE)
    return named[-1][:200] if named and "collection failure" not in text else ""


def _before(letter: str, findings: set[str]) -> dict[str, Outcome]:
    """The outcomes where the findings of ``letter`` were made, by today's tests."""
    with tempfile.TemporaryDirectory() as folder:
        root = checkout(ROUNDS[letter], Path(folder))
        for name in ("findings", "golden"):
            source, target = ROOT / "tests" / name, root / "tests" / name
            shutil.copytree(source, target, dirs_exist_ok=True)
        return outcomes(root, letter, findings, marked=False)


def _file_of(letter: str) -> Path:
    return ROOT / FOLDER / f"outcomes_{ROUNDS[letter]}.json"


def _stored(letter: str) -> dict[str, Outcome]:
    stored = json.loads(_file_of(letter).read_text(encoding="utf-8"))["outcomes"]
    return {name: Outcome(row["outcome"], row["reason"]) for name, row in stored.items()}


def _write(letter: str, results: dict[str, Outcome], findings: set[str]) -> None:
    """Keep the outcomes, so that later changes are compared with them after names change."""
    stored = _stored(letter) if _file_of(letter).exists() else {}
    others = {name: row for name, row in stored.items() if name.split("_")[1] not in findings}
    rows = {
        name: asdict(row) | {"own": row.own} for name, row in sorted((others | results).items())
    }
    text = json.dumps({"revision": ROUNDS[letter], "outcomes": rows}, indent=1)
    _file_of(letter).write_text(f"{text}\n", encoding="utf-8")


def _row(name: str, before: dict[str, Outcome], now: dict[str, Outcome]) -> tuple[str, bool]:
    """The line of a finding, and whether it is shown to fail before and not to fail now."""
    was = [one for test, one in before.items() if test.startswith(f"test_{name}_")]
    is_ = [one for test, one in now.items() if test.startswith(f"test_{name}_")]
    own, other = sum(one.own for one in was), sum(one.outcome == "failed" for one in was)
    kinds = ("passed", "open", "failed", "skipped")
    counts = {kind: sum(one.outcome == kind for one in is_) for kind in kinds}
    good = own > 0 and not counts["failed"] and counts["passed"] + counts["open"] > 0
    line = f"{name.upper():8s} {own:12d} {other - own:14d} {len(was):6d}"
    line += "".join(f" {counts[kind]:8d}" for kind in kinds)
    return f"{line}{'' if good else '   <- no test' if not was + is_ else '   <-'}", good


def main(arguments: list[str]) -> int:
    """Print the table; return 1 unless every finding fails before and passes, or is open, now."""
    parser = argparse.ArgumentParser("python -m tools.findings_before", description=__doc__)
    parser.add_argument("findings", nargs="*", metavar="FINDING", help="such as G14; default all")
    parser.add_argument("--stored", action="store_true", help="compare with the file of outcomes")
    parser.add_argument("--write", action="store_true", help="write the file of outcomes")
    options = parser.parse_args(arguments)
    letters = list(EVERY) if options.stored else ["h"] if options.write else list(ROUNDS)
    wanted = {one.lower() for one in options.findings}
    titles = ("before: own", "other reasons", "tests", "now: pass", "open", "fail", "skip")
    print(
        f"{'finding':8s} {titles[0]:>12s} {titles[1]:>14s} {titles[2]:>6s}{titles[3]:>10s}", end=""
    )
    print("".join(f"{title:>9s}" for title in titles[4:]))
    bad, total = [], 0
    for letter in letters:
        there = [file.name.split("_")[1] for file in _files(ROOT, letter)]
        names = sorted({*there, *EVERY.get(letter, ())})
        findings = {name for name in names if not wanted or name in wanted}
        before = _stored(letter) if options.stored else _before(letter, findings)
        now = outcomes(ROOT, letter, findings, marked=True)
        if options.write:
            _write(letter, before, findings)
        for name in sorted(findings):
            line, good = _row(name, before, now)
            print(line, flush=True)
            bad += [] if good else [name.upper()]
            total += 1
    print(f"{total} findings; to be looked at: {', '.join(bad) or 'none'}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
