"""The arena's tables on the pages: sorted by a click, filtered by words, drawn column against
column, and read by keyboard.
"""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not CHROMIUM or not shutil.which("chromedriver"),
        reason="needs Chromium and its driver (make system-deps)",
    ),
]
ROWS = {
    "<strong>Ours</strong>": ("1,000", "0.50", "3 %"),
    "theirs": ("20", "0.75", "12 %"),
    "nothing": ("300", "", "0 %"),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with one table, open in Chromium."""
    pytest.importorskip("selenium")
    from tools.look_at_pages import browser

    heads = "".join(f"<th>{h}</th>" for h in ("method", "runs", "win rate", "worse"))
    rows = "".join(
        f"<tr><td>{name}</td>{''.join(f'<td>{c}</td>' for c in cells)}</tr>"
        for name, cells in ROWS.items()
    )
    script = (ROOT / "docs" / "_static" / "tables.js").read_text(encoding="utf-8")
    file = tmp_path_factory.mktemp("tables") / "page.html"
    text = (
        "<!doctype html><table"
        f' class="arena"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table><script>{script}</script>'
    )
    file.write_text(text, encoding="utf-8")
    driver = browser(tmp_path_factory.mktemp("profile"))
    driver.get(file.as_uri())
    yield driver
    driver.quit()


def shown(page):
    """The first cells of the rows that are seen, from the top."""
    return [
        row.text.split()[0]
        for row in page.find_elements("css selector", "tbody tr")
        if row.is_displayed()
    ]


def click(page, heading):
    next(b for b in page.find_elements("css selector", "button.sort") if b.text == heading).click()


def test_a_heading_sorts_numbers_as_numbers_and_leaves_the_empty_last(page):
    click(page, "runs")
    assert shown(page) == ["Ours", "nothing", "theirs"]
    click(page, "runs")
    assert shown(page) == ["theirs", "nothing", "Ours"]
    assert (
        page.find_element("css selector", "th[aria-sort]").get_attribute("aria-sort") == "ascending"
    )
    click(page, "win rate")
    assert shown(page) == ["theirs", "Ours", "nothing"]
    click(page, "method")
    assert shown(page) == ["theirs", "Ours", "nothing"]


def test_words_filter_rows_and_points(page):
    field = page.find_element("css selector", "input[type=search]")
    field.send_keys("OU")
    assert shown(page) == ["Ours"]
    assert page.find_element("css selector", "output").text == "1 of 3"
    assert len(page.find_elements("css selector", "circle")) == 1
    field.send_keys(" no such row")
    assert shown(page) == []
    assert page.find_elements("css selector", "circle") == []
    field.clear()
    field.send_keys(" ")
    assert len(shown(page)) == 3
    assert len(page.find_elements("css selector", "circle")) == 2


def test_points_are_drawn_of_any_columns_and_read_by_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    page.execute_script(
        "document.querySelectorAll('select')[0].value = 1;"
        " document.querySelectorAll('select')[0].dispatchEvent(new Event('change'))"
    )
    points = page.find_elements("css selector", "circle")
    assert len(points) == 2, "what has no number is not drawn"
    page.execute_script("arguments[0].focus()", points[0])
    said = page.find_element("css selector", "figcaption")
    assert said.text == "theirs: runs 20, win rate 0.75"
    page.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert said.text == "Ours: runs 1000, win rate 0.5"
    assert page.switch_to.active_element.get_attribute("class") == "ours"
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
