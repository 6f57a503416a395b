"""The metrics of an event beside R's: base R's ``glm``, ``loess`` and ``poisson.test``, and
``rms``.

    python -m benchmarks.event.against_r  # needs Rscript with rms (Debian: r-base-core
    r-cran-rms); prints a table
    python -m benchmarks.event.against_r --store  # keeps them too: R's numbers in
    tests/metrics/event/r_values.jsonl, so that tests
                                                    # need no R, and the tables in
                                                    benchmarks/event/README.md

Simulated risks, those of a logistic regression on scikit-learn's breast cancer, and, where
CALIBRANT_DATA has them, the binary KITTI outputs, whose rows are not stored.
"""

import argparse
import json
import re
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import metrics
from calibrant._numerics.intervals import normal_interval
from calibrant._numerics.logistic import intercept_at_unit_slope, sigmoid, slope_and_intercept
from calibrant._numerics.smoothing import (
    fit_restricted_spline,
    loess_matrix,
    spline_design,
    spline_knots,
)
from calibrant.datasets.sets import stored
from calibrant.errors import InputError

VALUES = Path(__file__).resolve().parents[2] / "tests" / "metrics" / "event" / "r_values.jsonl"
THRESHOLDS = (0.05, 0.1, 0.2, 0.5, 0.8)
KITTI = ("1layer-nn", "adaboost", "mondrian-forest", "random-forest", "xgboost")
#: What is no closed form or GLM -> how far it may be from R's; the rest 1e-6. None: another
#: definition, shown for comparison.
WITHIN = {r".*_default|rms_lowess_ici": None, r"(ici|e50|e90|emax)_(direct|spline)": 1e-3}


def simulated():
    """Name -> (risks with six digits, outcomes)."""
    rng = np.random.default_rng(2026)
    calibrated, few = rng.beta(2.0, 3.0, 400), rng.beta(2.0, 18.0, 90)
    odds, rare = (
        2.0 * rng.normal(size=600),
        np.clip(rng.beta(0.5, 12.0, 800).round(3), 0.001, 0.999),
    )
    told = {
        "calibrated": (calibrated, calibrated),
        "overconfident": (sigmoid(odds), sigmoid(0.6 * odds + 0.2)),
        "rare, with ties": (rare, 0.02 + 0.6 * rare),
        "few": (few, 0.9 * few),
    }
    cases = {
        name: (p, (rng.random(len(p)) < truth).astype(int)) for name, (p, truth) in told.items()
    }
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
    cases["breast cancer"] = (
        cross_val_predict(model, X[:, :10], y, cv=5, method="predict_proba")[:, 1],
        y,
    )
    return {name: (np.clip(p, 1e-6, 1.0 - 1e-6).round(6), y) for name, (p, y) in cases.items()}


def kitti():
    """The same of the stored outputs, as many as there are; certain predictions are brought to
    1e-12 of certain, for R has no limit.
    """
    found = {}
    for name in KITTI:
        try:
            z = stored(f"classifier_outputs/{name}-kitti")
        except InputError:
            continue
        found[f"KITTI {name}"] = (
            np.clip(z["probabilities"][:, 1].astype(np.float64), 1e-12, 1.0 - 1e-12),
            z["labels"].astype(int),
        )
    return found


def ours(p, y, at):
    """Our values under the names of ``against_r.R``; ``at`` (k,) are the scores at which curves
    are compared.
    """
    slope, joint, offset = (
        f(y, p)
        for f in (
            metrics.calibration_slope,
            metrics.joint_calibration_intercept,
            metrics.calibration_in_the_large,
        )
    )
    lows = _wald_lows(p, y)
    ratio = metrics.observed_expected_ratio.interval(y, p)
    out = {
        "oe": ratio.value,
        "oe_low": ratio.low,
        "oe_high": ratio.high,
        "brier": metrics.event_brier_score(y, p),
        "d2_brier": metrics.d2_brier(y, p),
        "log_loss": metrics.log_loss(y, p),
        "d2_log_loss": metrics.d2_log_loss(y, p),
        "slope": slope,
        "slope_low": lows[0],
        "offset_intercept": offset,
        "offset_intercept_low": lows[2],
        "joint_intercept": joint,
        "joint_intercept_low": lows[1],
        "rms_slope": slope,
        "rms_joint_intercept": joint,
        "rms_brier": metrics.event_brier_score(y, p),
        "rms_spiegelhalter": metrics.spiegelhalter_test(y, p).statistic,
    }
    for t in THRESHOLDS:
        out[f"net_benefit_{t:g}"] = metrics.net_benefit(y, p, threshold=t)
        out[f"net_benefit_all_{t:g}"] = metrics.net_benefit(y, p, threshold=t, strategy="all")
        out[f"standardised_net_benefit_{t:g}"] = metrics.standardised_net_benefit(y, p, threshold=t)
    for name, smoother in (("direct", "loess"), ("default", "loess"), ("spline", "spline")):
        for gap, quantile in (("ici", None), ("e50", 0.5), ("e90", 0.9), ("emax", 1.0)):
            out[f"{gap}_{name}"] = metrics.integrated_calibration_index(
                y, p, quantile=quantile, smoother=smoother
            )
    return {**out, "rms_lowess_ici": out["ici_direct"], **_curves(p, y, at)}


def _wald_lows(p, y):
    """Lower ends of slope, joint intercept and shift by Wald and the sandwich variance, which
    our own limits are stretched to.
    """
    ones = np.ones(len(p))
    theta, covariance = slope_and_intercept(p, y, ones)
    shift = intercept_at_unit_slope(p, y, ones)
    return [
        *(normal_interval(theta[j], covariance[j, j])[0] for j in (0, 1)),
        normal_interval(*shift)[0],
    ]


def _curves(p, y, at):
    """Both curves at these scores, from every distinct score."""
    x, index = np.unique(p, return_inverse=True)
    mass = np.bincount(index).astype(np.float64)
    mean = np.bincount(index, weights=y) / mass
    out = _numbered("loess", loess_matrix(x, mass, at, 0.75) @ mean)
    for k in (3, 4, 5):
        knots = spline_knots(x, mass, k)
        theta, covariance = fit_restricted_spline(spline_design(x, knots), mean, mass)
        columns = spline_design(at, knots)
        low = normal_interval(
            columns @ theta, np.einsum("gi,ij,gj->g", columns, covariance, columns)
        )[0]
        for name, numbers in (
            ("_knot", knots),
            ("", sigmoid(columns @ theta)),
            ("_low", sigmoid(low)),
        ):
            out |= _numbered(f"spline{k}{name}", numbers)
    return out


def _numbered(name, values):
    return {f"{name}_{j}": value for j, value in enumerate(values, start=1)}


def points(values):
    """The scores at which R's curves were taken."""
    return np.array([value for key, value in values.items() if key.startswith("at_")])


def within(key):
    """How far from R's a value of ours may be; None where R's is another number."""
    return next((limit for pattern, limit in WITHIN.items() if re.fullmatch(pattern, key)), 1e-6)


def in_r(cases):
    """({case: {key: value}}, versions of R and rms)."""
    with tempfile.TemporaryDirectory() as folder:
        names = {f"{j:02d}": name for j, name in enumerate(cases)}
        for file, name in names.items():
            np.savetxt(
                f"{folder}/{file}.csv",
                np.column_stack(cases[name]),
                fmt="%.17g",
                delimiter=",",
                header="p,y",
                comments="",
            )
        subprocess.run(["Rscript", str(Path(__file__).with_suffix(".R")), folder], check=True)
        rows = {
            name: (
                line.rsplit(",", 1)
                for line in Path(folder, f"{file}.values").read_text(encoding="utf-8").split()
            )
            for file, name in names.items()
        }
        versions = Path(folder, "versions").read_text(encoding="utf-8").splitlines()
        return {n: {k: float(v) for k, v in found} for n, found in rows.items()}, versions


def case_table(found, values):
    """Markdown: the numbers of each case, R's and in brackets ours where six digits tell them
    apart.
    """
    keys = (
        "oe",
        "slope",
        "offset_intercept",
        "joint_intercept",
        "net_benefit_0.2",
        "ici_direct",
        "ici_default",
        "ici_spline",
    )
    lines = ["| risks | " + " | ".join(keys) + " |", "|---" * (len(keys) + 1) + "|"]
    for name, mine in found.items():
        pairs = [(f"{values[name][key]:.6g}", f"{mine[key]:.6g}") for key in keys]
        lines.append(
            f"| {name} | " + " | ".join(r if r == m else f"{r} ({m})" for r, m in pairs) + " |"
        )
    return "\n".join(lines)


def difference_table(found, values):
    """Markdown: each kind of number, its largest difference from R's, where, and what was asked."""
    worst = {}
    for name, mine in found.items():
        for key, value in values[name].items():
            if not key.startswith("at_"):
                kind = re.sub(r"(_\d+(\.\d+)?)$", "", key)
                worst[kind] = max(
                    worst.get(kind, (-1.0,)),
                    (abs(mine[key] - value), name, value, mine[key], within(key)),
                )
    lines = ["| number | largest difference | in | R | ours | asked |", "|---|---|---|---|---|---|"]
    for kind, (gap, name, theirs, mine, limit) in worst.items():
        lines.append(
            f"| {kind} | {gap:.1e} | {name} | {theirs:.6g} | {mine:.6g} |"
            f" {limit or 'another definition'} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", action="store_true", help="keep R's numbers for the tests")
    store = parser.parse_args().store
    warnings.simplefilter("ignore")
    made = simulated()
    cases = made | kitti()
    values, versions = in_r(cases)
    found = {name: ours(*case, points(values[name])) for name, case in cases.items()}
    head = (
        f"# The metrics of an event beside R's\n\n{', '.join(versions)}; written by `python -m"
        " benchmarks.event.against_r --store`."
    )
    text = "\n\n".join([head, case_table(found, values), difference_table(found, values)]) + "\n"
    print(text)
    if store:
        Path(__file__).with_name("README.md").write_text(text, encoding="utf-8")
        lines = [{"versions": versions}]
        for name, found in values.items():
            p, y = made.get(name, ((), ()))
            told = {"p": list(p), "y": "".join(map(str, y))} if name in made else {}
            lines.append(
                {
                    "case": name,
                    **told,
                    "r": {key: float(f"{value:.12g}") for key, value in found.items()},
                }
            )
        VALUES.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
