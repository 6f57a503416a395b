"""Figures 5 to 8 of the paper as pictures, one PNG each, from the records of figures.py."""

import numpy as np
from scipy import stats

RATES = {
    "ours, in batches": "queries_per_second",
    "ours, one at a time": "single_per_second",
    "the authors' way": "authors_per_second",
}


def draw(shuffles, folder):
    """Writes the figures; ``shuffles`` is {"data model": [record of each reduction and
    shuffle]}.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = {"figure_5": figure_5, "figure_6": figure_6, "figure_7": figure_7, "figure_8": figure_8}
    for name, make in made.items():
        path = folder / f"{name}.png"
        make(shuffles).savefig(path, dpi=90)
        print(path)


def panels(rows, columns, width=7.0):
    """(figure, axes (rows, columns)), without pyplot's state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, 3.6 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False)


def figure_5(shuffles):
    """The share right by separation, and what isotonic regression and the sigmoid make of it."""
    figure, axes = panels(1, len(shuffles), width=5.0)
    for ax, (name, records) in zip(axes[0], shuffles.items(), strict=True):
        separation, right, isotonic, sigmoid = np.array(
            next(r["figure_5"] for r in records if r["reduction"] == "none")
        ).T
        ax.plot(
            separation, right, "d", color="tab:blue", markersize=4, label="share right, 50 groups"
        )
        ax.plot(separation, isotonic, color="tab:green", label="isotonic")
        ax.plot(separation, sigmoid, color="black", label="sigmoid")
        ax.set(title=name, xlabel="fast separation", ylabel="share right")
        ax.legend(fontsize="small")
    return figure


def figure_6(shuffles):
    """Queries a CPU second by reduction."""
    figure, axes = panels(len(shuffles), len(RATES))
    for row, (name, records) in zip(axes, shuffles.items(), strict=True):
        for ax, (way, key) in zip(row, RATES.items(), strict=True):
            bars(ax, _by_reduction(records, lambda r, key=key: r[key]))
            ax.set(title=f"{name}, {way}", ylabel="queries a CPU second")
    return figure


def figure_7(shuffles):
    """ECE of the isotonic map of fast separation by reduction; the line is without any."""
    figure, axes = panels(1, len(shuffles))
    for ax, (name, records) in zip(axes[0], shuffles.items(), strict=True):
        groups = _by_reduction(records, lambda r: r["paper"]["ECE"])
        ax.axhline(np.mean(groups["none"][1]), color="black", linewidth=1)
        bars(ax, groups)
        ax.set(title=name, ylabel="ECE-15, %")
    return figure


def figure_8(shuffles):
    """ECE after max pooling, by data and model."""
    figure, axes = panels(1, 1)
    groups = {}
    for name, records in shuffles.items():
        by = _by_reduction(records, lambda r: r["paper"]["ECE"])
        groups[name] = by["none"] | by.get("max pool", {})
    bars(axes[0, 0], groups)
    axes[0, 0].set(title="max pooling", ylabel="ECE-15, %")
    return figure


def bars(ax, groups):
    """Bars of {group: {t: values of the shuffles}}, a colour for each t, with 95 % intervals of
    Student's t where there are shuffles.
    """
    steps = sorted({t for by_step in groups.values() for t in by_step})
    for i, t in enumerate(steps):
        at = [k for k, by_step in enumerate(groups.values()) if t in by_step]
        values = [by_step[t] for by_step in groups.values() if t in by_step]
        place = np.array(at) + 0.8 * ((i + 0.5) / len(steps) - 0.5)
        ax.bar(
            place,
            [np.mean(v) for v in values],
            0.8 / len(steps),
            yerr=[_half_width(v) for v in values],
            color=f"C{t - 1}",
            label=f"t = {t}",
        )
    ax.set_xticks(range(len(groups)), list(groups), rotation=30, ha="right")
    ax.legend(fontsize="small")


def _half_width(values):
    n = len(values)
    return stats.t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n) if n > 1 else 0.0


def _by_reduction(records, get):
    out = {}
    for r in records:
        out.setdefault(r["reduction"], {}).setdefault(r["t"], []).append(get(r))
    return out
