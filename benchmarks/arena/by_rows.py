"""The arena by number of calibration rows: ``python -m benchmarks.arena.by_rows --docs docs``
writes arena_by_rows.rst from its summary.
"""

import argparse
from pathlib import Path

from benchmarks.arena import results
from benchmarks.arena import table as numbers
from benchmarks.arena.markup import list_table
from benchmarks.arena.report import SECTIONS

__all__ = ["SIZES", "by_size", "main", "page"]

SIZES = (100, 250, 1_000)

PAGE = """Arena by rows
=============

The runs of the :doc:`arena`, by how many rows there were to calibrate on; log loss. Written by
``python -m benchmarks.arena.by_rows --docs docs`` from the results of that page. *Win rate*: the mean over all other methods of the share
of runs in which this one has the lower log loss. *Worse*: share of the runs more than 0.5 % worse than doing nothing. A method is left out
where it entered fewer than half of the runs.
"""


def by_size(summary, size):
    """{method: (win rate, share made worse)} of a frame of results, one line a run and method,
    at one size; and how many runs there are.
    """
    at = summary[summary["size"] == size].pivot(
        index="method", columns=["case", "seed"], values="log_loss"
    )
    at = at[at.notna().mean(axis=1) >= 0.5]
    worse = numbers.share_worse(at.to_numpy(), at.loc[numbers.NOTHING].to_numpy())
    return (
        dict(zip(at.index, zip(numbers.win_rates(at.to_numpy()), worse, strict=True), strict=True)),
        at.shape[1],
    )


def _section(title, summary):
    found = {size: by_size(summary, size) for size in SIZES if (summary["size"] == size).any()}
    theirs = set(summary.loc[summary["peer"], "method"])
    first = next(iter(found.values()))[0]
    names = sorted(
        {name for values, _ in found.values() for name in values},
        key=lambda name: -first.get(name, (-1.0, 0.0))[0],
    )
    rows = [
        ("method", *(f"{word}, {size:,} rows" for size in found for word in ("win rate", "worse")))
    ]
    for name in names:
        cells = [values.get(name) for values, _ in found.values()]
        text = [
            part
            for cell in cells
            for part in ((f"{cell[0]:.3f}", f"{100.0 * cell[1]:.0f} %") if cell else ("", ""))
        ]
        rows.append((name if name in theirs else f"**{name}**", *text))
    heading = (
        f"{title}"
        f" ({', '.join(f'{runs} runs of {size:,} rows' for size, (_, runs) in found.items())})"
    )
    return ["", heading, "-" * len(heading), "", *list_table(rows, "arena")[:-1]]


def page(summary):
    """The whole page."""
    lines = PAGE.splitlines()
    for title, belongs in SECTIONS:
        part = summary[belongs(summary["n_classes"].to_numpy())]
        lines += _section(title, part) if len(part) else []
    return "\n".join([*lines, "", "Ours in bold.", ""])


def main():
    """Read the summary, print or write the page."""
    import pandas as pd

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.arena.by_rows",
        description="The arena by number of calibration rows.",
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=results.RESULTS,
        help="where the arena's --report left its summary",
    )
    parser.add_argument("--docs", type=Path, help="write arena_by_rows.rst into this folder")
    options = parser.parse_args()
    files = sorted(options.results.glob("summary.*"))
    if not files:
        raise SystemExit(
            f"no summary in {options.results}: run python -m benchmarks.arena --part judged"
            " --report first"
        )
    text = page(
        pd.read_parquet(files[-1]) if files[-1].suffix == ".parquet" else pd.read_csv(files[-1])
    )
    if options.docs:
        (options.docs / "arena_by_rows.rst").write_text(text, encoding="utf-8")
    print(text if not options.docs else f"wrote {options.docs / 'arena_by_rows.rst'}")


if __name__ == "__main__":
    main()
