"""H36: what a reader sees of a page and of a text is whole: dots with their line and colours, a
reading in its own card, tables beside each other, printed crossings, intervals and words.
"""

import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from fcntl import ioctl

import numpy as np
import pytest

import calibrant as cb


def drawn(n=3000, slope=3.0):
    """(y, p, groups): overconfident risks, off for many groups."""
    rng = np.random.default_rng(0)
    z = rng.normal(0.0, 1.5, n)
    region, age = rng.choice(["north", "east", "west"], n), rng.choice(["young", "old"], n)
    moved = z + 1.5 * (region == "west") - 1.5 * (age == "young")
    y = (rng.random(n) < 1 / (1 + np.exp(-moved))).astype(int)
    return y, 1 / (1 + np.exp(-slope * z)), {"region": region, "age": age}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of an audit with more than six crossings off, saved."""
    pytest.importorskip("jinja2")
    y, p, groups = drawn(6000)
    groups["half"] = np.where(np.arange(6000) % 2, "odd", "even")
    found = cb.report(cb.audit(y, p, groups))
    assert len(found.to_dict()["drawn"]["crossings"]) > 6
    return found.save(tmp_path_factory.mktemp("page") / "audit.html")


def style_of(text):
    """{selector: declarations} of the page's style outside of @media."""
    css = text.split("<style>")[1].split("</style>")[0].split("@media (max-width")[0]
    return {s.strip(): body for s, body in re.findall(r"([^{}]+)\{([^{}]*)\}", css)}


def test_dots_have_a_zero_line_and_the_colours_of_their_legend(page):
    rules = style_of(page.read_text(encoding="utf-8"))
    assert "stroke" in rules.get(".dots .diagonal", "")
    assert "var(--other)" in rules.get(".dots .before", "")
    assert "var(--main)" in rules.get(".dots .after", "")


def test_numbers_of_a_comparison_are_not_cut():
    y, p, _ = drawn()
    logits = np.log(p / (1 - p))
    names = {
        "gradient boosting": p,
        "logistic regression": 1 / (1 + np.exp(-0.3 * logits)),
        "a network of three layers": 1 / (1 + np.exp(-0.5 * logits)),
    }
    for models in (names, dict(list(names.items())[:2])):
        found = cb.compare(y, models)
        text = repr(found)
        assert max(map(len, text.splitlines())) <= 100
        assert len(text.splitlines()) <= 15
        shown = re.findall(r"\[[-+][\d.e+-]+, [-+][\d.e+-]+\]", text)
        assert len(shown) >= min(len(found.rows), 3)
        assert "[" not in re.sub(r"\[[-+][\d.e+-]+, [-+][\d.e+-]+\]", "", text)


def test_no_p_is_printed_as_0():
    y, p, _ = drawn(20_000)
    found = cb.compare(y, {"model": p, "calm": p**0.3 / (p**0.3 + (1 - p) ** 0.3)})
    assert found.rows[0].p_value == 0.0
    report = cb.report(y, {"model": p, "calm": p**0.3 / (p**0.3 + (1 - p) ** 0.3)})
    for text in (repr(found), report.to_markdown(), report.to_html()):
        assert re.search(r"(<|&lt;) 0\.001", text)
        assert not re.search(r"(\| |\s\s|>)0( \||\s\s|</td>)", text)


def test_one_wrong_answer_is_not_the_largest_gap():
    # As many events as the risks say nearly everywhere, and one row by itself without any.
    p = np.append(np.linspace(0.02, 0.35, 4000), 0.52)
    y = np.diff(np.floor(np.cumsum(p)), prepend=0.0).astype(int)
    y[-1] = 0
    order = np.random.default_rng(1).permutation(len(y))
    y, p = y[order], p[order]
    text = cb.report(
        y, p, calibrator=cb.TemperatureScaling(), target="answer", n_resamples=100
    ).to_html()
    said = re.findall(r"largest gap \([^)]*\): predicted [^(]*\(([\d,]+) rows\)", text)
    assert said
    assert min(float(rows.replace(",", "")) for rows in said) >= 20


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of POSIX")
def test_plan_breaks_lines_at_blanks():
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    command = [sys.executable, "-m", "calibrant", "plan", "--prevalence", "0.1", "--auroc", "0.8"]
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    subprocess.run(command, stdout=follower, check=True, timeout=120, env=environment)
    os.close(follower)
    text = os.read(leader, 10_000).decode()
    os.close(leader)
    assert "rows with" in text
    assert max(len(line) for line in text.splitlines()) <= 60


def test_the_page_of_a_rule_says_its_threshold():
    y, p, _ = drawn(slope=1.0)
    rule = cb.SelectiveClassifier(0.2).fit(p, y)
    assert f"{rule.threshold_:.4g}" in cb.report(rule).to_html()
    apart = cb.decisions.NeymanPearsonClassifier(0.1, 0.2).fit(p, y)
    text = cb.report(apart).to_html()
    assert f"{apart.high_:.4g}" in text
    assert f"{apart.low_:.4g}" in text


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver")
    if CHROMIUM is None or shutil.which("chromedriver") is None:
        pytest.skip("needs Chromium and its driver (make system-deps)")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"):
        options.add_argument(flag)
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    started = webdriver.Chrome(options=options, service=service)
    yield started
    started.quit()


def opened(browser, path, width, media="screen"):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
    browser.get(path.as_uri())


@pytest.mark.browser
def test_on_a_phone_a_reading_lies_above_the_line_of_its_card(browser, page):
    opened(browser, page, 390)
    lines = browser.execute_script(
        "return [...document.querySelectorAll('.groups tbody tr')].slice(0, 5).flatMap((row) => {"
        " const ends = [...row.children].filter((cell) =>"
        " parseFloat(getComputedStyle(cell).borderBottomWidth) > 0)"
        ".map((cell) => cell.getBoundingClientRect().bottom);"
        " const reading = row.lastElementChild.getBoundingClientRect().bottom;"
        " return ends.map((end) => reading - end); });"
    )
    assert all(below <= 1.0 for below in lines)


@pytest.mark.browser
def test_printed_crossings_are_those_that_are_counted(browser, page):
    opened(browser, page, 760, "print")
    told, seen = browser.execute_script(
        "const one = [...document.querySelectorAll('details')].find((d) =>"
        " d.textContent.includes('Crossings of two columns that are off'));"
        " return [Number(one.querySelector('summary').textContent.split(': ').pop()),"
        " [...one.querySelectorAll('tbody tr')].filter((r) => r.checkVisibility("
        "{contentVisibilityAuto: true, visibilityProperty: true})"
        " && r.getBoundingClientRect().height > 0).length];"
    )
    assert told == seen > 6


@pytest.mark.browser
def test_an_open_table_lies_over_no_other_figure(browser, tmp_path):
    y, p, _ = drawn()
    options = {"calibrator": cb.OneVsRest(cb.Platt()), "n_resamples": 100}
    path = cb.report(y, p, **options).save(tmp_path / "report.html")
    opened(browser, path, 1400)
    ends = browser.execute_script(
        "document.querySelectorAll('.appendix > details').forEach((d) => { d.open = true; });"
        " const figures = [...document.querySelectorAll('.appendix .grid')]"
        ".find((g) => g.children.length > 1).children;"
        " figures[0].querySelector('details').open = true;"
        " return [figures[0].querySelector('svg').getBoundingClientRect().right,"
        " figures[0].querySelector('.scroll').getBoundingClientRect().right,"
        " figures[1].getBoundingClientRect().left];"
    )
    assert max(ends[:2]) <= ends[2]
