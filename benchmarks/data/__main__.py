"""``python -m benchmarks.data list|fetch NAME``: the data sets of the benchmarks, and how to get
them. See --help.
"""

import argparse
import fnmatch

from benchmarks.data.download import FetchError
from benchmarks.data.fetch import ADDRESS, fetch, folder
from benchmarks.data.table import DataSet, data_sets

__all__ = ["main"]


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.data",
        description="List the data sets of the benchmarks, or download some of them.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name, size, source, licence as stated, and what is here")
    get = commands.add_parser("fetch", help="download with checksums into $CALIBRANT_DATA or data/")
    get.add_argument("names", nargs="+", metavar="NAME", help="names or patterns, such as 'uci/*'")
    get.add_argument("--address", default=ADDRESS, help=f"another server of the files ({ADDRESS})")
    return parser


def _line(data: DataSet) -> str:
    here = "here" if (folder() / f"{data.name}.npz").is_file() else "-"
    way = "fetch" if data.conversion else "by hand"
    size = f"{data.bytes / 1e6:.1f} MB"
    source = f"github.com/{data.repository}@{data.commit[:12]}"
    return f"{data.name:40s} {here:5s} {way:8s} {size:>8s}  {source}\n    licence: {data.licence}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return 1 where a data set cannot be had."""
    options, table = _options().parse_args(arguments), data_sets()
    if options.command == "list":
        print("\n".join(map(_line, table.values())))
        return 0
    chosen = {n: [k for k in table if fnmatch.fnmatchcase(k, n)] for n in options.names}
    failed = 0
    for name, found in chosen.items():
        failed += not found
        if not found:
            print(f"no data set is named {name!r}: see `python -m benchmarks.data list`.")
        for key in found:
            try:
                print(f"{key}: {fetch(table[key], folder(), options.address)}", flush=True)
            except FetchError as error:
                failed += 1
                print(f"{key}: {error}", flush=True)
    if failed < sum(map(len, chosen.values())):
        print(f"Set CALIBRANT_DATA={folder().resolve()} so that tests and benchmarks find them.")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
