"""The pictures of the arenas' pages: a file for each section, narrow enough for a telephone, two
of them side by side on a desk.
"""

import numpy as np

OURS, THEIRS = "#0b5394", "#c26a00"
WIDTH, DPI = 4.4, 130


def _axes(height):
    """(figure, axes), without pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots()


def dots(path, title, methods, peer, rates):
    """Win rates by two scores (name -> one a method), the first method at the top: a dot by the
    first score, a ring by the second.
    """
    figure, ax = _axes(0.17 * len(methods) + 1.2)
    colour, rows = np.where(peer, THEIRS, OURS), np.arange(len(methods))[::-1]
    (first, filled), (second, ring) = rates.items()
    ax.scatter(filled, rows, c=colour, s=22, label=first)
    ax.scatter(ring, rows, facecolors="none", edgecolors=colour, s=30, label=second)
    ax.set_yticks(rows, methods, fontsize=7)
    for tick, c in zip(ax.get_yticklabels(), colour, strict=True):
        tick.set_color(c)
    ax.set(xlim=(0.0, 1.0), xlabel="win rate", ylim=(-1, len(methods)))
    ax.set_title(title, fontsize=9, loc="right")
    ax.grid(alpha=0.25)
    figure.legend(
        loc="outside lower center",
        ncols=2,
        fontsize=8,
        title="blue ours, orange peers",
        title_fontsize=8,
    )
    figure.savefig(path, dpi=DPI)


def points(path, title, methods, peer, worse, gain):
    """A point a method: median gain over the share of runs made worse, both in per cent; of a
    crowd the first method is named.
    """
    figure, ax = _axes(3.6)
    ax.scatter(worse, gain, s=18, c=np.where(peer, THEIRS, OURS))
    ax.set(xlim=(-2, None), ylim=(-5, max(gain) + 5))
    named = []
    for name, u, v in zip(methods, worse, gain, strict=True):
        # Names that would lie on others, or leave the picture, are left to the table.
        x, y = ax.transAxes.inverted().transform(ax.transData.transform((u, v)))
        if y > 0.02 and all(abs(x - a) > 0.45 or abs(y - b) > 0.05 for a, b in named):
            named.append((x, y))
            left = x > 0.6
            ax.annotate(
                name,
                (u, v),
                fontsize=7,
                xytext=(-4 if left else 4, -2),
                textcoords="offset points",
                ha="right" if left else "left",
            )
    ax.set(xlabel="runs made more than 0.5 % worse, %", ylabel="median gain in log loss, %")
    ax.set_title(title, fontsize=9)
    ax.grid(alpha=0.25)
    figure.savefig(path, dpi=DPI)
