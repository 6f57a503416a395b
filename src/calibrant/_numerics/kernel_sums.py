"""Gaussian kernel sums on a grid: linear deposit of the points, one convolution by FFT; the direct
sum in log space as the check.

Kernels have height 1 at 0, so a sum reads as a number of points. Widths are in steps of the grid.
Arrays are batched over groups: ``mass`` is (M, 2, G), for each group the weight of wrong and of
right points at each node.
"""

from typing import Any

import numpy as np
import scipy

from calibrant._numerics.bins import group_ends

__all__ = [
    "cell_error",
    "confidence",
    "deposit",
    "direct_log_sums",
    "fill_gaps",
    "first_calm_width",
    "gaussian_sums",
    "least_loss_width",
    "sign_changes",
    "silverman_width",
    "spectrum",
]

#: Sums below this share of the total weight are dominated by rounding of the transform.
NOISE = 1e-8
BLOCK = 2_000_000


def deposit(
    score: np.ndarray,
    correct: np.ndarray,
    weight: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    size: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(low (M,), step (M,), mass (M, 2, G)): each point shared between its two nodes; the grid
    of a group spans its own scores.
    """
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


def spectrum(mass: np.ndarray, reflect: bool = False) -> np.ndarray:
    """Transform of the masses, padded against wrap-around or mirrored at both ends; computed once
    for all widths.
    """
    if not reflect:
        return scipy.fft.rfft(mass, _padded(mass.shape[-1]))
    mirrored = np.concatenate([mass, mass[..., -2:0:-1]], axis=-1)
    mirrored[..., 0] *= 2.0
    mirrored[..., mass.shape[-1] - 1] *= 2.0
    return scipy.fft.rfft(mirrored)


def _padded(size: int) -> int:
    """An even length without wrap-around within ``size`` nodes."""
    return 2 * scipy.fft.next_fast_len(size, real=True)


def gaussian_sums(
    transform: np.ndarray, width: np.ndarray, size: int, reflect: bool = False
) -> np.ndarray:
    """Sum of the mass times exp(-(distance / width)^2 / 2) at every node, (M, 2, G)."""
    length = 2 * (size - 1) if reflect else _padded(size)
    return _convolve(transform, _kernel(width, length, reflect, _gaussian), length, size)


def _convolve(transform: np.ndarray, kernel: np.ndarray, length: int, size: int) -> np.ndarray:
    # The transform of an even sequence is the cosine transform of its half.
    response = scipy.fft.dct(kernel, type=1)
    return np.maximum(scipy.fft.irfft(transform * response[:, None, :], length)[..., :size], 0.0)


def _gaussian(u: np.ndarray, spread: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * u * u)


def _kernel(width: np.ndarray, length: int, wrap: bool, shape: Any) -> np.ndarray:
    """Half of a kernel on the circle of ``length`` nodes, (M, length / 2 + 1); summed over its
    images where the circle is a mirror.
    """
    distance = np.arange(length // 2 + 1)
    spread = 1.0 / width[:, None]
    out = shape(distance * spread, spread)
    if wrap and (width > length / 20.0).any():
        for turn in range(1, 4):
            out += shape((turn * length - distance) * spread, spread) + shape(
                (turn * length + distance) * spread, spread
            )
    return out


def cell_error(
    transform: np.ndarray, width: np.ndarray, size: int, reflect: bool = False
) -> np.ndarray:
    r"""Bound on the error of the sums, read linearly between nodes: (M, 2, G), by deposit and by
    reading, each at most h^2/8 |phi''|.

    With h = 1 / width, it is the sum over points of (h^2 / 4) sup |v^2 - 1| exp(-v^2 / 2) over |v -
    u| <= 3 h, u the distance in widths.
    """
    length = 2 * (size - 1) if reflect else _padded(size)
    bound = _convolve(transform, _kernel(width, length, reflect, _curvature), length, size)
    return 0.25 / (width * width)[:, None, None] * bound


def _curvature(u: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The largest |v^2 - 1| exp(-v^2 / 2) within three steps of u: at an end, at 0 or at
    sqrt(3).
    """
    near, far = np.maximum(u - 3.0 * spread, 0.0), u + 3.0 * spread
    ends = [np.abs(v * v - 1.0) * np.exp(-0.5 * v * v) for v in (near, far)]
    out = np.maximum(*ends)
    out = np.where(
        (near <= np.sqrt(3.0)) & (far >= np.sqrt(3.0)), np.maximum(out, 2.0 * np.exp(-1.5)), out
    )
    return np.where(near <= 0.0, 1.0, out)


def direct_log_sums(
    at: np.ndarray, score: np.ndarray, weight: np.ndarray, bandwidth: float
) -> np.ndarray:
    """Log of the kernel sum at each point of ``at``, point by point: no grid, no underflow; -inf
    where there are no scores.
    """
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


def fill_gaps(
    sums: np.ndarray, mass: np.ndarray, width: np.ndarray, reflect: bool = False
) -> np.ndarray:
    """Replace sums dominated by rounding (far from all points) by direct sums, scaled to the noise
    floor. In place.
    """
    floor = NOISE * mass.sum(axis=(1, 2))
    for m in np.flatnonzero((sums.sum(axis=1) < floor[:, None]).any(axis=1)):
        gap = np.flatnonzero(sums[m].sum(axis=0) < floor[m])
        logs = np.stack([_log_sums_of_nodes(gap, mass[m, c], width[m], reflect) for c in (0, 1)])
        share = np.exp(logs - np.logaddexp(*logs))
        sums[m][:, gap] = floor[m] * share
    return sums


def _log_sums_of_nodes(at: np.ndarray, mass: np.ndarray, width: float, reflect: bool) -> np.ndarray:
    node = np.flatnonzero(mass)
    weight, last = mass[node], len(mass) - 1
    if reflect:
        node, weight = np.concatenate([node, -node, 2 * last - node]), np.tile(weight, 3)
    return direct_log_sums(at.astype(np.float64), node.astype(np.float64), weight, width)


RUNG = 1.05
SMALLEST_WIDTH = 2.0
SILVERMAN_SHARE = 0.2
#: Smaller steps of the curve count as constant.
FLAT = 1e-6


def silverman_width(mass: np.ndarray) -> np.ndarray:
    """Silverman's 0.9 min(sd, IQR / 1.34) n^(-1/5) of the points of each group, in steps of the
    grid, (M,).
    """
    total = mass.sum(axis=1)
    n = total.sum(axis=1)
    node = np.arange(total.shape[1])
    mean = total @ node / n
    spread = np.sqrt(
        np.einsum("mg,mg->m", total, (node - mean[:, None]) ** 2) / np.maximum(n - 1.0, 1.0)
    )
    quartiles = np.array(
        [np.interp([0.25, 0.75], c / c[-1], node) for c in np.cumsum(total, axis=1)]
    )
    middle = (quartiles[:, 1] - quartiles[:, 0]) / 1.34
    return 0.9 * np.where(middle > 0.0, np.minimum(spread, middle), spread) * n**-0.2


def first_width(mass: np.ndarray) -> np.ndarray:
    """Where the ladder starts, (M,)."""
    return np.maximum(SMALLEST_WIDTH, SILVERMAN_SHARE * silverman_width(mass))


def confidence(sums: np.ndarray, prior: float, rate: np.ndarray) -> np.ndarray:
    """(right + prior x rate) / (all + prior) at every node, (M, 2, G) -> (M, G)."""
    return (sums[:, 1] + prior * rate[:, None]) / (sums.sum(axis=1) + prior)


def sign_changes(curve: np.ndarray) -> np.ndarray:
    """Sign changes of the slope of each curve, without steps below 1e-6, (M, G) -> (M,)."""
    step = np.diff(curve, axis=1)
    row, node = np.nonzero(np.abs(step) >= FLAT)
    rising = step[row, node] > 0.0
    turns = (rising[1:] != rising[:-1]) & (row[1:] == row[:-1])
    return np.bincount(row[1:][turns], minlength=len(curve))


def first_calm_width(
    mass: np.ndarray,
    transform: np.ndarray,
    allowed: int,
    prior: float,
    rate: np.ndarray,
    reflect: bool = False,
) -> tuple[np.ndarray, np.ndarray, list[list[Any]]]:
    """The first width of the ladder whose curve changes sign at most ``allowed`` times.

    Returns (width (M,), found (M,) bool, tried: for each group a list of (width, sign changes)).
    The last width if none satisfies this.
    """
    size = mass.shape[-1]
    width = first_width(mass)
    calm, trials = np.zeros(len(mass), dtype=bool), [[] for _ in mass]
    active = np.arange(len(mass))
    while len(active):
        sums = gaussian_sums(transform[active], width[active], size, reflect)
        if prior == 0.0:
            fill_gaps(sums, mass[active], width[active], reflect)
        changes = sign_changes(confidence(sums, prior, rate[active]))
        for m, w, count in zip(active, width[active], changes, strict=True):
            trials[m].append((float(w), int(count)))
        calm[active] = changes <= allowed
        active = active[(changes > allowed) & (width[active] * RUNG <= 2.0 * (size - 1))]
        width[active] *= RUNG
    return width, calm, trials


def least_loss_width(
    mass: np.ndarray, transform: np.ndarray, prior: float, rate: np.ndarray, reflect: bool = False
) -> tuple[np.ndarray, list[list[Any]]]:
    """The width of the ladder of least leave-one-out log loss, read at the nodes.

    Returns (width (M,), tried: for each group a list of (width, mean log loss)).
    """
    size = mass.shape[-1]
    width, n = first_width(mass), mass.sum(axis=(1, 2))
    best, least, trials = width.copy(), np.full(len(mass), np.inf), [[] for _ in mass]
    active = np.arange(len(mass))
    while len(active):
        sums = gaussian_sums(transform[active], width[active], size, reflect)
        loss = _left_out_loss(sums, mass[active], prior, rate[active]) / n[active]
        better = loss < least[active]
        best[active[better]], least[active[better]] = width[active[better]], loss[better]
        for m, w, value in zip(active, width[active], loss, strict=True):
            trials[m].append((float(w), float(value)))
        active = active[width[active] * RUNG <= 2.0 * (size - 1)]
        width[active] *= RUNG
    return best, trials


def _left_out_loss(
    sums: np.ndarray, mass: np.ndarray, prior: float, rate: np.ndarray
) -> np.ndarray:
    """Sum over points of the log loss of the curve without one copy of that point; probabilities
    kept half a point from 0 and 1.
    """
    floor = 0.5 / (mass.sum(axis=(1, 2)) + 1.0)[:, None]
    total = np.zeros(len(mass))
    for kind in (0, 1):
        same_class = np.maximum(sums[:, kind] - 1.0, 0.0)
        other = sums[:, 1 - kind]
        share = rate if kind == 1 else 1.0 - rate
        rest = same_class + other + prior
        p = np.where(
            rest > 0.0,
            (same_class + prior * share[:, None]) / np.where(rest > 0.0, rest, 1.0),
            share[:, None],
        )
        total -= (mass[:, kind] * np.log(np.clip(p, floor, 1.0 - floor))).sum(axis=1)
    return total
