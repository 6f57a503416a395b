"""``calibrant check``: test a lock file on a new version of the model."""

from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import FILE, SAVED, Columns, column_options
from calibrant.cli.wording import say

__all__ = ["check"]


@click.command()
@click.argument("lock", type=SAVED)
@click.argument("file", metavar="NEW", type=FILE)
@click.option(
    "--swap",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Number of this version among those checked with LOCK (default: the next one).",
)
@column_options()
@click.pass_context
def check(ctx: Any, lock: Path, file: Path, swap: int | None, columns: Columns) -> None:
    """Test whether the promise of LOCK holds on NEW, labelled rows of a new version of the model.

    LOCK is a lock file, -o NAME.json of `calibrant decide` or `fit`: a rule, or a calibrator. The
    exit code is 0 if the promise holds for every certified question, rate or level, and 1
    otherwise. The sentence names those where it is broken or cannot be told, and how many labels
    decide. A calibrator is broken if a re-fit on NEW lowers the score out of fold, and holds if it
    can lower it by 1 % at most. Each further version needs stronger evidence; number them with
    --swap. The test is void on rows that the new version was made with.

    \b
    Examples:
      calibrant check lock.json new.jsonl
      calibrant check lock.json newer.jsonl --swap 2
      calibrant check lock.json v2.csv --label outcome
    """
    from calibrant.cli.choosing import fitting, in_stored_unit
    from calibrant.core.calibrator import DomainCalibrator
    from calibrant.errors import InputError
    from calibrant.monitoring.promises import read_lock
    from calibrant.tables.readers import read_file

    locked = read_lock(lock)
    fitted = locked.fitted
    columns = in_stored_unit(fitted, columns)
    data: Any = read_file(file, columns, prefer=getattr(fitted, "inputs", None))
    if isinstance(fitted, DomainCalibrator):
        fitting(fitted, data)
    weight = None if data.labels is None else data.weight
    found = locked.check(*_rows(fitted, data), sample_weight=weight, version=swap)
    if not found:
        raise InputError(f"{lock} must certify something to check; its rule answers no row.")
    others = [str(one) for one in found if one.state != "holds"]
    held = ", ".join(one.name or "all rows" for one in found)
    limit = getattr(fitted, "risk", None)
    promise = "the promise" if limit is None else f"at most {limit:.3g} wrong among answered rows"
    say(f"Not kept: {promise}: {'; '.join(others)}." if others else f"Kept: {promise}, in {held}.")
    ctx.exit(bool(others))


def _rows(fitted: Any, data: Any) -> tuple[Any, ...]:
    """Return (predictions, outcomes) as the ``fit`` of the calibrator or rule takes them."""
    from calibrant.cli.decide import right_of

    if data.labels is None:
        return (data.said,)
    if not hasattr(fitted, "classes_") and hasattr(fitted, "fit_scores"):
        return data.values, right_of(data).astype(int)
    return data.given(fitted)["P"], data.labels
