"""Draw the README's picture by running its own code: ``make picture`` writes it to docs/_static."""

import re
import sys
from pathlib import Path

import matplotlib
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict, train_test_split

__all__ = ["predictions", "readme_code"]

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "_static" / "risk.png"


def readme_code(block=0):
    """The first, or another, block of Python in the README."""
    return re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )[block]


def predictions():
    """What the README takes as given: a model and its data in two halves, and risks of rows that
    it has not seen, with what happened.
    """
    data = load_breast_cancer(as_frame=True)
    X, y = (
        data.data[["mean texture", "mean smoothness", "mean symmetry"]],
        (data.target == 0).astype(int),
    )
    model = HistGradientBoostingClassifier(min_samples_leaf=5, random_state=0)
    p = cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1]
    parts = train_test_split(X, p, y, test_size=0.5, random_state=0, stratify=y)
    names = ("X_train", "X_test", "p_cal", "p_test", "y_cal", "y_test")
    return dict(zip(names, parts, strict=True)) | {
        "model": model,
        "y_train": parts[4],
        "p": p,
        "y": y,
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
