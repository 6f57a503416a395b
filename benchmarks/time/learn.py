"""Calibrators that learn on, beside daily refitting and online formulas of others.

Settings (half-lives, precision, curvature, blocks) were chosen on simulated streams of other seeds
and on the first halves of the natural ones; the natural ones are judged on their second halves.
Every day's rows are predicted together, from the labels known that morning.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.arena.outputs import FOLDER as STAGE2
from benchmarks.questions.table import goal, line
from scipy.special import expit, log_softmax, logit, softmax

import calibrant as cb
from calibrant.calibrators import Beta, Isotonic, Platt, VectorScaling

__all__ = ["run"]

#: First seed of the judged simulations.
FIRST = 100
#: Rows of a window of refitting; None takes all.
WINDOWS = (None, 2_000, 500)
FLOOR = 1e-6


@dataclass
class Stream:
    """Predictions (n,) or (n, K), labels, the day of each row and the day on which its label is
    known; ``judged`` rows count.
    """

    name: str
    p: np.ndarray
    y: np.ndarray
    day: np.ndarray
    known: np.ndarray
    judged: np.ndarray

    def mornings(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """New labels, all labels so far in their order, and the rows to predict."""
        order = np.argsort(self.known, kind="stable")
        ends = np.searchsorted(self.known[order], np.unique(self.day), side="right")
        last = 0
        for day, end in zip(np.unique(self.day), ends, strict=True):
            yield order[last:end], order[:end], np.flatnonzero(self.day == day)
            last = end

    def loss(self, q: np.ndarray) -> float:
        """Log loss of the judged rows."""
        if q.ndim == 1:
            q = np.column_stack([1.0 - q, q])
        own = q[np.arange(len(q)), self.y][self.judged]
        return float(-np.log(np.maximum(own, 1e-12)).mean())


def plain(name: str, p: np.ndarray, y: np.ndarray, rows: int, second_half: bool = False) -> Stream:
    """A stream whose labels come a day later, in days of so many rows."""
    day, n = np.arange(len(y)) // rows, len(y)
    return Stream(name, p, y, day, day + 1, np.arange(n) >= (n // 2 if second_half else 10 * rows))


def shifts(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Slope and intercept of the log-odds of each row."""
    t, one = np.arange(n) / n, np.ones(n)
    return {
        "calibrated": (one, 0.0 * t),
        "stationary": (0.6 * one, -0.5 * one),
        "sudden": (np.where(t < 0.5, 0.7, 0.4), np.where(t < 0.5, 0.0, 1.0)),
        "gradual": (1.1 - 0.6 * t, 1.5 * t - 0.7),
        "recurring": (0.8 * one, np.where(np.arange(n) // 2_500 % 2, 0.8, -0.6)),
        "random walk": (one, np.cumsum(rng.normal(0.0, 0.02, n))),
    }[kind]


def simulated(seed: int, n: int = 12_000) -> Iterator[Stream]:
    """Streams of two classes with a known course."""
    for kind in ("calibrated", "stationary", "sudden", "gradual", "recurring", "random walk"):
        rng = np.random.default_rng(seed)
        x = rng.normal(-0.5, 1.5, n)
        slope, shift = shifts(kind, n, rng)
        yield plain(kind, expit(x), (rng.random(n) < expit(slope * x + shift)).astype(int), 100)
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(-0.5, 1.5, n))
    bent = 0.5 * np.log(p) - 1.4 * np.log1p(-p) - 0.3
    yield plain("bent", p, (rng.random(n) < expit(bent)).astype(int), 100)
    rate = 0.2 + 0.3 * np.sin(2.0 * np.pi * np.arange(n) / n) ** 2
    y = (rng.random(n) < rate).astype(int)
    x = rng.normal(np.where(y > 0, 1.0, -1.0), np.sqrt(2.0))
    yield plain("prior shift", expit(x + logit(0.3)), y, 100)


def many_classes(seed: int, n: int = 8_000, K: int = 10) -> Iterator[Stream]:
    """Streams of ten classes."""
    for kind in ("calibrated", "stationary", "sudden", "gradual", "recurring", "prior shift"):
        rng = np.random.default_rng(seed)
        t = np.arange(n)[:, None] / n
        if kind == "prior shift":
            odds = np.where(np.arange(K) < K // 2, np.exp(1.5 * np.sin(4.0 * np.pi * t)), 1.0)
            y = drawn(odds / odds.sum(axis=1, keepdims=True), rng)
            x = rng.normal(size=(n, K))
            x[np.arange(n), y] += 2.0
            yield plain(f"{kind}, 10 classes", softmax(2.0 * x, axis=1), y, 200)
            continue
        z = log_softmax(rng.normal(0.0, 2.0, (n, K)), axis=1)
        a, b, c = rng.uniform(0.6, 1.1, K), rng.normal(0.0, 0.5, K), rng.normal(0.0, 0.8, K)
        score = {
            "calibrated": z,
            "stationary": a * z + b,
            "sudden": np.where(t < 0.5, a * z + b, 0.7 * z + c),
            "gradual": (a - 0.3 * t) * z + b + (c - b) * t,
            "recurring": np.where((4.0 * t) % 2.0 < 1.0, z + b, 0.8 * z + c),
        }[kind]
        y = drawn(softmax(score, axis=1), rng)
        yield plain(f"{kind}, 10 classes", softmax(z, axis=1), y, 200)


def drawn(P: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One label of each row."""
    return (P.cumsum(axis=1) < rng.random((len(P), 1))).sum(axis=1).clip(max=P.shape[1] - 1)


def natural() -> Iterator[Stream]:
    """Streams of files: electricity prices, bank calls by date, COMPAS by screening day, and
    markets, whose labels come when the questions resolve.
    """
    for file, models, rows in (
        ("drift_elec2", ("p_logreg", "p_hgb"), 48),
        ("groups_bank", ("p_logreg", "p_hgb"), 100),
    ):
        held = np.load(STAGE2 / f"{file}.npz")
        for model in models:
            p, y = held[model].astype(float), held["label"].astype(int)
            yield plain(f"{file.split('_')[1]} {model[2:]}", p, y, rows, second_half=True)
    held = np.load(STAGE2 / "groups_compas.npz")
    order = np.argsort(held["screening_day"], kind="stable")
    p, day = (held["decile_score"][order] - 0.5) / 10.0, held["screening_day"][order]
    late = np.arange(len(p)) >= len(p) // 2
    yield Stream("compas", p, held["label"][order].astype(int), day, day + 1, late)
    held = np.load(STAGE2 / "drift_forecast_markets.npz")
    order = np.argsort(held["freeze_day"], kind="stable")
    p, y = held["p_market"][order].astype(float), held["label"][order].astype(int)
    late = np.arange(len(p)) >= len(p) // 2
    yield Stream("markets", p, y, held["freeze_day"][order], held["resolution_day"][order], late)


def learning(make: Callable[[], Any]) -> Callable[[Stream], np.ndarray]:
    """A way of predicting: a calibrator that learns the labels of each morning."""

    def way(stream: Stream) -> np.ndarray:
        cal, out = make(), stream.p.copy()
        for new, _, rows in stream.mornings():
            if len(new):
                cal.partial_fit(stream.p[new], stream.y[new])
            if hasattr(cal, "classes_"):
                q = cal.predict_proba(stream.p[rows])
                out[rows] = q if stream.p.ndim > 1 else q[:, 1]
        return out

    return way


def refitting(window: int | None, make: Callable[[], Any]) -> Callable[[Stream], np.ndarray]:
    """A way of predicting: a new fit each morning on the last labels, from 50 on."""

    def way(stream: Stream) -> np.ndarray:
        out, cal = np.clip(stream.p, FLOOR, 1.0), None
        for new, known, rows in stream.mornings():
            known = known if window is None else known[-window:]
            p, y = stream.p[known], stream.y[known]
            if len(new) and len(known) >= 50 and len(np.unique(y)) > 1:
                cal = make().fit(p, y)
            if cal is not None:
                predict = cal.predict if p.ndim == 1 else cal.predict_proba
                out[rows] = predict(stream.p[rows])
        return out

    return way


class Formula:
    """A published recursion on the log-odds, row by row: online Newton step (OPS, and TOPS with
    bins) or gradient steps of 0.01 (river's logistic regression).
    """

    def __init__(self, kind: str) -> None:
        self.kind, self.theta, self.inverse = kind, np.zeros(2), 0.01 * np.eye(2)
        self.mean, self.count = (np.arange(10) + 0.5) / 10.0, np.ones(10)
        if kind == "sgd":
            self.theta = np.array([1.0, 0.0])

    def partial_fit(self, p: np.ndarray, y: np.ndarray) -> None:
        """Learn rows in order."""
        self.classes_ = np.arange(2)
        for x, hit in zip(logit(np.clip(p, FLOOR, 1.0 - FLOOR)), y, strict=True):
            row = np.array([x, 1.0])
            q = expit(self.theta @ row)
            place = min(int(10.0 * q), 9)
            self.count[place] += 1.0
            self.mean[place] += (hit - self.mean[place]) / self.count[place]
            g = (q - hit) * row
            if self.kind == "sgd":
                self.theta = self.theta - 0.01 * g
                continue
            u = self.inverse @ g
            self.inverse -= np.outer(u, u) / (1.0 + g @ u)
            self.theta = self.theta - 10.0 * self.inverse @ g
            self.theta *= min(1.0, 100.0 / np.linalg.norm(self.theta))

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """(n, 2)."""
        q = expit(
            np.column_stack([logit(np.clip(p, FLOOR, 1.0 - FLOOR)), np.ones(len(p))]) @ self.theta
        )
        if self.kind == "tops":
            q = self.mean[np.minimum((10.0 * q).astype(int), 9)]
        q = np.clip(q, FLOOR, 1.0 - FLOOR)
        return np.column_stack([1.0 - q, q])


#: Ways to be compared on two classes: ours first.
TWO = {
    "default": learning(cb.OnlineCalibrator),
    "beta": learning(lambda: cb.OnlineCalibrator(Beta())),
    "isotonic": learning(lambda: cb.OnlineCalibrator(Isotonic())),
    "temperature": learning(lambda: cb.OnlineCalibrator(cb.TemperatureScaling())),
    "bins": learning(lambda: cb.OnlineCalibrator(calibeating="log_loss")),
    "as it is": lambda stream: np.clip(stream.p, FLOOR, 1.0 - FLOOR),
    **{f"last {w or 'all'}": refitting(w, Platt) for w in WINDOWS},
    **{kind.upper(): learning(lambda kind=kind: Formula(kind)) for kind in ("ops", "tops", "sgd")},
}
MANY = {
    "default": learning(cb.OnlineCalibrator),
    "temperature": learning(lambda: cb.OnlineCalibrator(cb.TemperatureScaling())),
    "as it is": lambda stream: np.clip(stream.p, FLOOR, 1.0),
    **{
        f"last {w or 'all'}": refitting(w, lambda: VectorScaling(classes=range(10)))
        for w in WINDOWS
    },
}


def compared(streams: list[list[Stream]], ways: dict[str, Any]) -> np.ndarray:
    """(streams, ways) mean log losses over the repeats, printed."""
    out = []
    for repeats in zip(*streams, strict=True):
        found = np.mean(
            [[stream.loss(way(stream)) for way in ways.values()] for stream in repeats], axis=0
        )
        line(repeats[0].name, found.tolist())
        out.append(found)
    return np.array(out)


def judged(name: str, losses: np.ndarray, ways: dict[str, Any]) -> None:
    """Goals: below daily refitting on average, and nowhere more than 0.5 % above."""
    columns = {way: losses[:, k] for k, way in enumerate(ways)}
    refits = [f"last {w or 'all'}" for w in WINDOWS]
    best = np.min([columns[way] for way in refits], axis=0)
    for peer, values in {
        **{way: columns[way] for way in refits},
        "the best window in hindsight": best,
    }.items():
        ratio = columns["default"] / values - 1.0
        found = f"mean {100 * ratio.mean():+.2f} %, worst {100 * ratio.max():+.2f} %"
        goal(
            f"{name}: below daily refits, {peer}",
            found,
            ratio.mean() < 0.0 and ratio.max() <= 0.005,
        )


def one_by_one(streams: list[Stream]) -> None:
    """Log losses where each label is known before the next row, and the regret: the total log loss
    above that of the best fixed Platt map of all rows.
    """
    names = "default", "OPS", "TOPS", "SGD"
    line("labels at once", [*names, "regret"])
    found, regrets = [], []
    for stream in streams:
        ours = cb.OnlineCalibrator().run(stream.p, stream.y)[:, 1]
        rows = [stream.loss(ours)]
        for name in names[1:]:
            formula, q = Formula(name.lower()), np.empty(len(stream.y))
            for t in range(len(q)):
                q[t] = formula.predict_proba(stream.p[t : t + 1])[0, 1]
                formula.partial_fit(stream.p[t : t + 1], stream.y[t : t + 1])
            rows.append(stream.loss(q))
        fixed = Platt(smoothing=False).fit(stream.p, stream.y).predict(stream.p)
        own = np.where(stream.y > 0, ours / fixed, (1.0 - ours) / (1.0 - fixed))
        regrets.append(-np.log(own).sum() / np.log(len(own)))
        line(stream.name, [*rows, -np.log(own).sum()])
        found.append(rows)
    ratio = np.array(found)[:, :1] / np.array(found)[:, 1:] - 1.0
    words = ", ".join(
        f"{name} {100 * r:+.2f} %" for name, r in zip(names[1:], ratio.mean(axis=0), strict=True)
    )
    goal(
        "labels at once: below the formulas of others on average",
        words,
        bool((ratio.mean(axis=0) < 0).all()),
    )
    worst = f"{max(regrets):.2f} ln n at most"
    goal("labels at once: within 2 ln n of the best fixed Platt map", worst, max(regrets) <= 2.0)


def speed() -> None:
    """Updates of two classes a second in one batch of a million rows, by processor time."""
    rng = np.random.default_rng(0)
    p = rng.random(1_000_000)
    y = (rng.random(len(p)) < p).astype(int)
    for name, base in (("Platt", None), ("beta", Beta()), ("isotonic", Isotonic())):
        cal, begun = cb.OnlineCalibrator(base), time.process_time()
        cal.partial_fit(p, y)
        rate = len(p) / (time.process_time() - begun)
        goal(f"a million updates a second, {name}", f"{rate / 1e6:.2f} million", rate >= 1e6)


def run(repeats: int) -> None:
    """Print the tables and the goals."""
    line("log loss, two classes", list(TWO))
    drawn_streams = [list(simulated(FIRST + k)) for k in range(repeats)]
    two = compared(drawn_streams, TWO)
    real = compared([list(natural())], TWO)
    line("log loss, ten classes", list(MANY))
    many = compared([list(many_classes(FIRST + k)) for k in range(repeats)], MANY)
    judged("simulated", two, TWO)
    judged("natural", real, TWO)
    judged("ten classes", many, MANY)
    one_by_one([*drawn_streams[0], *list(natural())[:5]])
    speed()
