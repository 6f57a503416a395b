"""Every journey in every world, as often as it can afford."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time

from benchmarks.journeys.advising import group_repair, report_advice
from benchmarks.journeys.deciding import decide, sets
from benchmarks.journeys.doors import apply_and_export
from benchmarks.journeys.modelling import around_a_model
from benchmarks.journeys.outcomes import Cell, Outcome, counted
from benchmarks.journeys.planning import planned_study
from benchmarks.journeys.watching import comparison, monitor
from benchmarks.journeys.worlds import World

__all__ = ["JOURNEYS", "Journey", "run"]


@dataclass(frozen=True)
class Journey:
    """A way to use the product: ``ask(world, seed, quick)`` yields what came of it."""

    name: str
    ask: Callable[[World, int, bool], Iterator[Outcome]]
    repeats: int
    quick_repeats: int = 1


JOURNEYS = (
    Journey("report", report_advice, 4),
    Journey("groups", group_repair, 8, 4),
    Journey("model", around_a_model, 2),
    Journey("decide", decide, 40, 10),
    Journey("sets", sets, 40, 10),
    Journey("doors", apply_and_export, 1),
    Journey("monitor", monitor, 20, 4),
    Journey("compare", comparison, 60, 15),
    Journey("plan", planned_study, 40, 10),
)


def run(
    worlds: Sequence[World],
    journeys: Sequence[Journey] = JOURNEYS,
    repeats: float = 1.0,
    quick: bool = False,
    times: dict[str, float] | None = None,
) -> list[Cell]:
    """The cells of journeys in worlds; ``times`` gets the CPU seconds of each journey."""
    found = []
    for journey in journeys:
        start = process_time()
        n = max(1, round(repeats * (journey.quick_repeats if quick else journey.repeats)))
        for world in worlds:
            found += [(journey.name, world.name, one) for one in _asked(journey, world, n, quick)]
        if times is not None:
            times[journey.name] = process_time() - start
    return counted(found)


def _asked(journey: Journey, world: World, repeats: int, quick: bool) -> Iterator[Outcome]:
    """What came of each repeat; one that ends in an error is a fault of its own kind."""
    for seed in range(repeats):
        try:
            yield from journey.ask(world, seed, quick)
        except Exception as error:  # what the person would see
            detail = f"{type(error).__name__}: {str(error)[:300]}"
            yield Outcome("runs to its end", "error", True, 0.0, detail)
