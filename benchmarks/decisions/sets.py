"""Prediction sets at 90 %, ours and the peers' (MAPIE, crepes, TorchCP) on the same probabilities:
coverage, mean size, CPU seconds.

Run: python -m benchmarks.decisions.sets [--peers PYTHON] [--seeds 20] [--splits 3] PYTHON is the
interpreter of an environment with the peers. First a simulation of 10,000 rows to calibrate on,
10,000 to test on and 100 classes; then stored networks' outputs in random halves (CALIBRANT_DATA),
with and without a calibrator before the score. Exits 1 where our coverage in the simulation is not
90 ± .5 %, where our randomised APS has sets more than .02 larger than the textbook's in the same
run (the simulation that 8.45 labels against 8.43 were asked of is lost; this one is near it), or
where times are not what was asked for.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from benchmarks.decisions.set_cases import NETWORKS, anchor, network

import calibrant as cb

LEVEL = 0.9
#: What was asked for: by how much sets of randomised APS may be larger than the textbook's, and CPU
#: seconds of fit and predict.
MORE_LABELS, MOST_SECONDS = 0.02, 0.05
SCORES = {
    "LAC": ("lac", {}),
    "APS": ("aps", {}),
    "APS not randomised": ("aps", {"randomised": False}),
    "RAPS (chosen)": ("raps", {}),
    "margin": ("margin", {}),
    "top k": ("top_k", {}),
}
CALIBRATORS = {
    "": None,
    " after temperature": cb.TemperatureScaling,
    " after structured vector": cb.calibrators.StructuredVectorScaling,
}


def judged(case, score, options, calibrator=None):
    """{coverage, size, seconds} of one fit and predict."""
    P, y, Q, truth = case
    start = time.process_time()
    sets = cb.ConformalSets(score, LEVEL, calibrator=calibrator, **options).fit(P, y).predict_set(Q)
    seconds = time.process_time() - start
    return {
        "coverage": sets[np.arange(len(truth)), truth].mean(),
        "size": sets.sum(axis=1).mean(),
        "seconds": seconds,
    }


def textbook(case, seed):
    """Randomised APS as it is written down: ranks by sorting, and a draw for each row."""
    P, y, Q, truth = case
    rng = np.random.default_rng(seed)
    start = time.process_time()
    scores = []
    for said in (P, Q):
        order = np.argsort(-said, axis=1)
        total = np.take_along_axis(
            np.take_along_axis(said, order, axis=1).cumsum(axis=1), order.argsort(axis=1), axis=1
        )
        scores.append(total - said + rng.random(len(said))[:, None] * said)
    own = np.sort(scores[0][np.arange(len(y)), y])
    sets = scores[1] <= own[int(np.ceil((len(y) + 1) * LEVEL - 1e-9)) - 1]
    seconds = time.process_time() - start
    return {
        "coverage": sets[np.arange(len(truth)), truth].mean(),
        "size": sets.sum(axis=1).mean(),
        "seconds": seconds,
    }


def of_peers(python, seeds, cases):
    """The peers' rows."""
    script = Path(__file__).with_name("set_peers.py")
    command = [python, str(script), str(LEVEL), str(seeds), *cases]
    out = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=script.parent
    ).stdout
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def table(title, rows):
    """Print means over the seeds, the smallest sets first; returns {method: means}."""
    kept, found = defaultdict(list), {}
    for row in rows:
        if "error" in row:
            print(f"left out: {row['method']} on {row['case']}: {row['error']}")
        else:
            kept[row["method"]].append([row["coverage"], row["size"], row["seconds"]])
    print(f"\n{title}\n{'method':44}{'runs':>5}{'coverage':>10}{'size':>9}{'CPU s':>9}")
    for method, values in sorted(kept.items(), key=lambda item: np.mean(item[1], axis=0)[1]):
        coverage, size, _ = np.mean(values, axis=0)
        found[method] = coverage, size, float(np.median(np.array(values)[:, 2]))
        print(f"{method:44}{len(values):5}{coverage:10.4f}{size:9.2f}{found[method][2]:9.3f}")
    return found


def main(arguments=None) -> int:
    """Run, print the tables, and say whether what was asked for is reached."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.decisions.sets", description=__doc__
    )
    parser.add_argument("--peers", help="python of an environment with mapie, crepes and torchcp")
    parser.add_argument("--seeds", type=int, default=20, help="of the simulation")
    parser.add_argument("--splits", type=int, default=3, help="of each network's rows")
    given = parser.parse_args(arguments)
    rows = [
        {"method": name, **judged(anchor(seed), *how)}
        for seed in range(given.seeds)
        for name, how in SCORES.items()
    ]
    rows += [
        {"method": "APS of the textbook", **textbook(anchor(seed), seed)}
        for seed in range(given.seeds)
    ]
    peers = of_peers(given.peers, min(5, given.seeds), ["anchor"]) if given.peers else []
    found = table("Simulation, 10,000 + 10,000 rows of 100 classes", [*rows, *peers])
    for name in NETWORKS:
        splits = [case for seed in range(given.splits) if (case := network(name, seed)) is not None]
        rows = [
            {"method": f"{score}{after}", **judged(case, *how, None if make is None else make())}
            for case in splits
            for score, how in SCORES.items()
            for after, make in CALIBRATORS.items()
        ]
        if splits:
            table(
                name, [*rows, *(of_peers(given.peers, given.splits, [name]) if given.peers else [])]
            )
    asked = {
        "coverage of 90 ± .5 %": all(
            abs(found[name][0] - LEVEL) <= 0.005 for name in SCORES if name != "top k"
        ),
        f"APS at most {MORE_LABELS} labels larger than the textbook's": found["APS"][1]
        <= found["APS of the textbook"][1] + MORE_LABELS,
        "LAC smaller than APS": found["LAC"][1] < found["APS"][1],
        f"at most {MOST_SECONDS} CPU s (LAC, APS)": max(found["LAC"][2], found["APS"][2])
        <= MOST_SECONDS,
    }
    print(
        "\n"
        + "\n".join(f"{'reached' if held else 'MISSED'}: {what}" for what, held in asked.items())
    )
    return 0 if all(asked.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
