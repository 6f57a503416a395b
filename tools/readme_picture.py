"""Draw the README's picture by running its own code: ``make picture`` writes it to docs/_static."""

import re
import sys
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

__all__ = ["predictions", "readme_code"]

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "_static" / "risk.png"


def readme_code(block=0):
    """The first, or another, block of Python in the README."""
    return re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )[block]


def predictions():
    """What the README takes as given: simulated hospital stays, whether the patient came back
    within 30 days, and the risks by gradient boosting that was fitted to 400 other stays.

    Enough rows are calibrated (4,000) and tested (10,000) that bands do not hide the curves.
    """
    rng = np.random.default_rng(1)
    X = rng.normal(size=(14_400, 6))
    log_odds = X @ [0.8, 0.6, 0.5, 0.4, 0.3, 0.2] - 1.0
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-log_odds))).astype(int)
    model = HistGradientBoostingClassifier(min_samples_leaf=5, random_state=0)
    p = model.fit(X[:400], y[:400]).predict_proba(X)[:, 1]
    cal, test = slice(400, 4_400), slice(4_400, None)
    return {
        "model": model,
        "X_train": X[:400],
        "y_train": y[:400],
        "X_cal": X[cal],
        "X_test": X[test],
        "p_cal": p[cal],
        "y_cal": y[cal],
        "p_test": p[test],
        "y_test": y[test],
    }


def main():
    """Run the code and save the figure that it leaves."""
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    exec(compile(readme_code(), "README.md", "exec"), predictions())
    plt.gcf().savefig(PICTURE, dpi=90, bbox_inches="tight", metadata={"Software": None})
    plt.close("all")
    print(f"wrote {PICTURE.relative_to(ROOT)}, {PICTURE.stat().st_size // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
