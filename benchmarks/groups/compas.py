"""COMPAS, the numbers of the page on fairness: ``python -m benchmarks.groups.compas`` (needs
``stage2/groups_compas.npz``).

The deciles are calibrated out of fold by isotonic regression, on the whole and within each of the
two races, and cut where ProPublica did.
"""

import os
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

import calibrant as cb

__all__ = ["by_group", "main", "out_of_fold"]

#: Decile from which ProPublica called a score medium or high.
CUT = 5
RACES = ("African-American", "Caucasian")


def out_of_fold(score: np.ndarray, y: np.ndarray, group: np.ndarray | None = None) -> np.ndarray:
    """Isotonic probabilities of each row from the other nine tenths, of its own group where
    groups are given.
    """
    out, strata = (
        np.empty(len(y)),
        y
        if group is None
        else np.array([f"{g} {label}" for g, label in zip(group, y, strict=True)]),
    )
    for fit, use in StratifiedKFold(10, shuffle=True, random_state=0).split(score, strata):
        for one in [None] if group is None else np.unique(group):
            a, b = (rows if one is None else rows[group[rows] == one] for rows in (fit, use))
            out[b] = cb.Isotonic().fit(score[a], y[a]).predict(score[b])
    return out


def by_group(
    p: np.ndarray, called: np.ndarray, y: np.ndarray, group: np.ndarray
) -> list[dict[str, float]]:
    """For each race: rows, rate, mean probability (of all, of those who did, of those who did
    not), predictive value, error rates.
    """
    out = []
    for name in RACES:
        own = group == name
        said, hit, high = p[own], y[own] == 1, called[own]
        out.append(
            {
                "rows": own.sum(),
                "rate": hit.mean(),
                "mean": said.mean(),
                "mean, did": said[hit].mean(),
                "mean, did not": said[~hit].mean(),
                "PPV": hit[high].mean(),
                "FPR": high[~hit].mean(),
                "FNR": (~high)[hit].mean(),
            }
        )
    return out


def main() -> None:
    """Print the tables."""
    data = np.load(
        Path(os.environ.get("CALIBRANT_DATA", "../shared/data")) / "stage2" / "groups_compas.npz"
    )
    score, y, race = data["decile_score"].astype(float), data["label"].astype(int), data["race"]
    groups = {name: data[name] for name in ("race", "sex", "age_cat")}
    whole = out_of_fold(score, y)
    print("deciles as given, (decile - 1/2) / 10:", cb.audit(y, (score - 0.5) / 10.0, groups))
    print("calibrated on the whole:              ", cb.audit(y, whole, groups))
    two = np.isin(race, RACES)
    within = out_of_fold(score[two], y[two], race[two])
    cut = np.quantile(within, 1.0 - (score[two] >= CUT).mean())
    found = [
        (f"on the whole, called at decile {CUT}", whole[two], score[two] >= CUT),
        ("by race, called at one probability", within, within > cut),
    ]
    for title, p, called in found:
        print(f"\ncalibrated {title}")
        for name, row in zip(RACES, by_group(p, called, y[two], race[two]), strict=True):
            implied = (
                row["rate"]
                / (1.0 - row["rate"])
                * (1.0 - row["PPV"])
                / row["PPV"]
                * (1.0 - row["FNR"])
            )
            print(
                f"  {name:18}"
                + "  ".join(
                    f"{key} {value:.3f}" if key != "rows" else f"{value:.0f} rows"
                    for key, value in row.items()
                )
            )
            print(f"  {'':18}FPR that rate, PPV and FNR imply: {implied:.3f}")
        print(
            "  audit:", cb.audit(y[two], p, {name: column[two] for name, column in groups.items()})
        )


if __name__ == "__main__":
    main()
