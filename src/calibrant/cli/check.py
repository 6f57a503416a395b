"""``calibrant check``: test a lock file on a new version of the model."""

from pathlib import Path
from typing import Any

import click

from calibrant.cli.options import FILE, SAVED, Columns, column_options, version_option
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
@version_option
@column_options(forecasts=False)
@click.pass_context
def check(ctx: Any, lock: Path, file: Path, swap: int | None, columns: Columns) -> None:
    """Test whether the promise of LOCK holds on NEW, a labelled log of a new version of the model.

    LOCK is a file from `calibrant decide` or `fit`. The exit code is 0 if the promise holds for
    every certified question, and 1 otherwise. The sentence names the questions where it is broken
    or cannot be told, and how many labels certify them again. Each further version needs stronger
    evidence; number them with --swap. The test is void on rows that the new version was made with.

    \b
    Examples:
      calibrant check lock.json new.jsonl
      calibrant check lock.json newer.jsonl --swap 2
    """
    from calibrant.cli.reading import read_file
    from calibrant.errors import InputError
    from calibrant.questions.lock import read_lock

    locked = read_lock(lock)
    found = locked.check(read_file(file, columns).said, version=swap)
    if not found:
        raise InputError(
            f"{file} must hold labelled rows of the certified questions of {lock}; it has none;"
            " pass a log of the same questions."
        )
    others = [str(one) for one in found if one.state != "holds"]
    promise = f"at most {locked.rules.risk:.3g} wrong among answered rows"
    say(
        f"Not kept: {promise}: {'; '.join(others)}."
        if others
        else f"Kept: {promise}, in {', '.join(one.question or 'all rows' for one in found)}."
    )
    ctx.exit(bool(others))
