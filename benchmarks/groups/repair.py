"""What repair by group gains: made cells whose truth is known, and four real sets, beside ``mcgrad`` where it is installed.

``python -m benchmarks.groups [--seeds 5] [--data FOLDER]``. The made cells are 8 x 5 x 4 x 2 = 320, of shift N(0, 0.6^2) in log-odds each
("apart": nothing but the whole crossing says it) or of columns, a pair and cells ("nested"). Shares are of the log loss that the true
probabilities save on 100,000 new rows, with standard errors over the seeds. Real sets are split in halves at random: fitted on one,
judged on the other.
"""

import time
from pathlib import Path

import numpy as np

import calibrant as cb

__all__ = ["cells", "made", "methods", "real"]

DIMS = (8, 5, 4, 2)
ROWS = (20_000, 100_000)
#: Real sets: file, predictions, labels, groups.
SETS = (
    ("adult", "p_logreg", "label", ("g_race", "g_sex", "g_age", "g_education", "g_native_us", "g_marital")),
    ("adult", "p_hgb", "label", ("g_race", "g_sex", "g_age", "g_education", "g_native_us", "g_marital")),
    ("bank", "p_logreg", "label", ("g_age", "g_marital", "g_job", "g_education", "g_month", "g_poutcome")),
    ("bank", "p_hgb", "label", ("g_age", "g_marital", "g_job", "g_education", "g_month", "g_poutcome")),
    ("compas", "decile_score", "label", ("race", "sex", "age_cat", "charge_degree")),
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
            shift = shift + rng.normal(0.0, 0.3, size).reshape([size if i == j else 1 for i in range(4)])
    groups = np.column_stack([rng.integers(0, size, n) for size in DIMS])
    z = rng.normal(0.0, 1.2, n)
    truth = 1.0 / (1.0 + np.exp(-z - shift[tuple(groups.T)]))
    return 1.0 / (1.0 + np.exp(-z)), (rng.uniform(size=n) < truth).astype(int), groups, truth


def _losses(q, y):
    q = np.clip(q, 1e-12, 1.0 - 1e-12)
    return -np.log(np.where(y == 1, q, 1.0 - q))


def _ours(p, y, groups, p_test, groups_test):
    cal = cb.GroupCalibrator().fit(p, y, groups=groups)
    return cal.predict_proba(p_test, groups=groups_test)[:, 1]


def _base(p, y, groups, p_test, groups_test):
    return cb.TemperatureScaling().fit(p, y).predict_proba(p_test)[:, 1]


def _mcgrad(p, y, groups, p_test, groups_test):
    import pandas as pd
    from mcgrad.methods import MCGrad

    names = [f"g{j}" for j in range(groups.shape[1])]

    def frame(p, groups):
        return pd.DataFrame(groups.astype(str), columns=names).assign(p=np.clip(p, 1e-6, 1 - 1e-6))

    model = MCGrad(random_state=0)
    model.fit(frame(p, groups).assign(y=y), "p", "y", categorical_feature_column_names=names)
    return np.asarray(model.predict(frame(p_test, groups_test), "p", categorical_feature_column_names=names))


def methods():
    """By name, what is compared; mcgrad where it is installed."""
    found = {"GroupCalibrator": _ours}
    try:
        import mcgrad.methods  # noqa: F401
    except ImportError:
        print("mcgrad is not installed here: its columns are left out")
    else:
        found["mcgrad"] = _mcgrad
    return found


def made(compared, seeds):
    """Print the share of the recoverable log loss on made cells, and the CPU seconds of fit and prediction."""
    print("cells, rows, method: share of the recoverable log loss (s.e.), CPU seconds")
    for nested in (False, True):
        for n in ROWS:
            shares, seconds = {name: [] for name in compared}, {name: [] for name in compared}
            for seed in range(seeds):
                p, y, groups, truth = cells(n + 100_000, seed, nested)
                parts = p[:n], y[:n], groups[:n], p[n:], groups[n:]
                base, best = (_losses(q, y[n:]).mean() for q in (_base(*parts), truth[n:]))
                for name, method in compared.items():
                    start = time.process_time()
                    q = method(*parts)
                    seconds[name].append(time.process_time() - start)
                    shares[name].append((base - _losses(q, y[n:]).mean()) / (base - best))
            for name, found in shares.items():
                error = np.std(found, ddof=1) / len(found) ** 0.5 if seeds > 1 else np.nan
                kind = "nested" if nested else "apart"
                print(f"{kind:7s} {n:7,d}  {name:16s} {np.mean(found):6.1%} ({error:.1%})  {np.mean(seconds[name]):6.2f} s")


def multicalibration_error(q, y, groups):
    """Largest |sum of y - q| over levels and pairs of levels of 100 rows or more, in standard errors under q."""
    worst = 0.0
    levels = [np.unique(column, return_inverse=True)[1] for column in groups.T]
    for i, a in enumerate(levels):
        for b in levels[i:]:
            code = a * (b.max() + 1) + b
            n, gap, spread = (np.bincount(code, w) for w in (np.ones(len(q)), y - q, q * (1.0 - q)))
            kept = n >= 100
            worst = max(worst, float((np.abs(gap[kept]) / np.sqrt(spread[kept])).max(initial=0.0)))
    return worst


def real(compared, folder, seeds):
    """Print log loss and multicalibration error on the real sets, means over random halves."""
    print("\nset, predictions, method: log loss, worst group or pair in standard errors, CPU seconds")
    for name, said, label, columns in SETS:
        file = Path(folder) / "stage2" / f"groups_{name}.npz"
        if not file.exists():
            print(f"{file} is not there: left out")
            continue
        held = np.load(file)
        p, y = held[said].astype(np.float64), held[label].astype(int)
        p = p / 11.0 if said == "decile_score" else p
        groups = np.column_stack([held[c].astype(str) for c in columns])
        rows = {m: [] for m in ("base", *compared)}
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(len(y))
            a, b = order[: len(y) // 2], order[len(y) // 2 :]
            for m, method in {"base": _base, **compared}.items():
                start = time.process_time()
                q = method(p[a], y[a], groups[a], p[b], groups[b])
                spent = time.process_time() - start
                rows[m].append((_losses(q, y[b]).mean(), multicalibration_error(q, y[b], groups[b]), spent))
        for m, found in rows.items():
            loss, worst, spent = np.mean(found, axis=0)
            gain = np.array(rows["base"])[:, 0] - np.array(found)[:, 0]
            error = gain.std(ddof=1) / len(gain) ** 0.5 if seeds > 1 else np.nan
            print(f"{name:11s} {said:12s} {m:16s} {loss:.4f} (gain {gain.mean():+.4f}, s.e. {error:.4f})  {worst:5.1f}  {spent:5.2f} s")
