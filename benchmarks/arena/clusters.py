"""Ten views of one image are ten dependent rows: ``python -m benchmarks.arena.clusters``.

The network of 1,000 classes in ``CALIBRANT_DATA/stage2`` saw each of 1,000 images in ten views, one
image a class. Calibrators are fitted on all views of 100 or 400 images and judged on the views of
500 others. Folds at random put views of one image on both sides; with ``cluster=`` the automatic
choice's folds do not.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.arena import results, scores
from benchmarks.arena.outputs import FOLDER
from scipy.special import softmax

import calibrant as cb
from calibrant.errors import CalibrationWarning

#: In the folder of results.
FOUND = "clusters.json"
FILE = FOLDER / "nn_imagenet1k_lite0_views.npz"
IMAGES, TEST_IMAGES = (100, 400), 500
HEADER = (
    "images",
    "rows",
    "calibrator",
    "log loss",
    "Brier score",
    "change of log loss",
    "CPU seconds",
    "what it used",
)


def rows(seed=0):
    """The cells of the table, one a (number of images, calibrator)."""
    with np.load(FILE, allow_pickle=False) as z:
        P, y, image = (
            softmax(z["logits"].astype(np.float64), axis=1),
            z["label"].astype(np.intp),
            z["image_id"],
        )
    P = np.clip(P, 1e-12, 1.0)
    order = np.random.default_rng(seed).permutation(np.unique(image))
    test = np.isin(image, order[-TEST_IMAGES:])
    cells = []
    for images in IMAGES:
        fit, nothing = np.isin(image, order[:images]), None
        for name, make, clusters in (
            ("Identity", cb.calibrators.Identity, False),
            ("TemperatureScaling", cb.TemperatureScaling, False),
            ("AutoCalibrator", cb.AutoCalibrator, False),
            ("AutoCalibrator, ``cluster=`` the image", cb.AutoCalibrator, True),
        ):
            Q, seconds, used = _one(make(), P, y, fit, test, image if clusters else None)
            loss = scores.log_losses(Q, y[test]).mean()
            nothing = nothing or loss
            brier = scores.brier_scores(Q, y[test]).mean()
            cells.append(
                (
                    str(images),
                    f"{fit.sum():,}",
                    name,
                    f"{loss:.4f}",
                    f"{brier:.4f}",
                    f"{100 * (loss / nothing - 1):+.2f} %",
                    f"{seconds:.1f}",
                    used,
                )
            )
    return cells


def _one(calibrator, P, y, fit, test, image):
    start = time.process_time()
    with warnings.catch_warnings():
        # Without clusters it cautions of rows that look alike: that is what this run shows.
        warnings.simplefilter("ignore", CalibrationWarning)
        calibrator.set_params(classes=np.arange(P.shape[1]))
        calibrator.fit(P[fit], y[fit], **({} if image is None else {"cluster": image[fit]}))
    seconds, used = time.process_time() - start, ""
    if isinstance(calibrator, cb.AutoCalibrator):
        used = ", ".join(
            f"{row['name']} {row['weight']:.2f}" for row in calibrator.table_ if row["weight"] > 0.0
        )
    return calibrator.predict_proba(P[test]), seconds, used


def kept_rows(folder):
    """The cells as the last run left them in the results; none where there was no run."""
    path = Path(folder) / FOUND
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def main():
    """Run, keep and print the table."""
    from benchmarks.arena.report import text

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=results.RESULTS)
    folder = parser.parse_args().results
    cells = rows()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FOUND).write_text(json.dumps(cells), encoding="utf-8")
    print(text(cells, HEADER))


if __name__ == "__main__":
    main()
