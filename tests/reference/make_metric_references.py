"""Writes metric_references.json: what other libraries give on seeded synthetic data, where their
definitions equal ours.

Run in an environment of its own, with torchmetrics 1.9.0, netcal 1.4.0, relplot 1.0.3,
model-diagnostics, uncertainty-calibration 0.1.4, probmetrics 1.3.0 and scikit-learn (calibrant is
not needed):

    python tests/reference/make_metric_references.py

A library that is not installed is left out, with a message; the test then has no number of it to
compare with.
"""

import contextlib
import importlib.metadata
import io
import json
from pathlib import Path

import numpy as np

OUT = Path(__file__).with_name("metric_references.json")


def binary():
    """2,000 binary scores, too extreme by a slope of 0.7; no score on an edge of 10, 15 or 20
    bins.
    """
    rng = np.random.default_rng(20)
    p = rng.beta(1.5, 1.5, 2000).clip(0.001, 0.999)
    odds = (p / (1 - p)) ** 0.7
    return (rng.random(2000) < odds / (1 + odds)).astype(int), p


def multiclass():
    """3,000 rows of four classes, twice too sharp."""
    rng = np.random.default_rng(21)
    logits = rng.normal(size=(3000, 4)) * 1.5
    truth = np.exp(logits / 2)
    truth /= truth.sum(axis=1, keepdims=True)
    y = (rng.random((3000, 1)) > np.cumsum(truth, axis=1)[:, :-1]).sum(axis=1)
    P = np.exp(logits)
    return y, P / P.sum(axis=1, keepdims=True)


def torchmetrics():
    import torch
    from torchmetrics.functional.classification import (
        binary_calibration_error,
        multiclass_calibration_error,
    )

    (yb, p), (y, P) = binary(), multiclass()
    out, top = {}, {"num_classes": 4, "n_bins": 15}
    for norm in ("l1", "l2", "max"):
        out[f"top label {norm}"] = float(
            multiclass_calibration_error(torch.tensor(P), torch.tensor(y), norm=norm, **top)
        )
        out[f"positive {norm}"] = float(
            binary_calibration_error(torch.tensor(p), torch.tensor(yb), n_bins=15, norm=norm)
        )
    return out


def netcal():
    from netcal.metrics import ECE, MCE

    y, P = multiclass()
    return {"ECE": float(ECE(15).measure(P, y)), "MCE": float(MCE(15).measure(P, y))}


def relplot():
    import relplot as rp

    y, p = binary()
    return {"smECE": float(rp.smECE(p, y))}


def model_diagnostics():
    from model_diagnostics.scoring import LogLoss, SquaredError, decompose

    y, p = binary()
    p = np.round(p, 2).clip(0.01, 0.99)
    weight = np.random.default_rng(22).integers(1, 4, len(y))
    out = {}
    for name, score in (("brier", SquaredError()), ("log", LogLoss())):
        for kind, w in (("plain", None), ("weighted", weight)):
            table = decompose(y_obs=y, y_pred=p, weights=w, scoring_function=score)
            out[f"{name} {kind}"] = [
                float(table[c][0])
                for c in ("score", "miscalibration", "discrimination", "uncertainty")
            ]
    return out


def uncertainty_calibration():
    import calibration

    y, p = binary()
    value = calibration.get_calibration_error(
        np.column_stack([1 - p, p]), y, p=2, debias=True, mode="top-label"
    )
    return {"debiased, equal mass, top label": float(value)}


def probmetrics():
    import torch
    from probmetrics.metrics import Metrics

    y, P = multiclass()
    found = Metrics.from_names(
        ["logloss", "brier", "ece-15", "rmsce-15", "mce-15"]
    ).compute_all_from_labels_probs(torch.tensor(y), torch.tensor(P))
    return {name: float(value) for name, value in found.items()}


def scikit_learn():
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

    (yb, p), (y, P) = binary(), multiclass()
    odds = np.log(p / (1 - p))[:, None]
    fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(odds, yb)
    return {
        "log_loss": float(log_loss(y, P)),
        "brier_score_loss": float(brier_score_loss(y, P)),
        "slope": float(fit.coef_[0, 0]),
        "auroc of the confidence": float(roc_auc_score(P.argmax(axis=1) == y, P.max(axis=1))),
    }


def main():
    libraries = {
        "torchmetrics": torchmetrics,
        "netcal": netcal,
        "relplot": relplot,
        "model-diagnostics": model_diagnostics,
        "uncertainty-calibration": uncertainty_calibration,
        "probmetrics": probmetrics,
        "scikit-learn": scikit_learn,
    }
    out = {}
    for name, function in libraries.items():
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                values = function()
            out[name] = {"version": importlib.metadata.version(name), "values": values}
        except Exception as error:
            print(f"{name} left out: {type(error).__name__}: {error}")
    OUT.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")
    print(f"{OUT.name}: {', '.join(out)}")


if __name__ == "__main__":
    main()
