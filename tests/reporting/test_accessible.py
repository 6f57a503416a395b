"""The report driven by mouse and keyboard, and held against the accessibility rules of axe-core."""

import base64
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb

AXE = Path(
    os.environ.get("CALIBRANT_AXE", Path(__file__).parents[2] / "build/axe-core/package/axe.min.js")
)
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
DRIVER = shutil.which("chromedriver")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
HOSTILE = [
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "c",
    "d" * 80,
]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None,
        reason="needs Chromium and its driver (make system-deps)",
    ),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    honest = rng.dirichlet(np.ones(4), 1000)
    y = (rng.random(1000)[:, None] > honest.cumsum(axis=1)).sum(axis=1)
    P = honest**2 / (honest**2).sum(axis=1, keepdims=True)
    found = cb.report(
        np.array(HOSTILE)[y],
        P,
        classes=HOSTILE,
        n_resamples=100,
        groups=np.arange(1000) % 3,
        calibrator=[cb.TemperatureScaling(), cb.ConfidenceCalibrator()],
    )
    return found.save(tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def error_bars(tmp_path_factory):
    """Two outputs, hostile names of outputs, groups and features, dates."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=(400, 2)), np.exp(0.5 * rng.normal(size=(400, 2)))
    found = cb.report(
        mean + [1.5, 0.8] * std * rng.normal(size=(400, 2)),
        mean,
        std,
        calibrator=[cb.StdScaling, cb.ConformalIntervals],
        n_resamples=0,
        outputs=HOSTILE[:2],
        groups=np.array(HOSTILE)[np.arange(400) % 4],
        times=np.datetime64("2026-01-05") + np.arange(400) // 40,
        features={
            HOSTILE[0]: rng.normal(size=400),
            "kind": np.array(HOSTILE)[np.arange(400) // 7 % 4],
        },
    )
    return found.save(tmp_path_factory.mktemp("error_bars") / "report.html")


@pytest.fixture(scope="module")
def event(tmp_path_factory):
    """A risk of one of two hostile labels: alternatives, costs, hostile names of groups, dates."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    true = rng.beta(2, 6, 400)
    y = (rng.random(400) < true).astype(int)
    found = cb.report(
        np.array(HOSTILE)[y],
        true**0.6,
        classes=HOSTILE[:2],
        n_resamples=100,
        calibrator=[cb.Platt(), cb.TemperatureScaling()],
        groups=np.array(HOSTILE)[np.arange(400) % 4],
        times=np.datetime64("2026-01-05") + np.arange(400) // 40,
        cost_false_positive=1,
        cost_false_negative=4,
    )
    return found.save(tmp_path_factory.mktemp("event") / "report.html")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Three models with hostile names."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 400)
    predictions = dict(zip(HOSTILE[:3], (p, p**2, 1.0 - p), strict=True))
    found = cb.report((rng.random(400) < p).astype(int), predictions)
    return found.save(tmp_path_factory.mktemp("models") / "report.html")


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    """Groups with hostile names, of which some are off and some have few rows."""
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    p, kind = rng.uniform(0.2, 0.6, 2000), np.arange(2000) % 4
    groups = {HOSTILE[0]: np.array(HOSTILE)[kind], "rare": rng.random(2000) < 0.02}
    found = cb.audit((rng.random(2000) < p + 0.3 * (kind == 1)).astype(int), p, groups)
    return cb.report(found).save(tmp_path_factory.mktemp("audit") / "audit.html")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=DRIVER)
    )
    driver.set_script_timeout(
        120
    )  # axe-core looks at every element, on machines with other work too
    yield driver
    driver.quit()


def open_page(browser, page):
    """Waits for the whole page: the first ``get`` after a print may return while it is loading."""
    from selenium.webdriver.support.wait import WebDriverWait

    browser.get(page.as_uri())
    WebDriverWait(browser, 60).until(
        lambda b: b.execute_script("return document.readyState") == "complete"
    )


def open_all(browser):
    """Open what is folded."""
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")


def violations(browser, scheme):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    found = browser.execute_async_script(
        "axe.run().then(arguments[0], e => arguments[0]({error: String(e)}))"
    )
    assert "violations" in found, found
    assert len(found["passes"]) > 15
    return [
        (v["id"], v["help"], [(n["html"][:160], n["failureSummary"]) for n in v["nodes"][:3]])
        for v in found["violations"]
    ]


@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core in build/ (make system-deps)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["page", "error_bars", "event", "models", "audit"])
def test_breaks_no_rule_of_accessibility(kind, request, browser, scheme):
    open_page(browser, request.getfixturevalue(kind))
    open_all(browser)
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text("utf-8")})
    assert violations(browser, scheme) == []


def test_slider_filter_and_points_work_by_keyboard(page, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    open_page(browser, page)
    slider, value = (
        browser.find_element(By.ID, "bins-slider"),
        browser.find_element(By.ID, "bins-value"),
    )
    assert value.text.startswith("15 bins: ECE before 0.")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert value.text.startswith("20 bins: ECE before 0.")
    assert slider.get_attribute("aria-valuetext") == "20 bins"
    shown = browser.execute_script(
        "return [...document.querySelectorAll('g[data-bins]')].filter(g =>"
        " g.getBoundingClientRect().width > 0)"
    )
    assert {g.get_attribute("data-bins") for g in shown} == {"20"}
    point = shown[-1].find_element(By.CSS_SELECTOR, "circle[tabindex='0']")
    browser.execute_script("arguments[0].focus()", point)
    first = browser.find_element(By.CSS_SELECTOR, "#figure-bins .readout").text
    browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    second = browser.find_element(By.CSS_SELECTOR, "#figure-bins .readout").text
    assert first.startswith("before: predicted 0.")
    assert second.startswith("before: predicted 0.")
    assert first != second
    open_all(browser)
    browser.find_element(By.ID, "class-filter").send_keys("DDD")
    rows = browser.find_elements(By.CSS_SELECTOR, "tr[data-class]")
    assert [row.is_displayed() for row in rows].count(True) == 1
    assert [
        f.is_displayed() for f in browser.find_elements(By.CSS_SELECTOR, "figure[data-class]")
    ].count(True) == 1
    assert browser.find_element(By.ID, "class-count").text == "1 of 4 classes"
    browser.find_element(By.ID, "group-filter").send_keys("2")
    groups = browser.find_elements(By.CSS_SELECTOR, "tr[data-group]")
    assert [row.get_attribute("data-group") for row in groups if row.is_displayed()] == ["2"]
    assert browser.find_element(By.ID, "group-count").text == "1 of 3 groups"


def test_drawn_figures_say_their_values_by_mouse_and_keyboard(page, browser):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    open_page(browser, page)
    open_all(browser)
    browser.find_element(
        By.TAG_NAME, "h1"
    ).click()  # a page without the focus tells nobody what has it
    figures = browser.find_elements(By.CSS_SELECTOR, ".grid > figure, .small-grid > figure")
    assert len(figures) >= 8
    for figure in figures:
        points, readout = (
            figure.find_elements(By.CSS_SELECTOR, ".points circle"),
            figure.find_element(By.CLASS_NAME, "readout"),
        )
        browser.execute_script(
            "arguments[0].scrollIntoView({block: 'center'});"
            "arguments[0].focus({preventScroll: true})",
            points[0],
        )
        first = points[0].find_element(By.TAG_NAME, "title").get_attribute("textContent")
        assert readout.text == first
        browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        assert readout.text == points[1].find_element(By.TAG_NAME, "title").get_attribute(
            "textContent"
        )
        # By way of another point: figures of one size have their last points in one place.
        ActionChains(browser).move_to_element(points[2]).move_to_element(points[-1]).perform()
        assert readout.text in [
            p.find_element(By.TAG_NAME, "title").get_attribute("textContent") for p in points[2:]
        ]


@pytest.mark.parametrize("of", ["page", "error_bars", "event"])
def test_prints_light_complete_and_without_controls(of, browser, request):
    """As paper sees it: dark colours gone, nothing to click, nothing cut off at the side, no word
    on what is folded, and a PDF of few pages.
    """
    open_page(browser, request.getfixturevalue(of))
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [dark]})
    a4 = {"width": 688, "height": 1000, "deviceScaleFactor": 0, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", a4)
    try:
        gone = (
            "return ['.control', '.readout', 'summary', 'details:not([open])', '.appendix',"
            " '.skip'].filter(q => [...document.querySelectorAll(q)].some(e => e.offsetParent))"
        )
        assert browser.execute_script(gone) == []
        assert (
            browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            == "rgb(255, 255, 255)"
        )
        assert (
            browser.execute_script("return getComputedStyle(document.body).color")
            == "rgb(31, 41, 51)"
        )
        bands = (
            "return [...document.querySelectorAll('h2[id]')].filter(h => h.offsetParent)"
            ".map(h => h.id)"
        )
        assert browser.execute_script(bands) == ["verdict", "trust", "do", "wrong", "metrics"]
        lost = (
            "return [...document.querySelectorAll('a')].filter(a => a.offsetParent"
            " && !document.getElementById(a.hash.slice(1)).offsetParent).map(a => a.hash)"
        )
        assert browser.execute_script(lost) == []
        shown = browser.execute_script("return document.body.innerText").lower()
        assert not re.findall(
            "appendix|below\\)|more metrics|data of this figure|arrow keys", shown
        )
        assert browser.execute_script(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    pdf = base64.b64decode(browser.print_page())
    assert pdf.startswith(b"%PDF")
    n_pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 2 <= n_pages <= 6


def test_a_point_says_its_value_under_the_mouse(page, browser):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    open_page(browser, page)
    open_all(browser)
    point = browser.find_elements(By.CSS_SELECTOR, "#figure-class-0 circle[tabindex]")[-1]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).perform()
    assert "rows" in browser.find_element(By.CSS_SELECTOR, "#figure-class-0 .readout").text
    assert browser.title == "Calibration report"
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_outputs_are_filtered_and_points_visited_by_keyboard(error_bars, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    open_page(browser, error_bars)
    open_all(browser)
    parts = browser.find_elements(By.CSS_SELECTOR, "[data-output]")
    assert len(parts) == 10
    assert all(part.is_displayed() for part in parts)
    browser.find_element(By.ID, "output-filter").send_keys(Keys.ARROW_DOWN)
    assert [part.is_displayed() for part in parts] == [
        part.get_attribute("data-output") == HOSTILE[0] for part in parts
    ]
    for key in ("reliability", "intervals", "pit", "drift"):
        figure = browser.find_element(By.ID, f"figure-{key}-0")
        browser.execute_script(
            "arguments[0].focus()", figure.find_element(By.CSS_SELECTOR, "circle[tabindex='0']")
        )
        first = figure.find_element(By.CLASS_NAME, "readout").text
        browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        second = figure.find_element(By.CLASS_NAME, "readout").text
        assert first
        assert second
        assert first != second
    assert browser.title == "Calibration report"
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.parametrize("width", [360, 1920])
def test_error_bars_are_no_wider_than_the_window(error_bars, browser, width):
    open_page(browser, error_bars)
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= width


@pytest.mark.parametrize("kind", ["page", "error_bars", "event", "models", "audit"])
def test_links_lead_somewhere(kind, request, browser):
    open_page(browser, request.getfixturevalue(kind))
    broken = (
        "return [...document.querySelectorAll('a')].filter(a =>"
        " !document.getElementById(a.hash.slice(1))).map(a => a.hash)"
    )
    assert browser.execute_script(broken) == []
