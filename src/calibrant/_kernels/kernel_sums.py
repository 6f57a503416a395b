"""Gaussian kernel sums on a grid: linear deposit of the points, one convolution by FFT; the direct sum in log space as the check.

Kernels have height 1 at 0, so a sum reads as a number of points. Widths are in steps of the grid. Arrays are batched over groups:
``mass`` is (M, 2, G), for each group the weight of wrong and of right points at each node.
"""

import numpy as np
from scipy import fft

from calibrant._kernels.bins import group_ends

__all__ = ["cell_error", "deposit", "direct_log_sums", "fill_gaps", "gaussian_sums", "spectrum"]

#: Sums below this share of all the weight drown in the rounding of the transform.
NOISE = 1e-8
BLOCK = 2_000_000


def deposit(score, correct, weight, group, n_groups, size):
    """(low (M,), step (M,), mass (M, 2, G)): each point shared between its two nodes; the grid of a group spans its own scores."""
    low, high = group_ends(score, group, n_groups)
    empty = low > high
    low[empty] = high[empty] = 0.0
    step = (high - low) / (size - 1)
    scale = np.divide(1.0, step, out=np.zeros(n_groups), where=step > 0.0)
    scale[~np.isfinite(scale)] = 0.0
    at = (score - low[group]) * scale[group]
    node = np.minimum(at.astype(np.intp), size - 2)
    upper = np.clip(at - node, 0.0, 1.0) * weight
    node += (2 * group + correct.astype(np.intp)) * size
    mass = np.bincount(node, weights=weight - upper, minlength=n_groups * 2 * size)
    mass[1:] += np.bincount(node, weights=upper, minlength=n_groups * 2 * size)[:-1]
    return low, step, mass.reshape(n_groups, 2, size)


def spectrum(mass, reflect=False):
    """Transform of the masses, padded so that nothing wraps round, or mirrored at both ends; made once for all widths."""
    if not reflect:
        return fft.rfft(mass, _padded(mass.shape[-1]))
    mirrored = np.concatenate([mass, mass[..., -2:0:-1]], axis=-1)
    mirrored[..., 0] *= 2.0
    mirrored[..., mass.shape[-1] - 1] *= 2.0
    return fft.rfft(mirrored)


def _padded(size):
    """An even length at which nothing within ``size`` nodes wraps round."""
    return 2 * fft.next_fast_len(size, real=True)


def gaussian_sums(transform, width, size, reflect=False):
    """Sum of the mass times exp(-(distance / width)^2 / 2) at every node, (M, 2, G)."""
    length = 2 * (size - 1) if reflect else _padded(size)
    return _convolve(transform, _kernel(width, length, reflect, _gaussian), length, size)


def _convolve(transform, kernel, length, size):
    # The transform of an even sequence is the cosine transform of its half.
    response = fft.dct(kernel, type=1)
    return np.maximum(fft.irfft(transform * response[:, None, :], length)[..., :size], 0.0)


def _gaussian(u, spread):
    return np.exp(-0.5 * u * u)


def _kernel(width, length, wrap, shape):
    """Half of a kernel on the circle of ``length`` nodes, (M, length / 2 + 1); summed over its images where the circle is a mirror."""
    distance = np.arange(length // 2 + 1)
    spread = 1.0 / width[:, None]
    out = shape(distance * spread, spread)
    if wrap and (width > length / 20.0).any():
        for turn in range(1, 4):
            out += shape((turn * length - distance) * spread, spread) + shape((turn * length + distance) * spread, spread)
    return out


def cell_error(transform, width, size, reflect=False):
    r"""Bound on the error of the sums, read linearly between nodes: (M, 2, G), by deposit and by reading, each at most h^2/8 |phi''|.

    With h = 1 / width, it is the sum over points of (h^2 / 4) sup |v^2 - 1| exp(-v^2 / 2) over |v - u| <= 3 h, u the distance in widths.
    """
    length = 2 * (size - 1) if reflect else _padded(size)
    bound = _convolve(transform, _kernel(width, length, reflect, _curvature), length, size)
    return 0.25 / (width * width)[:, None, None] * bound


def _curvature(u, spread):
    """The largest |v^2 - 1| exp(-v^2 / 2) within three steps of u: at an end, at 0 or at sqrt(3)."""
    near, far = np.maximum(u - 3.0 * spread, 0.0), u + 3.0 * spread
    ends = [np.abs(v * v - 1.0) * np.exp(-0.5 * v * v) for v in (near, far)]
    out = np.maximum(*ends)
    out = np.where((near <= np.sqrt(3.0)) & (far >= np.sqrt(3.0)), np.maximum(out, 2.0 * np.exp(-1.5)), out)
    return np.where(near <= 0.0, 1.0, out)


def direct_log_sums(at, score, weight, bandwidth):
    """Log of the kernel sum at each point of ``at``, point by point: no grid, no underflow; -inf where there are no scores."""
    if len(score) == 0:
        return np.full(len(at), -np.inf)
    log_weight = np.log(weight)
    out = np.empty(len(at))
    rows = max(BLOCK // len(score), 1)
    for start in range(0, len(at), rows):
        terms = log_weight - 0.5 * ((at[start : start + rows, None] - score) / bandwidth) ** 2
        peak = terms.max(axis=1)
        out[start : start + rows] = peak + np.log(np.exp(terms - peak[:, None]).sum(axis=1))
    return out


def fill_gaps(sums, mass, width, reflect=False):
    """Where a sum drowns in rounding (far from all points), put the direct sums in its place, scaled to the noise floor. In place."""
    floor = NOISE * mass.sum(axis=(1, 2))
    for m in np.flatnonzero((sums.sum(axis=1) < floor[:, None]).any(axis=1)):
        gap = np.flatnonzero(sums[m].sum(axis=0) < floor[m])
        logs = np.stack([_log_sums_of_nodes(gap, mass[m, c], width[m], reflect) for c in (0, 1)])
        share = np.exp(logs - np.logaddexp(*logs))
        sums[m][:, gap] = floor[m] * share
    return sums


def _log_sums_of_nodes(at, mass, width, reflect):
    node = np.flatnonzero(mass)
    weight, last = mass[node], len(mass) - 1
    if reflect:
        node, weight = np.concatenate([node, -node, 2 * last - node]), np.tile(weight, 3)
    return direct_log_sums(at.astype(np.float64), node.astype(np.float64), weight, width)
