"""Real reports opened in Chromium: accessibility, size, time to the first paint, and screenshots.

Run: python -m benchmarks.report [--pictures docs/_static] [--automatic] [--only
event|classes|error-bars] Three reports: the README's risks, of scikit-learn's breast cancer; a
network's probabilities on CIFAR-100 (100 classes); and a random forest's spread as error bars on
kin8nm. Needs CALIBRANT_DATA (default ../shared/data), Chromium with its driver and axe-core (make
system-deps). Exits 1 when a page breaks an accessibility rule, is 2 MB or more, takes 1.5 s or more
to its first contentful paint, or is wider than a window of 360 or 1,920 px.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from selenium import webdriver
from sklearn.ensemble import RandomForestRegressor
from tools.readme_picture import predictions

import calibrant as cb
from calibrant.datasets.stored import stored

AXE = Path(__file__).parents[1] / "build/axe-core/package/axe.min.js"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
]
FIRST_PAINT = (
    "return performance.getEntriesByName('first-contentful-paint').map(e => e.startTime)[0]"
)
WIDTHS = (360, 1920)


def event(automatic):
    """The report of the risks that the README starts with."""
    halves = predictions()
    y, p = (np.concatenate([halves[f"{name}_cal"], halves[f"{name}_test"]]) for name in ("y", "p"))
    costs = {"cost_false_positive": 1, "cost_false_negative": 9}
    return cb.report(
        y,
        p,
        calibrator=None if automatic else cb.Platt(),
        title="Is the tumour malignant?",
        **costs,
    )


def classes(automatic):
    """The report of DenseNet-BC-100 on the test set of CIFAR-100."""
    data = stored("network_outputs/densenet-bc-100-cifar100")
    P = np.clip(data["probabilities"].astype(np.float64), 1e-12, 1.0)
    calibrator = None if automatic else cb.TemperatureScaling()
    return cb.report(
        data["labels"],
        P / P.sum(axis=1, keepdims=True),
        calibrator=calibrator,
        title="DenseNet-BC-100 on CIFAR-100",
    )


def error_bars(automatic):
    """The report of a random forest on kin8nm: the std is the spread of its trees, on the half
    of the rows that it did not learn from.
    """
    data = stored("uci/kin8nm")
    order = np.random.default_rng(0).permutation(len(data["y"]))
    learn, rest = np.array_split(order, 2)
    forest = RandomForestRegressor(100, random_state=0).fit(data["X"][learn], data["y"][learn])
    trees = np.stack([tree.predict(data["X"][rest]) for tree in forest.estimators_])
    calibrator = (
        None
        if automatic
        else [
            cb.StdScaling,
            cb.regression.IntervalCalibration,
            cb.regression.IsotonicVariance,
            cb.ConformalIntervals,
        ]
    )
    return cb.report(
        data["y"][rest],
        trees.mean(axis=0),
        trees.std(axis=0, ddof=1),
        calibrator=calibrator,
        title="Random forest on kin8nm: error bars",
    )


CASES = {
    "event": (event, "report_event.png"),
    "classes": (classes, "report.png"),
    "error-bars": (error_bars, "report_regression.png"),
}


def started():
    """A headless browser."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for flag in [*FLAGS, "--window-size=1000,1500"]:
        options.add_argument(flag)
    browser = webdriver.Chrome(
        options=options,
        service=webdriver.ChromeService(executable_path=shutil.which("chromedriver")),
    )
    browser.set_script_timeout(300)
    return browser


def opened(browser, path, picture):
    """(milliseconds to the first contentful paint, the median of five; identifiers of the rules
    broken, light and dark; widths broken).
    """
    paints, broken = [], []
    _emulate(browser, "light")
    for _ in range(5):
        browser.get(path.as_uri())
        time.sleep(0.5)
        paints.append(browser.execute_script(FIRST_PAINT))
    if picture:
        browser.save_screenshot(str(picture))
    for scheme in ("light", "dark"):
        _emulate(browser, scheme)
        browser.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text("utf-8")})
        found = browser.execute_async_script("axe.run().then(arguments[0])")
        broken += [f"{violation['id']} ({scheme})" for violation in found["violations"]]
    return (
        float(np.median(paints)),
        broken,
        [width for width in WIDTHS if not _fits(browser, width)],
    )


def _emulate(browser, scheme):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )


def _fits(browser, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return wide <= width


def measured(name, options, browser, folder):
    """Make one report, open it, print what was found; whether it passes."""
    make, picture = CASES[name]
    path = folder / f"{name}.html"
    start = time.process_time()
    found = make(options.automatic)
    middle = time.process_time()
    found.save(path)
    end, size = time.process_time(), path.stat().st_size
    print(f"{name}: {found.to_dict()['verdict']['sentence']}")
    print(
        f"  CPU: {middle - start:.1f} s for the numbers, {end - middle:.1f} s for the page; size:"
        f" {size / 1e6:.3f} MB",
        flush=True,
    )
    paint, broken, wide = opened(browser, path, options.pictures and options.pictures / picture)
    print(
        f"  first contentful paint: {paint:.0f} ms; rules broken: {broken or 'none'}; windows it"
        f" does not fit: {wide or 'none'}",
        flush=True,
    )
    return not broken and not wide and size < 2e6 and paint < 1500


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pictures",
        type=Path,
        help="folder for report_event.png, report.png and report_regression.png",
    )
    parser.add_argument("--automatic", action="store_true", help="the default calibrators: minutes")
    parser.add_argument("--only", choices=list(CASES), help="one of the reports")
    options = parser.parse_args()
    browser = started()
    try:
        folder = Path(tempfile.mkdtemp())
        passed = [
            measured(name, options, browser, folder)
            for name in CASES
            if options.only in (None, name)
        ]
    finally:
        browser.quit()
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main())
