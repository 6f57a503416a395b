"""Hand-written mutants of guarantees; each must fail the check that is named with it.

The checks are plain functions of ``tests/guarantees``. A change is applied to the imported module,
so that everything that uses it changes too.
"""

import ast
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tools.mutants.swapping import functions_of_file, put_in

__all__ = ["HAND", "Change", "main", "survivors"]

ROOT = Path(__file__).resolve().parents[2]
CHECKS = ROOT / "tests" / "guarantees"


class Change(NamedTuple):
    """``before``, which stands once in the module at ``path``, becomes ``after``; ``checks``: a
    file of checks and the names in it.
    """

    path: str
    before: str
    after: str
    checks: tuple[str, ...]


#: Files of checks, by what they are of.
CONFORMAL, CERTIFIED, AUDIT, MONITOR = "conformal", "certified", "audit", "monitor"
ONLINE = "online"
HAND: tuple[Change, ...] = tuple(
    Change(path, before, after, checks)
    for path, changes in {
        "_numerics/conformal.py": (
            ("(n + 1.0) * risk", "(n + 2.0) * risk", (CONFORMAL, "risk_control_at_the_row")),
            ("(n + 1.0) * risk", "n * risk", (CONFORMAL, "risk_control_at_the_row")),
            ("risk + 1e-09", "risk - 1e-09", (CONFORMAL, "risk_control_at_the_row")),
            (
                "flatnonzero(left + 1.0 <= limit)",
                "flatnonzero(left + 1.0 < limit - 1e-9)",
                (CONFORMAL, "risk_control_at_the_row"),
            ),
            (
                "flatnonzero(left + 1.0 <= limit)",
                "flatnonzero(left <= limit)",
                (CONFORMAL, "risk_control_at_the_row"),
            ),
            (
                "if total + 1.0 <= limit",
                "if total <= limit",
                (CONFORMAL, "nothing_has_to_be_given_up"),
            ),
            ("return np.ceil((np", "return np.floor((np", (CONFORMAL, "ranks_at_whole")),
            ("(np.asarray(n) + 1.0) *", "np.asarray(n) *", (CONFORMAL, "ranks_at_whole")),
            (
                "np.asarray(level) * (1.0 - ROUNDING))",
                "np.asarray(level) * (1.0 + ROUNDING))",
                (CONFORMAL, "ranks_at_whole"),
            ),
            ("int(np.ceil(level", "int(np.floor(level", (CONFORMAL, "ranks_at_whole")),
            (
                "searchsorted(mass, rank, side='left')",
                "searchsorted(mass, rank, side='right')",
                (CONFORMAL, "ranks_at_whole", "tied_scores"),
            ),
            (
                "rank = (total + new_mass) *",
                "rank = total *",
                (CONFORMAL, "clusters_count_once", "weights_of_new_rows"),
            ),
            (
                "if shares else conformal_rank",
                "if not shares else conformal_rank",
                (CONFORMAL, "clusters_count_once"),
            ),
            (
                "np.bincount(cluster, weights=weight)[cluster]",
                "np.bincount(cluster)[cluster]",
                (CONFORMAL, "clusters_count_once"),
            ),
            ("if rank <= len(weight)", "if rank < len(weight)", (CONFORMAL, "ranks_of_each_row")),
            ("[:, rank - 1] if", "[:, rank - 2] if", (CONFORMAL, "ranks_of_each_row")),
            ("(total + 1.0) * level", "total * level", (CONFORMAL, "ranks_of_each_row")),
            ("2.0 * level - 1.0 - extra", "level - extra", (CONFORMAL, "what_folds_cost")),
            ("extra = min(extra", "extra = max(extra", (CONFORMAL, "what_folds_cost")),
            ("level - OFF_BOUND) if u", "level - 0.5) if u", (CONFORMAL, "conditional_limits")),
            (
                "return np.inf if h > 0.0 else -np.inf",
                "return -np.inf if h > 0.0 else np.inf",
                (CONFORMAL, "conditional_limits"),
            ),
            ("abs(angle) >= 0.5", "abs(angle) > 0.5", (ONLINE, "feedback_is_infinite")),
            ("return REACH * math", "return 4.0 * math", (ONLINE, "feedback_is_infinite")),
        ),
        "decisions/risk_control.py": (
            (
                "math.ceil(1.0 / self.risk - 1.0 - 1e-09)",
                "math.floor(1.0 / self.risk - 2.0)",
                (CONFORMAL, "needs_as_many_rows"),
            ),
            (
                "drop * times[row], float(times @ start), self.n_,",
                "drop * times[row], float(times @ start), self.n_ + 1.0,",
                (CONFORMAL, "counts_its_new_row"),
            ),
            (
                "together = p_values.max(axis=0)",
                "together = p_values.min(axis=0)",
                (CERTIFIED, "certified_settings"),
            ),
            (
                "test(total, count, risk), 1.0)",
                "test(total, count, risk), 0.0)",
                (CERTIFIED, "certified_settings"),
            ),
        ),
        "decisions/cells.py": (
            (
                "upto - below + new if u is None",
                "upto - below if u is None",
                (CONFORMAL, "scores_of_cells"),
            ),
            ("/ (mass[-1] + new)", "/ mass[-1]", (CONFORMAL, "scores_of_cells")),
            (
                "searchsorted(scores, score, side='left')",
                "searchsorted(scores, score, side='right')",
                (CONFORMAL, "scores_of_cells"),
            ),
        ),
        "core/conformal_forecast.py": (
            ("return 0.5 + 0.5 * level if", "return level if", (CONFORMAL, "ends_of_their_own")),
            (
                "if self.side == 'both' and (not self.symmetric) else",
                "if not self.symmetric else",
                (CONFORMAL, "one_end_alone", "ends_of"),
            ),
        ),
        "_numerics/certificates.py": (
            (
                "errors + 1.0, 1.0 - risk), 1.0)",
                "errors + 2.0, 1.0 - risk), 1.0)",
                (CERTIFIED, "binomial_tails"),
            ),
            (
                "errors + 1.0, 1.0 - risk), 1.0)",
                "errors + 1.0, risk), 1.0)",
                (CERTIFIED, "binomial_tails"),
            ),
            ("math.ceil(math.log(delta)", "math.floor(math.log(delta)", (CERTIFIED, "fewest_rows")),
            (
                "binomial_p_value(middle, n, risk) <= delta",
                "binomial_p_value(middle, n, risk) < delta",
                (CERTIFIED, "most_errors"),
            ),
            ("bentkus = math.e * binomial", "bentkus = binomial", (CERTIFIED, "hoeffding")),
            ("np.ceil(total - ROUNDING", "np.floor(total - ROUNDING", (CERTIFIED, "hoeffding")),
            (
                "np.geomspace(0.001, 0.98, 48)",
                "np.geomspace(0.001, 1.02, 48)",
                (CERTIFIED, "capital_of_bets"),
            ),
            (
                "0.5 / (len(STAKES) - first)",
                "1.0 / (len(STAKES) - first)",
                (CERTIFIED, "capital_of_bets"),
            ),
            (
                "p_values <= delta / n_starts",
                "p_values <= delta",
                (CERTIFIED, "a_fixed_sequence_of_settings"),
            ),
            ("p_values <= delta", "p_values < delta", (CERTIFIED, "a_fixed_sequence_of_settings")),
            ("(1.0 - level) / len(counts)", "(1.0 - level)", (CERTIFIED, "simultaneous")),
            (
                "searchsorted(places, at, side='left')",
                "searchsorted(places, at, side='right') - 1",
                (CERTIFIED, "simultaneous"),
            ),
            (
                "risk, delta, test) > delta)\n        if len(failed)",
                "risk, delta, test) >= delta)\n        if len(failed)",
                (CERTIFIED, "several_starts_by_fractions"),
            ),
            (
                "return int(places[failed[0]]) - 1",
                "return int(places[failed[0]])",
                (CERTIFIED, "several_starts_by_fractions"),
            ),
            (
                "return int(places[failed[0]]) - 1",
                "return int(places[failed[-1]]) - 1",
                (CERTIFIED, "several_starts_by_fractions"),
            ),
            (
                "carried += share\n        last = _last",
                "carried = share\n        last = _last",
                (CERTIFIED, "several_starts_by_fractions"),
            ),
            (
                "if last < end - 1:\n            carried = 0.0",
                "if last < end - 1:\n            pass",
                (CERTIFIED, "several_starts_by_fractions"),
            ),
            (
                "np.maximum(most_errors(counts, risk, shares), 0.0)",
                "np.maximum(most_errors(counts, risk, shares), 0.0) + 1.0",
                (CERTIFIED, "where_the_sequences_begin"),
            ),
            (
                "shares = delta * parts / parts.sum()",
                "shares = delta * parts",
                (CERTIFIED, "where_the_sequences_begin"),
            ),
            (
                "if more[0][-1] > n:",
                "if more[0][-1] >= n + 1.0:",
                (CERTIFIED, "where_the_sequences"),
            ),
            ("1.0 - 2.0 * delta)[1]", "1.0 - delta)[1]", (CERTIFIED, "one_sided")),
            (
                "n - count + 1.0, share)",
                "n - count + 2.0, share)",
                (CERTIFIED, "where_the_sequences_begin"),
            ),
        ),
        "_numerics/intervals.py": (
            (
                "    tail = 0.5 * (1.0 - level)\n    low = np.where(k > 0",
                "    tail = 1.0 - level\n    low = np.where(k > 0",
                (CERTIFIED, "exact_limits"),
            ),
            (
                "betaincinv(k + 1, np.maximum(n - k, 1e-300)",
                "betaincinv(k + 1, np.maximum(n - k, 1e-300) + 1",
                (CERTIFIED, "exact_limits"),
            ),
        ),
        "decisions/selective.py": (
            (
                "arrays.scores(score) > self.threshold_",
                "arrays.scores(score) >= self.threshold_",
                (CERTIFIED, "row_left_out"),
            ),
            ("blocks.score[place + 1]) if", "blocks.score[place]) if", (CERTIFIED, "row_left_out")),
            (
                "(1.0 - self.confidence) / parts",
                "1.0 - self.confidence",
                (CERTIFIED, "half_of_the_failure"),
            ),
        ),
        "decisions/thresholds.py": (
            (
                "(1.0 - self.confidence) / len(limits)",
                "(1.0 - self.confidence)",
                (CERTIFIED, "failure_between_two"),
            ),
            (
                "np.cumsum(times[order]), errors + 1.0)",
                "np.cumsum(times[order]), errors + 2.0)",
                (CERTIFIED, "order_statistic_that"),
            ),
            (
                "values > self.high_, 1",
                "values >= self.high_, 1",
                (CERTIFIED, "order_statistic_that"),
            ),
            ("float(np.nextafter(low, -np.inf))", "low", (CERTIFIED, "events_alone")),
        ),
        "_numerics/step_down.py": (
            ("(1.0 + reached) / (1.0 + draws)", "reached / draws", (AUDIT, "step_down")),
            ("(1.0 + reached) / (1.0 + draws)", "(1.0 + reached) / draws", (AUDIT, "step_down")),
            ("(1.0 - 1e-10)", "(1.0 + 1e-10)", (AUDIT, "as_large_as_what")),
            ("np.maximum.accumulate((1.0", "np.asarray((1.0", (AUDIT, "below_one_before_it")),
            ("block[order][::-1], axis=0)[::-1]", "block[order], axis=0)", (AUDIT, "step_down")),
            ("return 2.0 * (1.0 + (above", "return (1.0 + (above", (AUDIT, "share_of_false_finds")),
            ("index[:, None] + 1.0)", "index[:, None] + 2.0)", (AUDIT, "share_of_false_finds")),
        ),
        "audits/nulls.py": (
            (
                "totals.variance >= LEAST_VARIANCE",
                "totals.variance > LEAST_VARIANCE",
                (AUDIT, "variance_of_five"),
            ),
            ("events >= LEAST_EVENTS", "events > LEAST_EVENTS", (AUDIT, "thirty_of_either_kind")),
            ("LEAST_VARIANCE = 5.0", "LEAST_VARIANCE = 4.0", (AUDIT, "variance_of_five")),
        ),
        "_numerics/online.py": (
            (
                "fresh = -np.log(count * (count + 1.0)",
                "fresh = -np.log(count * count",
                (MONITOR, "money_that_is_not_bet"),
            ),
            ("-np.log(count + 1.0)))", "-np.log(count)))", (MONITOR, "money_that_is_not_bet")),
            ("count + 1.0) * len(factors))", "count + 1.0))", (MONITOR, "money_that_is_not_bet")),
            (
                "nearest = np.clip(alternative, floor, ceiling)",
                "nearest = np.clip(rate + 0.0 * alternative, floor, ceiling)",
                (MONITOR, "ratio_of_likelihoods"),
            ),
        ),
        "monitoring/monitor.py": (
            (
                "self.threshold_: float = 2.0 / self.alpha",
                "self.threshold_: float = 1.0 / self.alpha",
                (MONITOR, "half_of_alpha"),
            ),
            (
                "self.threshold_ = 1.0 / self.alpha",
                "self.threshold_ = 0.5 / self.alpha",
                (MONITOR, "from_its_threshold_on"),
            ),
            (
                "0.5 * self.alpha, self.tolerance)",
                "self.alpha, self.tolerance)",
                (MONITOR, "claim_of_a_reference"),
            ),
            (
                "np.exp(-max(self.path_, default=0.0))",
                "np.exp(-self.path_[-1])",
                (MONITOR, "remember_the_largest"),
            ),
        ),
        "monitoring/claims.py": (
            (" / max(float((n > 0.0).sum()), 1.0))", ")", (MONITOR, "claim_of_a_reference")),
            (
                "low - score, -1.0) - tolerance",
                "low - score, -1.0) + tolerance",
                (MONITOR, "claim_of_a_reference"),
            ),
        ),
        "monitoring/score_limits.py": (
            ("self.control <= 0.0", "self.control < 0.0", (ONLINE, "miscoverage_of_zero")),
            ("self.control >= 1.0", "self.control > 1.0", (ONLINE, "miscoverage_of_zero")),
            ("directed > issued[0]", "directed >= issued[0]", (ONLINE, "score_at_its_limit")),
            ("| np.isneginf(issued[0])", "| False", (ONLINE, "at_most_an_empty")),
            ("self.n - issued[4]", "self.n - issued[4] - 1", (ONLINE, "delay_counts")),
            ("wait = self.delay + 1.0", "wait = self.delay", (ONLINE, "promise_of_two_ends")),
            ("self.ends * self.deviation(n)", "self.deviation(n)", (ONLINE, "promise_of_two")),
        ),
    }.items()
    for before, after, checks in changes
)


def survivors(root: Path = ROOT) -> list[str]:
    """The changes that none of their checks notices, and those whose line no longer exists.

    Correct the latter in the list.
    """
    out = list[str]()
    loaded: dict[str, list[Callable[[], None]]] = {}
    for change in HAND:
        name, *words = change.checks
        path = root / "tests" / "guarantees" / f"test_{name}_edges.py"
        if name not in loaded:
            loaded[name] = _checks(path) if path.exists() else []
        checks = [one for one in loaded[name] if any(word in one.__name__ for word in words)]
        module = importlib.import_module(
            "calibrant." + change.path.removesuffix(".py").replace("/", ".")
        )
        if not _noticed(module, change, checks):
            gone = "" if _stands(module, change) else " (no such line any more: mend the list)"
            out.append(f"{change.path}: {change.before!r} -> {change.after!r}{gone}")
    return out


def _checks(path: Path) -> list[Callable[[], None]]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [one for name, one in vars(module).items() if name.startswith("test_")]


def _stands(module: ModuleType, change: Change) -> bool:
    """Whether there is one such line."""
    return canonical(module).count(change.before) == 1


def canonical(module: ModuleType) -> str:
    """The source as ``ast.unparse`` writes it, whatever formatter came last."""
    return ast.unparse(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")))


def _noticed(module: ModuleType, change: Change, checks: list[Callable[[], None]]) -> bool:
    filename = str(module.__file__)
    if not _stands(module, change):
        return False
    changed = ast.parse(canonical(module).replace(change.before, change.after))
    _take_places(changed, ast.parse(Path(filename).read_text(encoding="utf-8")))
    code = compile(ast.fix_missing_locations(changed), filename, "exec")
    undo = put_in(code, functions_of_file(filename), filename)
    try:
        return bool(undo) and any(_fails(check) for check in checks)
    finally:
        for one in reversed(undo):
            one()


def _take_places(changed: ast.AST, original: ast.AST) -> None:
    """Give what is the same in both the lines of the original, by which functions are known."""
    if type(changed) is not type(original):
        return
    if hasattr(original, "lineno"):
        ast.copy_location(changed, original)
    pairs = zip(ast.iter_child_nodes(changed), ast.iter_child_nodes(original), strict=False)
    for one, other in pairs:
        _take_places(one, other)


def _fails(check: Callable[[], None]) -> bool:
    try:
        check()
    except Exception:
        return True
    return False


def main() -> int:
    """Print what survives; 1 if anything does."""
    start, found = time.process_time(), survivors()
    print(
        f"killed: {len(HAND) - len(found)} of {len(HAND)}, in {time.process_time() - start:.1f} CPU"
        " seconds"
    )
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return int(bool(found))
