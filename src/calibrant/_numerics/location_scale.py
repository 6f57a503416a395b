"""Bias and factor of normal scores, z = a(x) + exp(g(x)) e, with e normal or Student, each as
smooth as the data support.

Both are found by Fisher scoring: the loss of a row is replaced by the parabola that has its slope
and its expected curvature, and the function that these parabolas imply is averaged over many
priors. The loss is the log loss, or the CRPS in units in which a wrong factor costs as much as in
the log loss.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy
from scipy import special

from calibrant._numerics.normal_scores import DEGREES, TABLE, student_values

__all__ = [
    "Grid",
    "Parts",
    "PartsFit",
    "Rows",
    "Smoothed",
    "constant_only",
    "first_factor",
    "fit_parts",
    "make_grid",
    "posterior",
]

POINTS = 16
#: The grid ends this many standard deviations from the centre, or at the outermost rows.
REACH = 2.5
#: Eigenvectors of a prior covariance that are kept: the next has less than 1e-5 of the first's.
RANK = 9
#: Standard deviations of the constant, and amplitudes and lengths (in standard deviations of the
#: input) of the process.
CONSTANTS = (0.0, 0.1, 0.4, 2.0)
PROCESSES = ((0.0, 1.0), (0.1, 1.0), (0.1, 3.0), (0.3, 1.0), (0.3, 3.0), (1.0, 1.0), (1.0, 3.0))
#: Prior weight of no constant among the constants, and of no process among the processes.
NONE = 0.5


@dataclass(frozen=True)
class Grid:
    """Linear interpolation weights: ``share`` of a row at the point ``low + 1``, the rest at
    ``low``; ``points`` have the units of the input.
    """

    points: np.ndarray
    low: np.ndarray
    share: np.ndarray
    size: float

    def at_rows(self, values: np.ndarray) -> np.ndarray:
        """(n,) the function with these values at the points, at the rows."""
        return values[self.low] + self.share * (
            values[np.minimum(self.low + 1, len(values) - 1)] - values[self.low]
        )

    def variance_at_rows(self, covariance: np.ndarray) -> np.ndarray:
        """(n,) the variance at the rows of a function with this covariance at the points."""
        high, left = np.minimum(self.low + 1, len(self.points) - 1), 1.0 - self.share
        variance = np.diag(covariance)
        return (
            left * left * variance[self.low]
            + 2.0 * left * self.share * covariance[self.low, high]
            + self.share * self.share * variance[high]
        )

    def gram(self, weight: np.ndarray) -> np.ndarray:
        """(M, M) sum over rows of weight times the products of their shares."""
        m, high = len(self.points), np.minimum(self.low + 1, len(self.points) - 1)
        out = np.zeros((m, m))
        left = 1.0 - self.share
        out.flat[:: m + 1] = np.bincount(self.low, weight * left * left, m) + np.bincount(
            high, weight * self.share * self.share, m
        )
        between = np.bincount(self.low, weight * left * self.share, m)
        for i, j in ((np.arange(m - 1), np.arange(1, m)), (np.arange(1, m), np.arange(m - 1))):
            out[i, j] += between[: m - 1]
        return out

    def sums(self, values: np.ndarray) -> np.ndarray:
        """(M,) sum over rows of their values times their shares."""
        m = len(self.points)
        return np.bincount(self.low, values * (1.0 - self.share), m) + np.bincount(
            np.minimum(self.low + 1, m - 1), values * self.share, m
        )


def make_grid(x: np.ndarray, weight: np.ndarray, least_spread: float = 0.0) -> Grid:
    """The grid of an input (n,); a single point where the input is one number.

    Lengths are in units of the input's spread, or of ``least_spread`` where that is more: smaller
    differences then have little effect.
    """
    centre = np.average(x, weights=weight)
    spread = np.sqrt(np.average(np.square(x - centre), weights=weight))
    first, last = max(x.min(), centre - REACH * spread), min(x.max(), centre + REACH * spread)
    if not last - first > 1e-9 * max(abs(centre), spread, np.finfo(np.float64).tiny):
        return Grid(np.array([centre]), np.zeros(len(x), dtype=np.intp), np.zeros(len(x)), 0.0)
    points = np.linspace(first, last, POINTS)
    place = np.clip((x - first) / (last - first), 0.0, 1.0) * (POINTS - 1)
    low = np.minimum(place.astype(np.intp), POINTS - 2)
    return Grid(points, low, place - low, (last - first) / max(spread, least_spread))


@cache
def _roots(m: int, size: float, smooth: bool, shrunk: bool) -> tuple[np.ndarray, np.ndarray]:
    """(J, M, R) roots of the prior covariances, root times transpose; (J,) log prior weights."""
    constants = CONSTANTS if shrunk else CONSTANTS[-1:]
    processes = PROCESSES if smooth and m > 1 else PROCESSES[:1]
    place = np.linspace(0.0, size, m)
    gap = place[:, None] - place
    roots, logs = [], []
    for c in constants:
        for amplitude, length in processes:
            values, vectors = np.linalg.eigh(
                c * c + amplitude**2 * np.exp(-0.5 * (gap / length) ** 2)
            )
            roots.append((vectors * np.sqrt(np.maximum(values, 0.0)))[:, -RANK:])
            logs.append(np.log(_prior(c, constants) * _prior(amplitude, processes)))
    return np.array(roots), np.array(logs)


def _prior(size: float, among: tuple[Any, ...]) -> float:
    """Prior weight of each size; the first size means no effect."""
    if len(among) == 1:
        return 1.0
    return NONE if size == 0.0 else (1.0 - NONE) / (len(among) - 1)


@dataclass(frozen=True)
class Smoothed:
    """Values (M,) of a function at its grid points, their covariance (M, M), and the total log
    evidence.
    """

    values: np.ndarray
    covariance: np.ndarray
    evidence: float


def posterior(
    grid: Grid, weight: np.ndarray, pull: np.ndarray, *, smooth: bool = True, shrunk: bool = True
) -> Smoothed:
    """Return the mean and covariance of the function over all priors, weighted by evidence.

    ``weight`` (n,) is the curvature of each row's loss in the function at that row, and ``pull``
    (n,) the weight times the optimum of the row.
    """
    A, b = grid.gram(weight), grid.sums(pull)
    roots, prior = _roots(len(grid.points), round(grid.size, 6), smooth, shrunk)
    across = roots.transpose(0, 2, 1)
    inner = across @ A @ roots
    inner[:, range(inner.shape[1]), range(inner.shape[1])] += 1.0
    factor = np.linalg.cholesky(inner)
    # Half of each covariance: a root whose product with its transpose it is.
    half = np.linalg.solve(factor, across)
    means = (half.transpose(0, 2, 1) @ (half @ b)[..., None])[..., 0]
    determinant = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    evidence = prior - determinant + 0.5 * (means @ b)
    most = evidence.max()
    share = np.exp(evidence - most)
    total = share.sum()
    share /= total
    mean = share @ means
    apart = means - mean
    flat = (half * np.sqrt(share)[:, None, None]).reshape(-1, len(b))
    covariance = flat.T @ flat + (apart.T * share) @ apart
    return Smoothed(mean, covariance, float(most + np.log(total)))


def constant_only(grid: Grid, weight: np.ndarray, pull: np.ndarray) -> Smoothed:
    """The maximum likelihood constant, without a prior."""
    total, m = weight.sum(), len(grid.points)
    value = pull.sum() / total if total > 0.0 else 0.0
    return Smoothed(
        np.full(m, value),
        np.full((m, m), 1.0 / total if total > 0.0 else 0.0),
        0.5 * value * pull.sum(),
    )


MAX_STEPS, TOLERANCE = 80, 1e-3
#: The log factor falls at most this far below its start, since rows without error have no optimum.
#: Of 7, 5, 4 and 3 this is the first that keeps the CRPS below that of no calibration if two
#: fifths of the outcomes equal their mean (a test): at 7 it was up to 23 times that.
FARTHEST = 3.0
#: The log factor moves by this much in a step, at most; degrees of freedom are searched in these
#: steps.
LONGEST, LOOKS = 1.0, (0, 2, 5)
#: Steps with which the factor follows from one number of degrees to the next.
STEPS_OF_DEGREES = 3
#: Log prior weight of the normal less that of any Student distribution of the table.
NORMAL_FIRST = 2.0


@dataclass(frozen=True)
class Parts:
    """The model: ``location`` is None, "constant" or "smooth", ``scale`` these or "increasing"."""

    location: str | None
    scale: str | None
    student: bool
    shrunk: bool
    objective: str


@dataclass(frozen=True)
class Rows:
    """The data of n rows: normal scores, weights, the grids of both inputs, and the units of a
    shift.

    ``units``: arrays (n,), of a shift in units of the outcome and of one in units of the std; the
    evidence chooses. ``width`` (n,) is the unit of a row's CRPS.
    """

    score: np.ndarray
    weight: np.ndarray
    places: Grid
    scales: Grid
    units: tuple
    width: np.ndarray

    def shift(self, unit: int, function: Smoothed) -> np.ndarray:
        """(n,) the bias in normal scores."""
        return self.units[unit] * self.places.at_rows(function.values)


@dataclass(frozen=True)
class PartsFit:
    """Values of both functions at their grid points, the unit of the first, degrees of freedom, and
    the status.
    """

    location: np.ndarray
    scale: np.ndarray
    unit: int
    degrees: float
    status: str


def fit_parts(rows: Rows, parts: Parts) -> PartsFit:
    """The fit of maximal evidence."""
    weight, m = rows.weight, len(rows.places.points)
    location, scale = (
        (0, Smoothed(np.zeros(m), np.zeros((m, m)), 0.0)),
        np.zeros(len(rows.scales.points)),
    )
    degrees, status, least = np.inf, "max steps", -np.inf
    share = weight
    if parts.objective == "crps":
        # Weights are capped at 1: otherwise the few largest std would dominate.
        share = weight * np.minimum(
            rows.width * ((weight @ rows.width) / (weight @ np.square(rows.width))), 1.0
        )
    if parts.scale is not None:
        scale += first_factor(rows.score, weight, parts.student)
        least = scale[0] - FARTHEST
    for step in range(MAX_STEPS):
        before, g = rows.shift(*location), rows.scales.at_rows(scale)
        if parts.student and step in LOOKS:
            degrees, change = _degrees(
                (rows.score - before) * np.exp(-g), weight, parts.scale is not None
            )
            scale = scale + change
        if parts.location is not None:
            location = _moved_location(
                rows, parts, share, location, scale, degrees, look=step in LOOKS
            )
        if parts.scale is not None:
            scale = np.maximum(_moved_scale(rows, parts, share, location, scale, degrees), least)
        now = rows.scales.at_rows(scale)
        if (
            max(
                np.abs(now - g).max(), np.abs((rows.shift(*location) - before) * np.exp(-now)).max()
            )
            < TOLERANCE
            and step >= LOOKS[-1]
        ):
            status = "converged"
            break
    return PartsFit(location[1].values, scale, location[0], degrees, status)


def _moved_location(
    rows: Rows,
    parts: Parts,
    share: np.ndarray,
    location: tuple[int, Smoothed],
    scale: np.ndarray,
    degrees: float,
    look: bool,
) -> tuple[int, Smoothed]:
    """(unit, function) after a step; both units are tried if ``look``."""
    inverse = np.exp(-rows.scales.at_rows(scale))
    now = rows.shift(*location)
    pull, curve = _location_pull((rows.score - now) * inverse, degrees, parts.objective)
    candidates = []
    for unit in range(len(rows.units)) if look else location[:1]:
        per = share * rows.units[unit] * inverse
        target = per * (pull + curve * now * inverse)
        candidates.append(
            (
                unit,
                _solve(
                    rows.places,
                    curve * per * rows.units[unit] * inverse,
                    target,
                    parts,
                    parts.location,
                ),
            )
        )
    return max(candidates, key=lambda candidate: candidate[1].evidence)


def _moved_scale(
    rows: Rows,
    parts: Parts,
    share: np.ndarray,
    location: tuple[int, Smoothed],
    scale: np.ndarray,
    degrees: float,
) -> np.ndarray:
    """The log factor after a step.

    The posterior variance of the bias counts as error: a bias that fits a lone row exactly would
    otherwise leave none.
    """
    now = rows.scales.at_rows(scale)
    error = (rows.score - rows.shift(*location)) * np.exp(-now)
    unknown = np.square(rows.units[location[0]] * np.exp(-now)) * rows.places.variance_at_rows(
        location[1].covariance
    )
    pull, curve = _scale_pull(np.sqrt(error * error + unknown), degrees, parts.objective)
    new = _solve(
        rows.scales, share * curve, share * (pull + curve * now), parts, parts.scale
    ).values
    new = scale + np.clip(new - scale, -LONGEST, LONGEST)
    if parts.scale == "increasing":
        mass = np.maximum(rows.scales.sums(share), 1e-9 * share.sum())
        new = (
            scipy.optimize.isotonic_regression(rows.scales.points + new, weights=mass).x
            - rows.scales.points
        )
    return new


def _solve(
    grid: Grid, weight: np.ndarray, pull: np.ndarray, parts: Parts, kind: str | None
) -> Smoothed:
    if kind == "constant" and not parts.shrunk:
        return constant_only(grid, weight, pull)
    return posterior(grid, weight, pull, smooth=kind != "constant", shrunk=parts.shrunk)


def first_factor(score: np.ndarray, weight: np.ndarray, robust: bool) -> float:
    """Log of the root mean square; for Student tails, of the median size, which is robust to
    outliers.
    """
    size = np.abs(score)
    largest = size.max()
    if largest == 0.0:
        return 0.0
    if robust:
        order = np.argsort(size)
        mass = np.cumsum(weight[order])
        middle, most = size[order][np.searchsorted(mass, [0.5 * mass[-1], 0.9 * mass[-1]])]
        # If half of the rows have almost no error, the median is not informative.
        if middle > 1e-6 * most:
            return float(np.log(middle / special.ndtri(0.75)))
    return float(
        np.log(largest) + 0.5 * np.log(np.average(np.square(size / largest), weights=weight))
    )


def _degrees(e: np.ndarray, weight: np.ndarray, free: bool) -> tuple[float, float]:
    """(degrees of freedom, change of the log factor) of least log loss, with the factor free or
    fixed.
    """
    total, square = weight.sum(), e * e
    share = weight / total
    change = 0.5 * float(np.log(max(share @ square, np.finfo(np.float64).tiny))) if free else 0.0
    least = total * (
        0.5 * np.exp(-2.0 * change) * (share @ square) + 0.5 * np.log(2.0 * np.pi) + change
    )
    chosen, change = (np.inf, change), 0.0
    for degrees in DEGREES[1:]:
        for _ in range(STEPS_OF_DEGREES if free else 0):
            ratio = share @ (square / (degrees * np.exp(2.0 * change) + square))
            change += ((degrees + 1.0) * ratio - 1.0) * (degrees + 3.0) / (2.0 * degrees)
        norm = (
            special.gammaln(0.5 * degrees)
            - special.gammaln(0.5 * degrees + 0.5)
            + 0.5 * np.log(degrees * np.pi)
        )
        loss = (
            norm
            + 0.5 * (degrees + 1.0) * (share @ np.log1p(square / (degrees * np.exp(2.0 * change))))
            + change
        )
        if total * loss + NORMAL_FIRST < least:
            least, chosen = total * loss + NORMAL_FIRST, (degrees, change)
    return chosen


def _location_pull(e: np.ndarray, degrees: float, objective: str) -> tuple[np.ndarray, float]:
    """(pull, curvature) per unit of e: minus the slope of the loss in a shift, and its expected
    second derivative.

    Other losses are scaled so that the variance of the slope equals the curvature, as for the log
    loss: the evidence is then well defined.
    """
    if objective == "crps":
        curve = 2.0 * _constants(degrees)[1]
        return 3.0 * curve * (2.0 * _cdf(e, degrees) - 1.0), 3.0 * curve * curve
    if np.isinf(degrees):
        return e, 1.0
    return (degrees + 1.0) * e / (degrees + e * e), (degrees + 1.0) / (degrees + 3.0)


def _scale_pull(e: np.ndarray, degrees: float, objective: str) -> tuple[np.ndarray, float]:
    """The same in the log of the factor."""
    if objective == "crps":
        _, _, curve, variance = _constants(degrees)
        return -curve / variance * _scale_slope(e, degrees), curve * curve / variance
    if np.isinf(degrees):
        return e * e - 1.0, 2.0
    return (degrees + 1.0) * e * e / (degrees + e * e) - 1.0, 2.0 * degrees / (degrees + 3.0)


def _scale_slope(e: np.ndarray, degrees: float) -> np.ndarray:
    """Slope of the CRPS in the log factor at e: 2 f(e) (nu + e^2) / (nu - 1) less its mean."""
    if np.isinf(degrees):
        return 2.0 * _density(e, degrees) - _constants(degrees)[0]
    return 2.0 * _density(e, degrees) * (degrees + e * e) / (degrees - 1.0) - _constants(degrees)[0]


@cache
def _constants(degrees: float) -> tuple[float, float, float, float]:
    """Expectations under the distribution itself: mean CRPS, mean density, curvature of the CRPS in
    the log factor, variance of its slope.
    """
    e = student_values(degrees)
    mass = np.exp(-0.5 * TABLE * TABLE)
    mass /= mass.sum()
    shape = (
        2.0
        * _density(e, degrees)
        * (1.0 if np.isinf(degrees) else (degrees + e * e) / (degrees - 1.0))
    )
    mean = mass @ shape
    # d/dg of the slope: minus e times its own derivative, which is 2 e f(e) with a minus.
    return (
        mean,
        mass @ _density(e, degrees),
        mass @ (2.0 * e * e * _density(e, degrees)),
        mass @ np.square(shape - mean),
    )


def _cdf(e: np.ndarray, degrees: float) -> np.ndarray:
    return special.ndtr(e) if np.isinf(degrees) else special.stdtr(degrees, e)


def _density(e: np.ndarray, degrees: float) -> np.ndarray:
    if np.isinf(degrees):
        return np.exp(-0.5 * e * e) / np.sqrt(2.0 * np.pi)
    norm = (
        special.gammaln(0.5 * degrees + 0.5)
        - special.gammaln(0.5 * degrees)
        - 0.5 * np.log(degrees * np.pi)
    )
    return np.exp(norm - 0.5 * (degrees + 1.0) * np.log1p(e * e / degrees))
