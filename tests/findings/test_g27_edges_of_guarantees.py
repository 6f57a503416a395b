"""G27: the tests of a guarantee notice when the line that it rests on is wrong by one, or by an
equality.

The tests of the checkout that calibrant is imported from are what is tested here: each kernel is
changed in a process of its own, and its own tests, with those of ``tests/guarantees`` where there
are any, must fail. At 527bd88 ``(n + 1) risk`` could become ``(n + 2) risk``, and other lines the
like, without a test that failed. The long list is in ``tools/mutants/hand.py``; the sampled ones in
``tools/mutants``.
"""

import json
import subprocess
import sys
from pathlib import Path

import calibrant

#: (name of the kernel's tests, function, before, after).
CHANGES = [
    ("risk_control", "least_parameter", "(n + 1.0) * risk", "(n + 2.0) * risk"),
    (
        "risk_control",
        "least_parameter",
        "flatnonzero(left + 1.0 <= limit)",
        "flatnonzero(left + 1.0 < limit - 1e-9)",
    ),
    ("binomial_tail", "allowed_errors", "risk)) <= delta", "risk)) < delta"),
    ("certified_threshold", "_shared", "each, test) <= each)", "each, test) < each)"),
    ("bounded_mean", "hoeffding_bentkus", "np.ceil(total", "np.floor(total"),
    ("step_down", "step_down", "(1.0 - 1e-10)", "(1.0 + 1e-10)"),
]
#: Runs the tests once for each change, until the first failure, and prints the changes that none
#: noticed.
RUN = """
import ast, importlib, json, os, pkgutil, sys, types
from pathlib import Path
import pytest
import calibrant._numerics as kernels

changes, files = json.loads(sys.argv[1]), sys.argv[2:]

class Changed:
    failed = False
    unnoticed = []

    def pytest_runtest_logreport(self, report):
        self.failed |= report.failed

    def pytest_runtestloop(self, session):
        for kernel, name, before, after in changes:
            names = [found.name for found in pkgutil.iter_modules(kernels.__path__)]
            every = [importlib.import_module("calibrant._numerics." + one) for one in names]
            module = next(
                m for m in every if getattr(vars(m).get(name), "__module__", None) == m.__name__
            )
            text = ast.unparse(ast.parse(Path(module.__file__).read_text(encoding="utf-8")))
            assert text.count(before) == 1, before
            code = compile(text.replace(before, after), module.__file__, "exec")
            function = getattr(module, name)
            made = [c for c in code.co_consts if isinstance(c, types.CodeType)]
            right, wrong = function.__code__, next(c for c in made if c.co_name == name)
            near = ("guarantees", f"test_{kernel}.py")
            own = [i for i in session.items if {i.path.name, i.path.parent.name} & {*near}]
            self.failed, function.__code__ = False, wrong
            for item, after_it in zip(own, [*own[1:], None]):
                if not self.failed:
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after_it)
            function.__code__ = right
            if not self.failed:
                self.unnoticed.append(f"{kernel}.{name}: {before} -> {after}")
        return True

told, sys.stdout = sys.stdout, open(os.devnull, "w")
plugin = Changed()
options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts="]
pytest.main([*options, "--import-mode=importlib", *files], plugins=[plugin])
print(json.dumps(plugin.unnoticed), file=told)
"""


def test_a_line_of_a_guarantee_that_is_wrong_is_noticed():
    root = Path(calibrant.__file__).resolve().parents[2]
    files = [
        root / "tests" / "_numerics" / f"test_{name}.py"
        for name in dict.fromkeys(change[0] for change in CHANGES)
    ]
    files += sorted((root / "tests").glob("guarantees/test_*.py"))
    command = [sys.executable, "-c", RUN, json.dumps(CHANGES), *map(str, files)]
    found = subprocess.run(
        command, cwd=root, capture_output=True, text=True, timeout=300, check=True
    )
    assert json.loads(found.stdout.splitlines()[-1]) == []
