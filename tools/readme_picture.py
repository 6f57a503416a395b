"""Draw the README's and the tutorials' pictures by running their own code: ``make picture`` writes them to docs/_static."""

import doctest
import re
import sys
from pathlib import Path

import matplotlib
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict, train_test_split

__all__ = ["predictions", "readme_code", "tutorial_code"]

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "_static"
TUTORIALS = ("rare_event", "clinical_risk", "score_log")


def readme_code():
    """The first block of Python in the README."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL).group(1)


def tutorial_code(name):
    """The examples of a tutorial, in order."""
    text = (ROOT / "docs" / "tutorials" / f"{name}.rst").read_text(encoding="utf-8")
    return "".join(example.source for example in doctest.DocTestParser().get_examples(text))


def predictions():
    """The names that the README takes as given: risks of rows that the model has not seen, and whether it happened, in two halves."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data[["mean texture", "mean smoothness", "mean symmetry"]], (data.target == 0).astype(int)
    model = HistGradientBoostingClassifier(min_samples_leaf=5, random_state=0)
    p = cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1]
    return dict(zip(("p_cal", "p_test", "y_cal", "y_test"), train_test_split(p, y, test_size=0.5, random_state=0, stratify=y), strict=True))


def main():
    """Run each code and save the figure that it leaves."""
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    for name, code, names in (("risk", readme_code(), predictions()), *((f"tutorial_{n}", tutorial_code(n), {}) for n in TUTORIALS)):
        exec(compile(code, name, "exec"), names)
        path = FOLDER / f"{name}.png"
        plt.gcf().savefig(path, dpi=90, bbox_inches="tight", metadata={"Software": None})
        plt.close("all")
        print(f"wrote {path.relative_to(ROOT)}, {path.stat().st_size // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
