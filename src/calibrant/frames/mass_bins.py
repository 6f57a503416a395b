"""Bins of equal weight from fine bins, with a bound on what the merging can change."""

import numpy as np

from calibrant.frames.kernel import fine_edges

__all__ = ["merged_to_mass"]


def merged_to_mass(sums: np.ndarray, n_bins: int) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Fine bins (F, 3) joined to at most ``n_bins`` bins of equal weight: (joined sums (B, 3), bin of each fine bin, bound).

    A fine bin goes whole to the bin that holds the middle of its weight. The exact bins of equal weight would cut the fine bins that a
    multiple of w / B falls in; every row is in its exact bin but for some of those of the fine bins cut. Those moved from a fine bin
    [l, u) with r right and q wrong change two gaps by at most max(q u, r (1 - l)). So the error differs from the exact one by at most

    .. math:: \frac{2}{w} \sum_{c\ \mathrm{cut}} \max\left(q_c u_c,\ r_c (1 - l_c)\right)

    which is the ``bound``.
    """
    mass = sums[:, 0]
    filled = np.flatnonzero(mass > 0.0)
    group = np.full(len(mass), -1, dtype=np.intp)
    if len(filled) == 0:
        return np.zeros((0, 3)), group, 0.0
    own, end = mass[filled], np.cumsum(mass[filled])
    whole = end[-1]
    part = np.minimum(((end - 0.5 * own) / whole * n_bins).astype(np.intp), n_bins - 1)
    used, part = np.unique(part, return_inverse=True)
    group[filled] = part
    joined = np.stack([np.bincount(part, weights=sums[filled, j], minlength=len(used)) for j in range(3)], axis=1)
    # Cut: a multiple of whole / n_bins lies strictly inside. Equal to an end, nothing moves.
    cut = np.ceil(end / whole * n_bins - 1e-9) - np.floor((end - own) / whole * n_bins + 1e-9) > 1.0
    lower, upper = (edge[filled[cut]] for edge in fine_edges(len(mass)))
    right = sums[filled[cut], 2]
    moved = np.maximum((own[cut] - right) * upper, right * (1.0 - lower))
    return joined, group, float(min(2.0 * moved.sum() / whole, 1.0))
