"""Run tests on changed sources.

One process imports the package and its tests, and is forked for each mutant.
"""

import gc
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest

__all__ = ["Outcome", "Runner", "session_of"]

#: What a test may take of memory, bytes, so that a mutant that asks for all of it fails alone.
MEMORY = 12 * 2**30
#: A mutant that waits without computing is stopped after this multiple of its CPU seconds.
PATIENCE = 8.0

#: The exit status of a fork in which there was nothing to change.
UNREACHED = 4


class Outcome(NamedTuple):
    """Outcome of a mutant.

    ``status`` is "killed", "looped" (killed by its CPU time), "survived", "stuck" (it waited) or
    "unreached" (nothing to change was found); ``by`` is the test that failed, or ""; ``seconds``
    are of the CPU.
    """

    status: str
    by: str
    seconds: float


def session_of(files: list[str], work: Callable[["Runner"], None]) -> int:
    """Collect the tests of these files in this process, and call ``work`` with their runner.

    It returns pytest's exit status.
    """
    plugin = _Plugin(work)
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:terminalreporter",
        "-o",
        "addopts=",
        "--import-mode=importlib",
    ]
    return int(
        pytest.main([*options, "--doctest-modules", "-m", "not slow", *files], plugins=[plugin])
    )


class Runner:
    """Collected tests, and forks that run some of them."""

    def __init__(self, session: pytest.Session, plugin: "_Plugin") -> None:
        self.items, self._plugin = list(session.items), plugin
        #: CPU seconds of tests that passed, infinite of those that fail without a change.
        self.taken: dict[str, float] = {}
        self._by_node = {item.nodeid: item for item in self.items}
        self._sound: set[str] = set()

    @staticmethod
    def share() -> None:
        """Exclude existing objects from garbage collection, so that forks share their memory.

        They are no longer found by ``gc``.
        """
        gc.collect()
        gc.freeze()

    def outcome(
        self, nodes: list[str], change: Callable[[], object], seconds: float, limit: float
    ) -> Outcome:
        """Run these tests, in this order until one fails, after ``change`` has been made.

        No test begins after ``seconds`` of CPU, and none may run on after ``limit``. A test counts
        where it passes without the change: others are left out, and the rest is run again.
        """
        while True:
            found = self._run(
                [node for node in nodes if self.taken.get(node, 0.0) <= seconds],
                change,
                seconds,
                limit,
            )
            if (
                found.status not in ("killed", "looped")
                or found.by not in self._by_node
                or found.by in self._sound
            ):
                return found
            right = self._run([found.by], lambda: True, seconds, seconds)
            if right.status == "survived":
                self._sound.add(found.by)
                return found
            self.taken[found.by] = float("inf")

    def _run(
        self, nodes: list[str], change: Callable[[], object], seconds: float, limit: float
    ) -> Outcome:
        last = [""]

        def said(line: str) -> None:
            taken, node = line.split(" ", 1)
            if taken == "-":
                last[0] = node
            else:
                self.taken.setdefault(node, float(taken))

        def child(tell: Callable[[str], None]) -> int:
            try:
                if not change():
                    return UNREACHED
            except Exception as error:
                tell(f"- while importing: {type(error).__name__}\n")
                return 1
            todo, begin = [self._by_node[node] for node in nodes], _cpu()
            for item, after in zip(todo, [*todo[1:], None], strict=True):
                start = _cpu()
                if start - begin > seconds:
                    break
                tell(f"- {item.nodeid}\n")
                if not self._passes(item, after):
                    return 1
                tell(f"{_cpu() - start:.3f} {item.nodeid}\n")
            tell("- \n")
            return 0

        code, sign, spent = _forked(child, limit, said)
        if sign == signal.SIGXCPU or (sign == signal.SIGKILL and spent >= 0.9 * limit):
            return Outcome("looped", last[0], spent)
        if sign == signal.SIGALRM:
            return Outcome("stuck", last[0], spent)
        status = (
            "unreached" if code == UNREACHED else "survived" if code == 0 and not sign else "killed"
        )
        return Outcome(status, last[0], spent)

    def _passes(self, item: pytest.Item, after: pytest.Item | None) -> bool:
        self._plugin.failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        return not self._plugin.failed


class _Plugin:
    def __init__(self, work: Callable[[Runner], None]) -> None:
        self._work, self.failed = work, False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._work(Runner(session, self))
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed


def _cpu() -> float:
    return sum(
        sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


@contextmanager
def _quiet() -> Iterator[None]:
    with open(os.devnull, "w") as nowhere:
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
        yield


def _forked(
    child: Callable[[Callable[[str], None]], int], seconds: float, said: Callable[[str], None]
) -> tuple[int, int, float]:
    """(exit status, signal, CPU seconds) of a fork with a limit of CPU seconds.

    The lines that it reports are passed to ``said``.
    """
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(out)
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        code = 3
        try:
            with _quiet():
                code = child(lambda line: os.write(into, line.encode()) and None)
        finally:
            os._exit(code)
    os.close(into)
    end, rest, stuck = time.monotonic() + PATIENCE * seconds, b"", False
    while True:
        ready = select.select([out], [], [], 1.0)[0]
        if ready:
            block = os.read(out, 65536)
            if not block:
                break
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                said(line.decode())
        elif os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break
        elif time.monotonic() > end:
            stuck = True
            break
    os.close(out)
    # Whatever the tests started is in the fork's own group.
    try:
        if stuck:
            os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    _, status, used = os.wait4(pid, 0)
    spent = used.ru_utime + used.ru_stime
    if stuck:
        return 0, signal.SIGALRM, spent
    return (
        os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
        os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        spent,
    )
