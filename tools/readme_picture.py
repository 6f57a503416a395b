"""Write what the README shows: ``make picture`` draws its picture to docs/_static, runs its block
of Python, and writes what that prints below it.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

import calibrant as cb

__all__ = ["OUTPUT", "README", "draw", "predictions", "readme_code"]

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "_static" / "risk.png"
#: The output below the block of Python.
OUTPUT = re.compile(r"(?<=```text\n)[^`]*(?=```)")


def readme_code():
    """The block of Python in the README."""
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return code


def predictions():
    """Return the data of the picture: simulated hospital stays, whether the patient came back
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
    return p[cal], y[cal], p[test], y[test]


def draw():
    """Draw calibration curves before and after, and decision curves of both; return the true
    outcomes of the test rows, their risks, and their calibrated risks.
    """
    import matplotlib.pyplot as plt

    p_cal, y_cal, p, y = predictions()
    q = cb.AutoCalibrator().fit(p_cal, y_cal).predict_proba(p)[:, 1]
    left, middle, right = plt.figure(figsize=(13, 4.8), layout="constrained").subplots(1, 3)
    curve = cb.displays.ReliabilityDisplay.from_predictions
    curve(y, p, smooth="loess", ax=left, name="Predicted by the model")
    curve(y, q, smooth="loess", ax=middle, name="Calibrated")
    decision = cb.displays.DecisionCurveDisplay.from_predictions
    decision(y, p, ax=right, name="model")
    decision(y, q, ax=right, name="calibrated")
    right.set_title("Net benefit of acting on the risk", fontsize="medium")
    return y, p, q


def main():
    """Save the picture, and write the output of the block."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    draw()
    plt.gcf().savefig(PICTURE, dpi=90, bbox_inches="tight", metadata={"Software": None})
    plt.close("all")
    print(f"wrote {PICTURE.relative_to(ROOT)}, {PICTURE.stat().st_size // 1024} KiB")
    made = subprocess.run(
        [sys.executable, "-c", readme_code()], capture_output=True, text=True, check=True
    )
    text = README.read_text(encoding="utf-8")
    README.write_text(OUTPUT.sub(lambda _: made.stdout, text), encoding="utf-8")
    print("wrote the output in README.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
