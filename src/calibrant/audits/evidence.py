"""The gap of each group, shrunk towards none by as much as chance explains."""

import numpy as np

__all__ = ["shrunk_gaps"]


def shrunk_gaps(gap: np.ndarray, error: np.ndarray, used: np.ndarray) -> np.ndarray:
    """(G, q) gaps drawn towards 0 by as much as their errors explain: gap t^2 / (t^2 + error^2), t^2 of greatest likelihood by question."""
    out = np.zeros(gap.shape)
    for q in range(gap.shape[1]):
        one, of = gap[used[:, q], q], error[used[:, q], q] ** 2
        if len(one):
            out[:, q] = gap[:, q] * (share := _spread(one, of)) / np.maximum(share + error[:, q] ** 2, 1e-300)
    return out


def _spread(gap: np.ndarray, of: np.ndarray) -> float:
    """t^2 of greatest likelihood where gap ~ N(0, t^2 + of), on a grid; 0 is on it."""
    grid = np.append(0.0, np.geomspace(1e-4, 10.0, 200) * max(float(np.mean(gap * gap)), 1e-300))
    total = grid[:, None] + np.maximum(of, 1e-300)
    return float(grid[np.argmax(-0.5 * (np.log(total) + gap * gap / total).sum(axis=1))])
