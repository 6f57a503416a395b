"""Mutation testing of the code that guarantees depend on.

``python -m tools.mutants [--sample 200] [--seed 0] [--file PATH] [--list] [--hand] [--fresh]``
changes one operator, comparison or number of a kernel, a decision, an audit, conformal regression
or the monitor at a time. It runs the tests of the file and of its importers, nearest first, until
one fails. ``--file`` selects files by the start of their path. It works in a copy of the tree, in
one process at a time. A stopped run resumes from the results in ``build/mutants``. Mutants that
change no answer are listed, each with its reason, in ``tools/mutants/equivalent.toml``.
"""

import argparse
import functools
import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from tools.mutants.making import Mutant, compiled, mutants, sources

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "mutants"
#: What promises rest on.
FOLDERS = ("_numerics/", "decisions/", "audits/", "regression/conformal", "monitoring/")
#: Files of tests that are looked at for one module.
FILES = 12


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutants", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument(
        "--sample", type=int, default=200, help="how many mutants (default 200; 0 for all)"
    )
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument(
        "--file", default="", help="only files whose path under src/calibrant begins so"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=36.0,
        help="CPU seconds a mutant: no test begins after a third (default 36)",
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    parser.add_argument(
        "--hand", action="store_true", help="run the list made by hand instead, in this process"
    )
    parser.add_argument("--fresh", action="store_true", help="forget what was found before")
    options = parser.parse_args()
    if options.hand:
        from tools.mutants.hand import main as hand

        sys.exit(hand())
    chosen = sampled(options.file, options.sample, options.seed)
    if options.list:
        print("\n".join(mutant.name for mutant in chosen))
        return
    if options.fresh and KEPT.exists():
        shutil.rmtree(KEPT)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        _copy(Path(folder))
        _tried(Path(folder), chosen, options.seconds)
    print(table(chosen, _found(), _equivalent()))


def sampled(beginning: str, size: int, seed: int) -> list[Mutant]:
    """So many of all mutants, by the seed; all for 0."""
    package = ROOT / "src" / "calibrant"
    every = [
        one
        for path in sources(package, FOLDERS)
        if path.startswith(beginning)
        for one in mutants(path, (package / path).read_text(encoding="utf-8"))
    ]
    picked = every if size == 0 or size >= len(every) else random.Random(seed).sample(every, size)
    return sorted(picked, key=lambda one: (one.path, one.line, one.name))


def table(
    chosen: list[Mutant], found: dict[str, dict[str, Any]], equivalent: dict[str, str]
) -> str:
    """The results by file and in total, with the survivors."""
    tried = [one for one in chosen if one.name in found or one.name in equivalent]
    counts: dict[str, Counter[str]] = {"all": Counter()}
    survivors = list[str]()
    for mutant in tried:
        status = "equivalent" if mutant.name in equivalent else found[mutant.name]["status"]
        kind = "killed" if status == "looped" else status
        for key in (mutant.path, f"{mutant.path.split('/')[0]}/", "all"):
            counts.setdefault(key, Counter())[kind] += 1
        if kind not in ("killed", "equivalent"):
            survivors.append(
                f"  {mutant.name} (line {mutant.line}{'' if kind == 'survived' else ', ' + kind})"
            )
    lines = [f"{'file':<48}{'mutants':>9}{'killed':>9}{'survived':>10}{'equivalent':>12}"]
    for key in sorted(counts, key=lambda name: (name == "all", name.endswith("/"), name)):
        one = counts[key]
        rest = sum(one.values()) - one["killed"] - one["equivalent"]
        lines.append(
            f"{key:<48}{sum(one.values()):>9}{one['killed']:>9}{rest:>10}{one['equivalent']:>12}"
        )
    told = sum(counts["all"].values()) - counts["all"]["equivalent"]
    spent = sum(found[m.name]["seconds"] for m in chosen if m.name in found)
    lines += [
        "",
        (
            f"killed: {counts['all']['killed']} of {told}"
            f" ({100.0 * counts['all']['killed'] / max(told, 1):.1f} %), in {spent:.0f} CPU seconds"
            " of tests on mutants"
        ),
    ]
    if len(tried) < len(chosen):
        lines.append(f"not tried: {len(chosen) - len(tried)}")
    return "\n".join([*lines, *(["", "survivors:", *survivors] if survivors else [])])


def _copy(folder: Path) -> None:
    """The files of the tree that git does not ignore."""
    named = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    for name in filter(None, named.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def _equivalent() -> dict[str, str]:
    """Name to reason."""
    listed = tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text(encoding="utf-8"))[
        "equivalent"
    ]
    return {one["mutant"]: one["reason"] for one in listed}


def _found() -> dict[str, dict[str, Any]]:
    """The last result of each mutant."""
    if not (KEPT / "results.jsonl").exists():
        return {}
    lines = (KEPT / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return {one["name"]: one for one in map(json.loads, lines)}


def _digest(*paths: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def _tried(root: Path, chosen: list[Mutant], seconds: float) -> None:
    """Try the mutants that no result is known of, each file's in a fork of this process, which
    has imported what they share.
    """
    os.chdir(root)
    data = os.environ.get("CALIBRANT_DATA", "../shared/data")
    os.environ |= {
        "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}",
        "CALIBRANT_DATA": str((ROOT / data).resolve()),
    }
    sys.path[:0] = [str(root / "src"), str(root)]
    from tools.mutants.near import Nearness

    import calibrant
    from calibrant.core.exports import classes

    assert Path(calibrant.__file__).is_relative_to(root), "the copy must be what is imported"
    for module in classes().values():
        import_module(module)
    near, equivalent, known = Nearness(root), _equivalent(), _found()
    tests = _digest(*sorted((root / "tests").rglob("*.py")))
    KEPT.mkdir(parents=True, exist_ok=True)
    by_path: dict[str, list[Mutant]] = {}
    for mutant in chosen:
        old = known.get(mutant.name, {})
        source = _digest(root / "src" / "calibrant" / mutant.path)
        done = old.get("source") == source and (
            old.get("status") in ("killed", "looped") or old.get("tests") == tests
        )
        if not done and mutant.name not in equivalent:
            by_path.setdefault(mutant.path, []).append(mutant)
    # In no order of names, so that what was tried when it is stopped is a sample too.
    order = sorted(by_path.items(), key=lambda one: hashlib.sha256(one[0].encode()).digest())
    for number, (path, several) in enumerate(order, 1):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                _session(root, path, several, near.tests(path)[:FILES], tests, seconds)
                status = 0
            finally:
                os._exit(status)
        os.waitpid(pid, 0)
        spent = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        now = _found()
        killed = sum(now.get(m.name, {}).get("status") in ("killed", "looped") for m in several)
        print(
            f"{number}/{len(by_path)} {path}: {killed} of {len(several)} killed ({spent:.0f} CPU s"
            " so far)",
            flush=True,
        )


def _session(
    root: Path,
    path: str,
    several: list[Mutant],
    files: list[tuple[int, Path]],
    tests: str,
    seconds: float,
) -> None:
    """Try the mutants of one file and append what is found."""
    from tools.mutants.swapping import functions_of_file, put_in
    from tools.mutants.trying import Runner, session_of

    source = root / "src" / "calibrant" / path
    text = source.read_text(encoding="utf-8")
    rank = {
        str(file): distance if file.name != f"test_{source.name}" else -1
        for distance, file in files
    }
    kept = KEPT / "timings.json"

    def work(runner: Runner) -> None:
        living = functions_of_file(str(source))
        runner.share()
        if kept.exists():
            runner.taken |= json.loads(kept.read_text(encoding="utf-8"))
        with (KEPT / "results.jsonl").open("a", encoding="utf-8") as out:
            for mutant in several:
                near = sorted(
                    runner.items,
                    key=lambda item: (
                        rank.get(str(item.path), -1),
                        runner.taken.get(item.nodeid, 0.5),
                    ),
                )
                code = compiled(text, mutant, str(source))
                change = functools.partial(put_in, code, living, str(source))
                found = runner.outcome(
                    [item.nodeid for item in near], change, seconds / 3.0, seconds
                )
                out.write(
                    json.dumps(
                        {
                            "name": mutant.name,
                            "source": _digest(source),
                            "tests": tests,
                            "status": found.status,
                            "by": found.by,
                            "seconds": round(found.seconds, 2),
                        }
                    )
                    + "\n"
                )
                out.flush()
        known = {node: taken for node, taken in runner.taken.items() if taken < float("inf")}
        kept.write_text(json.dumps(known), encoding="utf-8")

    session_of([str(source), *[str(file) for _, file in files]], work)


if __name__ == "__main__":
    main()
