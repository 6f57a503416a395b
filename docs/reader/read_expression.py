"""Run a calibrator exported by ``calibrant.export.to_json``, one row at a time: a reference reader
in plain Python, to translate from.

python read_expression.py calibrator.json 0.7 0.2 0.1
"""

import json
import math
import sys
from bisect import bisect_left, bisect_right


def run(exported, row):
    """The calibrated row of a parsed file and a row of probabilities or logits (of a map: [score];
    of error bars: [mean, std]), behind them the positions of its groups (read_levels.py)."""
    if (exported["format"], exported["schema"]) != ("calibrant expression", 1):
        raise ValueError("not an expression of schema 1")
    values = []
    for node in exported["nodes"]:
        values.append(compute(node, [values[j] for j in node["of"]], row))
    return values[-1]


def compute(node, operands, row):
    op, width = node["op"], node["width"]
    x = operands[0] if operands else row
    if op in ENTRYWISE:
        return [
            ENTRYWISE[op](*[each[k if len(each) > 1 else 0] for each in operands])
            for k in range(width)
        ]
    if op in ("input", "constant"):
        return node.get("values", row)
    if op == "matrix":
        return [
            b + sum(a * t for a, t in zip(weights, x, strict=True))
            for weights, b in zip(node["matrix"], node["shift"], strict=True)
        ]
    if op == "clip":
        high = math.inf if node["high"] is None else node["high"]
        return [min(max(t, node["low"]), high) for t in x]
    if op == "interpolate":
        return [line(t, node["knots"], node["values"], node["before"], node["after"]) for t in x]
    if op == "step":
        count = bisect_right if node["closed"] else bisect_left
        return [node["values"][count(node["edges"], t)] for t in x]
    if op in WHOLE:
        return [WHOLE[op](x)]
    if op == "gather":
        return node["table"][int(x[0])]
    if op == "column":
        return [x[node["index"]]]
    if op == "join":
        return [t for each in operands for t in each]
    if op == "softmax":
        parts = [math.exp(t - max(x)) for t in x]
        return [t / total(parts) for t in parts]
    if op == "log_softmax":
        shift = max(x) + math.log(total(math.exp(t - max(x)) for t in x))
        return [t - shift for t in x]
    if op == "log_probabilities":
        return log_probabilities(x)
    raise ValueError(f"unknown primitive {op}")


def total(parts):
    """From the first to the last, as calibrant does: Python's own sum rounds otherwise."""
    out = 0.0
    for t in parts:
        out += t
    return out


def sigmoid(t):
    return 1.0 / (1.0 + math.exp(-t)) if t > -700.0 else 0.0


WHOLE = {"sum": total, "max": max, "argmax": lambda x: x.index(max(x))}
ENTRYWISE = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "exp": math.exp,
    "log": math.log,
    "sigmoid": sigmoid,
    "where": lambda x, y, z: y if x != 0.0 else z,
}


def line(t, knots, values, before, after):
    i = bisect_right(knots, t)
    if i in (0, len(knots)):
        end, slope = (0, before) if i == 0 else (-1, after)
        return values[end] + slope * (t - knots[end])
    share = (t - knots[i - 1]) / (knots[i] - knots[i - 1])
    return values[i - 1] + (values[i] - values[i - 1]) * share


def log_probabilities(x):
    top = x.index(max(x))
    least = min([1e-12] + [t for t in x if t > 0.0])
    out = [math.log(t if t > 0.0 else least) for t in x]
    out[top] = -math.log1p(total(t for k, t in enumerate(x) if k != top) / x[top])
    return out


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(run(json.load(file), [float(t) for t in sys.argv[2:]]))
