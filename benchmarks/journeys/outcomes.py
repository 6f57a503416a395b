"""What one question of a journey came to, and how many of them are too many."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from scipy import stats

__all__ = ["KINDS", "Cell", "Outcome", "counted", "faults_by_journey"]

#: The kinds of fault, as printed.
KINDS = (
    "wrong advice",
    "missed help",
    "false comfort",
    "false alarm",
    "doors disagree",
    "error",
)


@dataclass(frozen=True)
class Outcome:
    """One answer that was judged: ``fault`` says whether the truth contradicts it.

    ``allowed`` is the rate of faults that the product itself states, such as 5 % of a test, and
    ``regret`` what following the answer costs a row, in nats, beside the better in hindsight.
    """

    question: str
    kind: str
    fault: bool
    allowed: float = 0.0
    detail: str = ""
    regret: float = 0.0


@dataclass
class Cell:
    """All outcomes of one question of a journey in one world."""

    journey: str
    world: str
    question: str
    kind: str
    allowed: float
    asked: int = 0
    faults: int = 0
    regret: float = 0.0
    details: list[str] = field(default_factory=list)

    @property
    def too_many(self) -> bool:
        """Whether faults exceed what is allowed by more than Monte Carlo explains."""
        return bool(self.faults > stats.binom.ppf(0.999, self.asked, self.allowed))

    def to_dict(self) -> dict[str, Any]:
        """The cell as JSON holds it."""
        return asdict(self) | {"too_many": self.too_many}


def counted(found: Iterable[tuple[str, str, Outcome]]) -> list[Cell]:
    """The cells of (journey, world, outcome)."""
    cells: dict[tuple[str, str, str, str], Cell] = {}
    for journey, world, one in found:
        key = (journey, world, one.question, one.kind)
        cell = cells.setdefault(key, Cell(*key, allowed=one.allowed))
        cell.asked += 1
        cell.faults += one.fault
        cell.regret += one.regret
        if one.fault and one.detail and len(cell.details) < 2:
            cell.details.append(one.detail)
    return list(cells.values())


def faults_by_journey(cells: Iterable[Cell]) -> dict[str, dict[str, list[int]]]:
    """{journey or "in all": {kind: [faults, asked, cells with too many, cells]}}."""
    table: dict[str, dict[str, list[int]]] = {}
    for cell in cells:
        for name in (cell.journey, "in all"):
            row = table.setdefault(name, {kind: [0, 0, 0, 0] for kind in KINDS})[cell.kind]
            for j, value in enumerate((cell.faults, cell.asked, int(cell.too_many), 1)):
                row[j] += value
    if "in all" in table:
        table["in all"] = table.pop("in all")
    return table
