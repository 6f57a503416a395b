"""What repair by group gains: made cells and curves whose truth is known, and four real sets,
beside ``mcgrad`` where it is installed.

``python -m benchmarks.groups [--seeds 5] [--data FOLDER] [--only made|real|other|halves]``. The
cells are 8 x 5 x 4 x 2 = 320, of shift N(0, 0.6^2) in log-odds each ("apart": nothing but the whole
crossing says it) or of columns, a pair and cells ("nested"); "smooth" are ten features whose error
is a sum of smooth functions of one, two or three of them. Shares are of the log loss that the true
probabilities save on 100,000 new rows, with standard errors over the seeds. Real sets are split in
halves at random: fitted on one, judged on the other.
"""

import time
from pathlib import Path

import numpy as np

import calibrant as cb

__all__ = ["cells", "losses_of", "made", "methods", "other", "read_set", "real", "smooth"]

DIMS = (8, 5, 4, 2)
ROWS = (20_000, 100_000)
#: Real sets: file, predictions, labels, groups.
SETS = (
    (
        "adult",
        "p_logreg",
        "label",
        ("g_race", "g_sex", "g_age", "g_education", "g_native_us", "g_marital"),
    ),
    (
        "adult",
        "p_hgb",
        "label",
        ("g_race", "g_sex", "g_age", "g_education", "g_native_us", "g_marital"),
    ),
    (
        "bank",
        "p_logreg",
        "label",
        ("g_age", "g_marital", "g_job", "g_education", "g_month", "g_poutcome"),
    ),
    (
        "bank",
        "p_hgb",
        "label",
        ("g_age", "g_marital", "g_job", "g_education", "g_month", "g_poutcome"),
    ),
    ("compas", "decile_score", "label", ("race", "sex", "age_cat", "charge_degree")),
    ("compas", "v_decile_score", "label_violent", ("race", "sex", "age_cat", "charge_degree")),
    ("law_school", "p_logreg", "label", ("g_race", "g_sex", "g_fulltime", "g_tier", "g_fam_inc")),
    ("law_school", "p_hgb", "label", ("g_race", "g_sex", "g_fulltime", "g_tier", "g_fam_inc")),
)


def cells(n, seed, nested):
    """(said, outcomes, columns of groups, truth) of n rows."""
    rng = np.random.default_rng(seed)
    shift = rng.normal(0.0, 0.6, DIMS)
    if nested:
        shift = rng.normal(0.0, 0.2, DIMS) + rng.normal(0.0, 0.3, (*DIMS[:2], 1, 1))
        for j, size in enumerate(DIMS):
            shift = shift + rng.normal(0.0, 0.3, size).reshape(
                [size if i == j else 1 for i in range(4)]
            )
    groups = np.column_stack([rng.integers(0, size, n) for size in DIMS])
    z = rng.normal(0.0, 1.2, n)
    truth = 1.0 / (1.0 + np.exp(-z - shift[tuple(groups.T)]))
    return 1.0 / (1.0 + np.exp(-z)), (rng.uniform(size=n) < truth).astype(int), groups, truth


def smooth(n, seed):
    """(said, outcomes, ten features, truth) of n rows: what the model missed are smooth
    interactions.
    """
    rng = np.random.default_rng(seed)
    X, z = rng.normal(size=(n, 10)), rng.normal(0.0, 1.2, n)
    missed = (
        0.6 * np.sin(1.5 * X[:, 0] * X[:, 1])
        + 0.5 * np.tanh(X[:, 2] + X[:, 3] * X[:, 4])
        + 0.2 * z * np.cos(X[:, 5] + X[:, 6])
    )
    missed += 0.3 * X[:, 7] * (np.abs(X[:, 8]) < 1.0) - 0.3 * np.exp(-(X[:, 9] ** 2))
    truth = 1.0 / (1.0 + np.exp(-z - missed))
    return 1.0 / (1.0 + np.exp(-z)), (rng.uniform(size=n) < truth).astype(int), X, truth


#: Name of a made case -> n rows of it from a seed.
MADE = {
    "apart": lambda n, seed: cells(n, seed, False),
    "nested": lambda n, seed: cells(n, seed, True),
    "smooth": smooth,
}


def losses_of(q, y):
    """(n,) log loss of each row."""
    q = np.clip(q, 1e-12, 1.0 - 1e-12)
    return -np.log(np.where(y == 1, q, 1.0 - q))


def _ours(p, y, groups, p_test, groups_test):
    cal = cb.GroupCalibrator().fit(p, y, groups=groups)
    return cal.predict_proba(p_test, groups=groups_test)[:, 1]


def _boosted(p, y, groups, p_test, groups_test, calibrator=None):
    # Numbers that are not whole are features, as mcgrad is told too.
    name = "X" if groups.dtype.kind == "f" else "groups"
    cal = cb.calibrators.Multicalibration(calibrator).fit(p, y, **{name: groups})
    return cal.predict_proba(p_test, **{name: groups_test})[:, 1]


def _both(p, y, groups, p_test, groups_test):
    return (
        None
        if groups.dtype.kind == "f"
        else _boosted(p, y, groups, p_test, groups_test, cb.GroupCalibrator())
    )


def _base(p, y, groups, p_test, groups_test):
    return cb.TemperatureScaling().fit(p, y).predict_proba(p_test)[:, 1]


def _mcgrad(p, y, groups, p_test, groups_test):
    import pandas as pd
    from mcgrad.methods import MCGrad

    names = [f"g{j}" for j in range(groups.shape[1])]

    numbers = groups.dtype.kind == "f"
    columns = {
        "numerical_feature_column_names" if numbers else "categorical_feature_column_names": names
    }

    def frame(p, groups):
        return pd.DataFrame(groups if numbers else groups.astype(str), columns=names).assign(
            p=np.clip(p, 1e-6, 1 - 1e-6)
        )

    model = MCGrad(random_state=0)
    model.fit(frame(p, groups).assign(y=y), "p", "y", **columns)
    return np.asarray(model.predict(frame(p_test, groups_test), "p", **columns))


def methods():
    """By name, what is compared; mcgrad where it is installed."""
    found = {"GroupCalibrator": _ours, "Multicalibration": _boosted, "both": _both}
    try:
        import mcgrad.methods  # noqa: F401
    except ImportError:
        print("mcgrad is not installed here: its columns are left out")
    else:
        found["mcgrad"] = _mcgrad
    return found


def made(compared, seeds):
    """Print the share of the recoverable log loss on made rows, and the CPU seconds of fit and
    prediction.
    """
    print(
        "case, rows, method: share of the recoverable log loss (s.e.), CPU seconds; both:"
        " Multicalibration(GroupCalibrator())"
    )
    for case, draw in MADE.items():
        for n in ROWS:
            shares, seconds = {name: [] for name in compared}, {name: [] for name in compared}
            for seed in range(seeds):
                p, y, groups, truth = draw(n + 100_000, seed)
                parts = p[:n], y[:n], groups[:n], p[n:], groups[n:]
                base, best = (losses_of(q, y[n:]).mean() for q in (_base(*parts), truth[n:]))
                for name, method in compared.items():
                    start = time.process_time()
                    q = method(*parts)
                    if q is None:
                        continue
                    seconds[name].append(time.process_time() - start)
                    shares[name].append((base - losses_of(q, y[n:]).mean()) / (base - best))
            for name, found in ((name, found) for name, found in shares.items() if found):
                error = np.std(found, ddof=1) / len(found) ** 0.5 if seeds > 1 else np.nan
                print(
                    f"{case:7s} {n:7,d}  {name:16s} {np.mean(found):6.1%} ({error:.1%}) "
                    f" {np.mean(seconds[name]):6.2f} s",
                    flush=True,
                )


def multicalibration_error(q, y, groups):
    """Largest |sum of y - q| over levels and pairs of levels of 100 rows or more, in standard
    errors under q.
    """
    worst = 0.0
    levels = [np.unique(column, return_inverse=True)[1] for column in groups.T]
    for i, a in enumerate(levels):
        for b in levels[i:]:
            code = a * (b.max() + 1) + b
            n, gap, spread = (np.bincount(code, w) for w in (np.ones(len(q)), y - q, q * (1.0 - q)))
            kept = n >= 100
            worst = max(worst, float((np.abs(gap[kept]) / np.sqrt(spread[kept])).max(initial=0.0)))
    return worst


def other(seeds):
    """Print the share of what is recoverable on made classes (of log loss) and made forecasts
    (of the log score).
    """
    print("\ncase, rows, method: share of the recoverable loss (s.e.), CPU seconds")
    for case, draw in (("three classes", _classes), ("forecasts", _forecasts)):
        shares, seconds = [], []
        for seed in range(seeds):
            start = time.process_time()
            base, ours, best = draw(20_000, np.random.default_rng(seed))
            seconds.append(time.process_time() - start)
            shares.append((base - ours) / (base - best))
        error = np.std(shares, ddof=1) / seeds**0.5 if seeds > 1 else np.nan
        print(f"{case:14s} 20,000  {np.mean(shares):6.1%} ({error:.1%})  {np.mean(seconds):6.2f} s")


def _classes(n, rng):
    z, X, group = (
        rng.normal(size=(2 * n, 3)),
        rng.normal(size=(2 * n, 4)),
        rng.integers(0, 5, 2 * n),
    )
    moved = np.column_stack(
        [np.sin(1.5 * X[:, 0] * X[:, 1]), 0.6 * X[:, 2], 0.5 * (group == 1) - 0.5 * (group == 2)]
    )
    P, truth = (np.exp(one) / np.exp(one).sum(axis=1, keepdims=True) for one in (z, z + moved))
    y = (truth.cumsum(axis=1) < rng.uniform(size=(2 * n, 1))).sum(axis=1)
    cal = cb.calibrators.Multicalibration().fit(P[:n], y[:n], X=X[:n], groups=group[:n])
    ours = cal.predict_proba(P[n:], X=X[n:], groups=group[n:])
    base = cb.TemperatureScaling().fit(P[:n], y[:n]).predict_proba(P[n:])
    return [-np.log(Q[np.arange(n), y[n:]]).mean() for Q in (base, ours, truth[n:])]


def _forecasts(n, rng):
    X, group, mean = (
        rng.normal(size=(2 * n, 4)),
        rng.choice(list("abcde"), 2 * n),
        rng.normal(size=2 * n),
    )
    bias, factor = (
        0.6 * np.sin(1.5 * X[:, 0] * X[:, 1]),
        np.exp(0.4 * X[:, 2] + 0.5 * (group == "b")),
    )
    std, y = np.ones(2 * n), mean + bias + factor * rng.normal(size=2 * n)
    cal = cb.regression.ForecastMulticalibration().fit(
        mean[:n], y[:n], std=std[:n], X=X[:n], groups=group[:n]
    )
    ours = cal.predict(mean[n:], std[n:], X=X[n:], groups=group[n:])
    base = cb.StdScaling().fit(mean[:n], y[:n], std=std[:n]).predict(mean[n:], std[n:])
    truth = cb.NormalForecast((mean + bias)[n:], factor[n:])
    return [-forecast.log_density(y[n:]).mean() for forecast in (base, ours, truth)]


def read_set(folder, name, said, label, columns):
    """(risks, outcomes, columns of groups) of a real set."""
    held = np.load(Path(folder) / "stage2" / f"groups_{name}.npz")
    p, y = held[said].astype(np.float64), held[label].astype(int)
    return (
        p / 11.0 if said.endswith("decile_score") else p,
        y,
        np.column_stack([held[c].astype(str) for c in columns]),
    )


def real(compared, folder, seeds):
    """Print log loss and multicalibration error on the real sets, means over random halves."""
    print(
        "\nset, predictions, method: log loss, worst group or pair in standard errors, CPU seconds"
    )
    for name, said, label, columns in SETS:
        p, y, groups = read_set(folder, name, said, label, columns)
        rows = {m: [] for m in ("base", *compared)}
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(len(y))
            a, b = order[: len(y) // 2], order[len(y) // 2 :]
            for m, method in {"base": _base, **compared}.items():
                start = time.process_time()
                q = method(p[a], y[a], groups[a], p[b], groups[b])
                spent = time.process_time() - start
                rows[m].append(
                    (losses_of(q, y[b]).mean(), multicalibration_error(q, y[b], groups[b]), spent)
                )
        for m, found in rows.items():
            loss, worst, spent = np.mean(found, axis=0)
            gain = np.array(rows["base"])[:, 0] - np.array(found)[:, 0]
            error = gain.std(ddof=1) / len(gain) ** 0.5 if seeds > 1 else np.nan
            print(
                f"{name:11s} {said:12s} {m:16s} {loss:.4f} (gain {gain.mean():+.4f}, s.e."
                f" {error:.4f})  {worst:5.1f}  {spent:5.2f} s",
                flush=True,
            )
