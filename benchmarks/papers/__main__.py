"""``python -m benchmarks.papers [NAME ...] [--quick | --full]``: redo the papers' tables.

--quick takes minutes and shows that everything runs; without it the tables are those of the
READMEs; --full is as near to the paper's own protocol as the data allow, for hours. Each step is a
module of its own, which keeps what it measured and goes on where it was stopped. A step whose data
are not here is left out, with the command that fetches them.
"""

import argparse
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import NamedTuple

from benchmarks.papers.geometric import data as geometric
from benchmarks.papers.stored import PAPERS

from calibrant.datasets.sets import data_folder

__all__ = ["STEPS", "Step", "main", "to_fetch"]

#: This interpreter, as it is called from here.
PYTHON = os.path.relpath(sys.executable)


class Step(NamedTuple):
    """A module below ``benchmarks.papers``, its arguments in three sizes (None: not in that size),
    the data that it reads, and whether it trains networks by PyTorch.
    """

    module: str
    quick: str | None
    usual: str
    full: str
    data: tuple[str, ...] = ()
    torch: bool = False


NETWORKS = tuple(
    f"network_outputs/{name}"
    for name in ("lenet-5-cifar10", "wideresnet-16-4-cifar10", "densenet-bc-100-cifar100")
)
#: Options of Hoki's tables: the networks whose outputs are held, and the one that is trained here.
HELD = "--networks " + " ".join(name.removeprefix("network_outputs/") for name in NETWORKS)
TRAINED = "--networks lenet-5-mnist --no-figures"
CLASSIFIERS = tuple(
    f"classifier_outputs/{name}-{data}"
    for name in ("1layer-nn", "adaboost", "mondrian-forest", "random-forest", "xgboost")
    for data in ("kitti", "mnist")
)
MANY_CLASSES = "stage2/nn_imagenet1k_lite0_lowres"
CIFAR_TEST = "stage2/nn_cifar10_test_set"
UNSEEN = tuple(f"stage2/{name}" for name in geometric.UNSEEN)
STEPS = {
    "geometric": (
        Step(
            "geometric.tables",
            "--data kitti --models rf --shuffles 1",
            "--as-stored",
            "--epochs 30 --shuffles 10 --full-boosting --pairwise",
            ("kitti",),
        ),
        Step("geometric.unseen", None, "", "", UNSEEN),
        Step(
            "geometric.figures",
            None,
            "--data mnist gtsrb --steps",
            "--data mnist gtsrb --steps",
            ("mnist", "gtsrb_jpeg"),
        ),
    ),
    "exploratory": (
        Step("exploratory.helps", "", "", "", (*NETWORKS, *CLASSIFIERS)),
        Step("exploratory.negatives", None, "", "", (*NETWORKS, *CLASSIFIERS)),
        Step("exploratory.boundary", None, "", "", (*NETWORKS, *CLASSIFIERS)),
        Step("exploratory.pooled", None, "", "", (*NETWORKS, *CLASSIFIERS, CIFAR_TEST)),
        Step("exploratory.run", None, "--networks 50 --ensembles 20", "", ("mnist",), torch=True),
        Step("exploratory.claims", "", "", ""),
    ),
    "gp": (
        Step("gp.cifar", "--outputs lenet-5-cifar10 --seeds 1", "", "", NETWORKS),
        Step("gp.run", None, "", "", CLASSIFIERS),
        Step("gp.when", None, "", "", (*NETWORKS, *CLASSIFIERS, MANY_CLASSES)),
        Step("gp.figures", None, "", "", CLASSIFIERS),
    ),
    "regression": (
        Step("regression.tables", "--seeds 1", "", ""),
        Step("regression.figures", None, "", ""),
        Step("regression.joint", None, "", ""),
    ),
    "hoki": (
        Step("hoki.tables", "--networks lenet-5-cifar10 --no-figures", HELD, HELD, NETWORKS),
        Step("hoki.tables", None, TRAINED, TRAINED, ("mnist",), torch=True),
        Step("hoki.others", None, "", "", CLASSIFIERS),
        Step("hoki.cost", None, "", ""),
        Step("hoki.search", None, "", "", (*NETWORKS, *CLASSIFIERS)),
    ),
}


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(PAPERS)}; all")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick")
    size.add_argument("--full", dest="size", action="store_const", const="full")
    parser.set_defaults(size="usual")
    return parser


def to_fetch(names: list[str]) -> str:
    """The command that fetches data sets; three or more of one folder are named by a pattern.

    Examples
    --------
    >>> to_fetch(["kitti", "uci/a", "uci/b", "uci/c"]).split("benchmarks.data ")[1]
    "fetch kitti 'uci/*'"
    """
    folders = [name.rpartition("/")[0] for name in names]
    many = {folder for folder in folders if folder and folders.count(folder) > 2}
    short = [
        f"'{folder}/*'" if folder in many else name
        for name, folder in zip(names, folders, strict=True)
    ]
    return f"{PYTHON} -m benchmarks.data fetch {' '.join(dict.fromkeys(short))}"


def main(arguments: list[str] | None = None) -> int:
    """Run the steps one by one; return how many failed."""
    parser = _options()
    options = parser.parse_args(arguments)
    # Where `benchmarks.data fetch` puts what it downloads.
    if not data_folder().is_dir():
        os.environ.setdefault("CALIBRANT_DATA", "data")
    names = options.names or list(PAPERS)
    if unknown := set(names) - set(PAPERS):
        parser.error(f"no paper is named {sorted(unknown)[0]!r}: {', '.join(PAPERS)}")
    steps = [(name, step) for name in names for step in STEPS[name]]
    failed = 0
    for k, (name, step) in enumerate(steps, start=1):
        given, start = getattr(step, options.size), time.monotonic()
        absent = [name for name in step.data if not (data_folder() / f"{name}.npz").is_file()]
        print(f"[{k}/{len(steps)}] {step.module}", flush=True)
        if given is None:
            print(f"  not in --quick: run `{PYTHON} -m benchmarks.papers {name}`")
        elif step.torch and find_spec("torch") is None:
            print(f"  left out: it trains networks; run `{PYTHON} -m pip install torch` first")
        elif absent:
            print(f"  left out: run `{to_fetch(absent)}` first")
        else:
            command = [sys.executable, "-m", f"benchmarks.papers.{step.module}", *given.split()]
            code = subprocess.run(command, check=False).returncode
            failed += code != 0
            print(f"  ended with {code} after {time.monotonic() - start:.0f} s", flush=True)
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
