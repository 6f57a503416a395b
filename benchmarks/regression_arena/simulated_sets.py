"""Simulated sets, and named so: formulas of physics and Friedman's, with noise that is not the
same everywhere; 10,000 rows each.
"""

import numpy as np

__all__ = ["SIMULATED"]

ROWS = 10_000


def _uniform(rng, ranges):
    low, high = np.transpose(ranges)
    return rng.uniform(low, high, (ROWS, len(ranges)))


def _noisy(rng, X, value, share=0.3):
    """The outcome: the value and noise of ``share`` of its spread in the mean, three times as much
    at one end of the first input as at
    the other."""
    place = (X[:, 0] - X[:, 0].min()) / np.ptp(X[:, 0])
    return X, value + share * value.std() * (0.5 + place) * rng.normal(size=ROWS)


def friedman_1(rng):
    """Ten inputs, of which five matter."""
    X = _uniform(rng, [(0.0, 1.0)] * 10)
    return _noisy(
        rng,
        X,
        10.0 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20.0 * (X[:, 2] - 0.5) ** 2
        + 10.0 * X[:, 3]
        + 5.0 * X[:, 4],
    )


def friedman_2(rng):
    """Impedance of a circuit."""
    X = _uniform(rng, [(0.0, 100.0), (40.0 * np.pi, 560.0 * np.pi), (0.0, 1.0), (1.0, 11.0)])
    return _noisy(rng, X, np.hypot(X[:, 0], X[:, 1] * X[:, 2] - 1.0 / (X[:, 1] * X[:, 3])))


def friedman_3(rng):
    """Its phase."""
    X = _uniform(rng, [(0.0, 100.0), (40.0 * np.pi, 560.0 * np.pi), (0.0, 1.0), (1.0, 11.0)])
    return _noisy(rng, X, np.arctan2(X[:, 1] * X[:, 2] - 1.0 / (X[:, 1] * X[:, 3]), X[:, 0]))


def borehole(rng):
    """Water through a hole between two aquifers."""
    X = _uniform(
        rng,
        [
            (0.05, 0.15),
            (100.0, 50_000.0),
            (63_070.0, 115_600.0),
            (990.0, 1_110.0),
            (63.1, 116.0),
            (700.0, 820.0),
            (1_120.0, 1_680.0),
            (9_855.0, 12_045.0),
        ],
    )
    radius, far, upper, upper_head, lower, lower_head, length, conductivity = X.T
    log = np.log(far / radius)
    flow = (
        2.0
        * np.pi
        * upper
        * (upper_head - lower_head)
        / (log * (1.0 + 2.0 * length * upper / (log * radius**2 * conductivity) + upper / lower))
    )
    return _noisy(rng, X, flow)


def piston(rng):
    """Time of a cycle of a piston."""
    X = _uniform(
        rng,
        [
            (30.0, 60.0),
            (0.005, 0.02),
            (0.002, 0.01),
            (1_000.0, 5_000.0),
            (90_000.0, 110_000.0),
            (290.0, 296.0),
            (340.0, 360.0),
        ],
    )
    mass, area, volume, spring, pressure, outside, filling = X.T
    force = pressure * area + 19.62 * mass - spring * volume / area
    rest = (
        area
        / (2.0 * spring)
        * (np.sqrt(force**2 + 4.0 * spring * pressure * volume * outside / filling) - force)
    )
    stiffness = spring + area**2 * pressure * volume * outside / (filling * rest**2)
    return _noisy(rng, X, 2.0 * np.pi * np.sqrt(mass / stiffness))


def wing_weight(rng):
    """Weight of the wing of a light aircraft."""
    X = _uniform(
        rng,
        [
            (150.0, 200.0),
            (220.0, 300.0),
            (6.0, 10.0),
            (-10.0, 10.0),
            (16.0, 45.0),
            (0.5, 1.0),
            (0.08, 0.18),
            (2.5, 6.0),
            (1_700.0, 2_500.0),
            (0.025, 0.08),
        ],
    )
    area, fuel, aspect, sweep, pressure, taper, thickness, load, gross, paint = X.T
    sweep = np.cos(np.radians(sweep))
    weight = (
        0.036
        * area**0.758
        * fuel**0.0035
        * (aspect / sweep**2) ** 0.6
        * pressure**0.006
        * taper**0.04
    )
    return _noisy(
        rng, X, weight * (100.0 * thickness / sweep) ** -0.3 * (load * gross) ** 0.49 + area * paint
    )


#: name -> (X, y) of a generator of random numbers.
SIMULATED = {
    f"simulated-{made.__name__.replace('_', '-')}": made
    for made in (friedman_1, friedman_2, friedman_3, borehole, piston, wing_weight)
}
