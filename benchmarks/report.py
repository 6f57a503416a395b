"""Twenty reports looked at in Chromium: heights, sizes, accessibility, printed pages, pictures.

    python -m benchmarks.report                      # every case: the table of what was measured
    python -m benchmarks.report --only tumour adult  # some of them
    python -m benchmarks.report --pictures build/cases --schemes light dark print

Each report is measured once and kept in ``build/cases`` as JSON, so that a change of the page alone
is looked at in seconds (``--again`` measures anew). Cases of real data need CALIBRANT_DATA (default
../shared/data) and are left out without it. Needs Chromium, its driver and axe-core (`make
system-deps`). Exits 1 when a page breaks an accessibility rule, is larger than 300 kB, is wider
than a window, or takes 1.5 s or more to its first contentful paint.
"""

import argparse
import base64
import json
import re
import shutil
import sys
import time
from pathlib import Path

import numpy as np
from selenium import webdriver
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.model_selection import cross_val_predict, train_test_split

import calibrant as cb
from calibrant.datasets.sets import stored
from calibrant.errors import InputError
from calibrant.reporting.report import Report

ROOT = Path(__file__).parents[1]
AXE = ROOT / "build/axe-core/package/axe.min.js"
KEPT = ROOT / "build/cases"
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
WIDTHS = (390, 1000, 1400)
LARGEST = 300e3


def tumour_risks():
    """Outcomes and out-of-fold risks of a malignant tumour, from three measurements of it."""
    data = load_breast_cancer(as_frame=True)
    X = data.data[["mean texture", "mean smoothness", "mean symmetry"]]
    y = (data.target == 0).astype(int)
    model = HistGradientBoostingClassifier(min_samples_leaf=5, random_state=0)
    p = cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1]
    # The rows in the order of two halves, which the stored pages were made with.
    p_first, p_second, y_first, y_second = train_test_split(
        p, y, test_size=0.5, random_state=0, stratify=y
    )
    return np.concatenate([y_first, y_second]), np.concatenate([p_first, p_second])


def tumour():
    """The risks of a malignant tumour, with costs."""
    y, p = tumour_risks()
    costs = {"cost_false_positive": 1, "cost_false_negative": 9}
    return cb.report(y, p, title="Is the tumour malignant?", **costs)


def _risks(n, seed, slope=1.0, offset=0.0, rate=0.0):
    """(y, p): outcomes drawn from risks on the logit scale, and the risks as a model gives them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(rate, 1.5, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    return y, 1 / (1 + np.exp(-(slope * z + offset)))


def fine():
    """Risks that are right."""
    return cb.report(*_risks(20_000, 0), title="Readmission within 30 days")


def few_events():
    """Six events or so in 300 rows."""
    return cb.report(*_risks(300, 1, rate=-5.0), title="Sepsis in one ward")


def reversed_risks():
    """The risk of the other class."""
    y, p = _risks(2_000, 2)
    return cb.report(y, 1 - p, title="Churn, exported last week")


def no_remedy():
    """A calibrator fitted elsewhere, on rows that it does not help."""
    y, p = _risks(4_000, 3, offset=0.4)
    far = _risks(4_000, 4, offset=-0.9)
    return cb.report(
        y, p, calibrator=cb.OneVsRest(cb.Platt()).fit(far[1], far[0]), title="Fraud, new country"
    )


def group_off():
    """One group stays wrong after a map that does not see groups."""
    y, p = _risks(12_000, 5, slope=1.6)
    rng = np.random.default_rng(5)
    region = rng.choice(["north", "south", "east", "west"], 12_000, p=[0.4, 0.3, 0.2, 0.1])
    z = np.log(p / (1 - p)) / 1.6 + 1.2 * (region == "west")
    y = (rng.random(12_000) < 1 / (1 + np.exp(-z))).astype(int)
    return cb.report(y, p, groups={"region": region}, title="Default of a loan")


def adult():
    """Census incomes, with three columns of groups."""
    data = stored("stage2/groups_adult")
    groups = {name: data[f"g_{name}"] for name in ("sex", "race", "education")}
    costs = {"cost_false_positive": 1, "cost_false_negative": 3}
    return cb.report(
        data["label"], data["p_hgb"], groups=groups, title="Income over 50,000 dollars", **costs
    )


def rare():
    """One event in two hundred."""
    return cb.report(*_risks(50_000, 6, slope=1.3, rate=-6.3), title="Claim above a million")


def cifar10():
    """A small network on ten classes."""
    data = stored("network_outputs/lenet-5-cifar10")
    P = np.clip(data["probabilities"].astype(np.float64), 1e-12, 1.0)
    return cb.report(data["labels"], P / P.sum(axis=1, keepdims=True), title="LeNet-5 on CIFAR-10")


def imagenet():
    """A thousand classes."""
    data = stored("stage2/nn_imagenet1k_lite0_lowres")
    P = data[next(name for name in data if data[name].ndim == 2)].astype(np.float64)
    P = np.exp(P - P.max(axis=1, keepdims=True)) if P.min() < 0 else P
    y = data[next(name for name in data if "label" in name)]
    return cb.report(
        y,
        P / P.sum(axis=1, keepdims=True),
        calibrator=cb.TemperatureScaling(),
        title="ImageNet at low resolution",
    )


def three_classes():
    """Three classes whose probabilities are right."""
    rng = np.random.default_rng(7)
    P = rng.dirichlet(np.ones(3), 3_000)
    y = (rng.random(3_000)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    return cb.report(np.array(["walk", "bus", "car"])[y], P, classes=["walk", "bus", "car"])


def forest():
    """A random forest on kin8nm: the std is the spread of its trees."""
    data = stored("uci/kin8nm")
    order = np.random.default_rng(0).permutation(len(data["y"]))
    learn, rest = np.array_split(order, 2)
    forest = RandomForestRegressor(100, random_state=0).fit(data["X"][learn], data["y"][learn])
    trees = np.stack([tree.predict(data["X"][rest]) for tree in forest.estimators_])
    return cb.report(
        data["y"][rest], trees.mean(axis=0), trees.std(axis=0, ddof=1), title="Forest on kin8nm"
    )


def good_bars():
    """Error bars that are right."""
    rng = np.random.default_rng(8)
    mean, std = rng.normal(size=6_000), np.exp(0.4 * rng.normal(size=6_000))
    return cb.report(mean + std * rng.normal(size=6_000), mean, std, title="Demand for power")


def two_outputs():
    """Two outputs, one with error bars that are too small."""
    rng = np.random.default_rng(9)
    mean, std = rng.normal(size=(4_000, 2)), np.exp(0.4 * rng.normal(size=(4_000, 2)))
    y = mean + [1.0, 1.6] * std * rng.normal(size=(4_000, 2))
    return cb.report(y, mean, std, outputs=["height", "width"], title="Boxes of a detector")


def several():
    """Three calibrators compared."""
    y, p = _risks(5_000, 10, slope=2.0, offset=0.3)
    return cb.report(
        y,
        p,
        calibrator=[cb.calibrators.Identity(), cb.Platt(), cb.Isotonic(), cb.calibrators.Beta()],
        title="Three calibrators of a score",
    )


def models():
    """Two models of the same rows."""
    y, p = _risks(3_000, 11)
    rng = np.random.default_rng(11)
    z = np.log(p / (1 - p)) + rng.normal(0, 0.8, 3_000)
    return cb.report(y, {"new": p, "old": 1 / (1 + np.exp(-1.5 * z))}, title="New model or old?")


def changed():
    """Risks that are too low since the spring."""
    y, p = _risks(6_000, 12)
    rng = np.random.default_rng(12)
    days = np.datetime64("2025-07-01") + np.arange(6_000) * 300 // 6_000
    z = np.log(p / (1 - p)) + 1.0 * (days >= np.datetime64("2026-02-01"))
    y = (rng.random(6_000) < 1 / (1 + np.exp(-z))).astype(int)
    return cb.report(y, p, times=days, title="Late payment, by day")


def later_rows():
    """Later rows without labels, whose risks are nearer to a half."""
    y, p = _risks(4_000, 13)
    new = 1 / (1 + np.exp(-0.3 * np.random.default_rng(14).normal(size=3_000)))
    return cb.report(y, p, new=new, title="Triage, with the rows of last week")


def answers():
    """A log of answers: one of four questions is answered far too surely."""
    rng = np.random.default_rng(15)
    log = []
    for item in range(900):
        for name, gap in (("topic", 0.0), ("tone", 0.0), ("safe", 0.0), ("language", 0.3)):
            sure = rng.uniform(0.55, 0.98)
            right = rng.random() < sure - gap
            probs = {"yes": sure, "no": 1.0 - sure}
            log.append({"id": item, "question": name, "probs": probs, "label": bool(right)})
    return cb.report(cb.read_questions(log), title="A judge of chats")


def sure_ones():
    """Risks that are right, but for the surest hundredth."""
    y, p = _risks(40_000, 16)
    rng = np.random.default_rng(16)
    q = np.where(p >= np.quantile(p, 0.99), p - 0.25, p)
    y = (rng.random(40_000) < q).astype(int)
    return cb.report(y, p, title="Will the part fail?")


CASES = {
    make.__name__: make
    for make in (
        tumour,
        fine,
        few_events,
        reversed_risks,
        no_remedy,
        group_off,
        adult,
        rare,
        cifar10,
        imagenet,
        three_classes,
        forest,
        good_bars,
        two_outputs,
        several,
        models,
        changed,
        later_rows,
        answers,
        sure_ones,
    )
}


def made(name, again):
    """The report of a case, measured now or before; None without its data."""
    kept = KEPT / f"{name}.json"
    if kept.is_file() and not again:
        return Report(json.loads(kept.read_text("utf-8")))
    try:
        found = CASES[name]()
    except (InputError, FileNotFoundError) as error:
        print(f"{name}: left out, {error}")
        return None
    KEPT.mkdir(parents=True, exist_ok=True)
    found.save(kept, overwrite=True)
    return found


def started():
    """A headless browser."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for flag in [*FLAGS, "--window-size=1400,900"]:
        options.add_argument(flag)
    browser = webdriver.Chrome(
        options=options,
        service=webdriver.ChromeService(executable_path=shutil.which("chromedriver")),
    )
    browser.set_script_timeout(300)
    return browser


def _sized(browser, width, height=900):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def _emulate(browser, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def _pictured(browser, path):
    """Keep a picture of the whole page and one of the first screen."""
    width, height = browser.execute_script(
        "return [innerWidth, document.documentElement.scrollHeight]"
    )
    for name, high in ((path, height), (path.with_stem(f"{path.stem}_first"), 900)):
        clip = {"x": 0, "y": 0, "width": width, "height": min(high, 14_000), "scale": 1}
        shot = browser.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
        )
        name.write_bytes(base64.b64decode(shot["data"]))


def printed(browser, path=None):
    """The number of A4 pages of the page as printed; ``path`` keeps the PDF."""
    found = base64.b64decode(
        browser.execute_cdp_cmd(
            "Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True}
        )["data"]
    )
    if path is not None:
        path.write_bytes(found)
    return len(re.findall(rb"/Type\s*/Page\b", found))


def looked_at(browser, path, pictures, schemes):
    """What is seen of a page: paint in ms, rules broken, heights by width, widths that do not fit,
    printed pages.
    """
    paints, broken, heights, wide = [], [], {}, []
    _emulate(browser, "light")
    for _ in range(3):
        browser.get(path.as_uri())
        time.sleep(0.2)
        paints.append(browser.execute_script(FIRST_PAINT))
    for scheme in ("light", "dark"):
        _emulate(browser, scheme)
        browser.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text("utf-8")})
        found = browser.execute_async_script("axe.run().then(arguments[0])")
        broken += [f"{violation['id']} ({scheme})" for violation in found["violations"]]
        for width in WIDTHS:
            _sized(browser, width)
            seen = browser.execute_script(
                "const d = document.documentElement; return [d.scrollWidth, d.scrollHeight]"
            )
            heights[width] = seen[1]
            wide += [width] if seen[0] > width else []
            if pictures is not None and scheme in schemes:
                _pictured(browser, pictures / f"{path.stem}_{width}_{scheme}.png")
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    keep = pictures is not None and "print" in schemes
    pages = printed(browser, pictures / f"{path.stem}.pdf" if keep else None)
    return float(np.median(paints)), broken, heights, sorted(set(wide)), pages


def measured(name, options, browser):
    """Look at one report and print what was found; whether it passes."""
    found = made(name, options.again)
    if found is None:
        return True
    path = KEPT / f"{name}.html"
    found.to_html()
    start = time.process_time()
    text = found.to_html()
    cpu = time.process_time() - start
    path.write_text(text, "utf-8")
    size = path.stat().st_size
    paint, broken, heights, wide, pages = looked_at(
        browser, path, options.pictures, options.schemes
    )
    high = " ".join(f"{width}:{heights[width]:,}" for width in WIDTHS)
    print(
        f"{name:15s} {found.to_dict()['verdict']['state']:24s} {size / 1e3:4.0f} kB {cpu:.2f} CPU s"
        f" {paint:4.0f} ms  px {high}  {pages} printed pages  rules broken: {broken or 'none'}"
        f"{f'; too wide at {wide}' if wide else ''}",
        flush=True,
    )
    return not broken and not wide and size < LARGEST and paint < 1500


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pictures", type=Path, help="folder of the pictures")
    parser.add_argument("--schemes", nargs="*", default=["light"], help="light dark print")
    parser.add_argument("--only", nargs="*", choices=list(CASES), help="some of the cases")
    parser.add_argument("--again", action="store_true", help="measure the reports anew")
    options = parser.parse_args()
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    browser = started()
    try:
        passed = [measured(name, options, browser) for name in options.only or CASES]
    finally:
        browser.quit()
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main())
