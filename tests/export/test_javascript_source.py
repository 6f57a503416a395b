"""The JavaScript module gives in node what predict gives here."""

import json
import shutil
import subprocess

import numpy as np
import pytest

import calibrant as cb
from calibrant.export import to_javascript

NODE = shutil.which("node")
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

POSITIONS = """
import { readFileSync } from "node:fs";
import { position, groups } from "./one.mjs";
const rows = JSON.parse(readFileSync("groups.json"));
console.log(JSON.stringify(rows.map((row) => row.map((value, j) => position(j, value)))));
"""

RUN = """
import { readFileSync } from "node:fs";
const rows = JSON.parse(readFileSync("rows.json"));
const out = [];
for (let j = 0; j < rows.length; j++) {
  const made = await import(`./case${j}.mjs`);
  out.push(rows[j].map((row) => Array.from(made.calibrate(row))));
}
console.log(JSON.stringify(out));
"""


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_in_node_it_gives_what_predict_gives(cases, tmp_path):
    for j, case in enumerate(cases):
        (tmp_path / f"case{j}.mjs").write_text(to_javascript(case.fitted), encoding="utf-8")
    (tmp_path / "rows.json").write_text(
        json.dumps([case.rows.tolist() for case in cases]), encoding="utf-8"
    )
    (tmp_path / "run.mjs").write_text(RUN, encoding="utf-8")
    done = subprocess.run(
        [NODE, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for case, out in zip(cases, json.loads(done.stdout), strict=True):
        assert np.abs(np.array(out) - case.expected).max() < 1e-12, case.name


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_in_node_it_finds_the_positions_of_groups(cases, tmp_path):
    case = next(case for case in cases if case.groups is not None)
    (tmp_path / "one.mjs").write_text(to_javascript(case.fitted), encoding="utf-8")
    raw = case.groups.astype(object).where(case.groups.notna(), None).to_numpy().tolist()
    (tmp_path / "groups.json").write_text(json.dumps(raw), encoding="utf-8")
    (tmp_path / "run.mjs").write_text(POSITIONS, encoding="utf-8")
    done = subprocess.run(
        [NODE, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == case.rows[:, -3:].tolist()


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_in_node_values_of_groups_are_read_as_python_reads_them(tmp_path):
    n = 600
    frame = {
        "age": np.linspace(0.5, 80.5, n),
        "site": np.array([1, 2, None], dtype=object)[np.arange(n) % 3],
        "far": np.arange(n) % 2 == 0,
    }
    y = np.arange(n) % 3 == 0
    fitted = cb.GroupCalibrator().fit(np.full(n, 0.4), y, groups=frame)
    (tmp_path / "one.mjs").write_text(to_javascript(fitted), encoding="utf-8")
    rows = [
        [30.0, 2, True],
        [None, None, None],
        ["", " ", ""],
        [99.0, "2", "true"],
        [-1.0, 7, False],
    ]
    (tmp_path / "groups.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "run.mjs").write_text(POSITIONS, encoding="utf-8")
    asked = [NODE, "run.mjs"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (
        json.loads(done.stdout)
        == fitted.group_levels().codes(np.array(rows, dtype=object)).tolist()
    )
    (tmp_path / "groups.json").write_text(json.dumps([["old", 1, True]]), encoding="utf-8")
    refused = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "the column age held numbers in the fit; got old" in refused.stderr


#: A module of text, as a page would get it from a server: the policy of files keeps pages from
#: importing what lies beside them.
PAGE = """
const [sources, rows, done] = arguments;
Promise.all(sources.map((text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })))))
  .then((made) => done(made.map((each, j) => rows[j].map((row) => Array.from(each.calibrate(row))))))
  .catch((error) => done(String(error)));
"""


@pytest.mark.browser
@pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="needs Chromium and its driver (make system-deps)"
)
def test_in_a_browser_it_gives_what_predict_gives(cases, tmp_path):
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        browser.set_script_timeout(300)
        browser.get("data:text/html,<title>calibrators</title>")
        found = browser.execute_async_script(
            PAGE,
            [to_javascript(case.fitted) for case in cases],
            [case.rows.tolist() for case in cases],
        )
    finally:
        browser.quit()
    assert not isinstance(found, str), found
    for case, out in zip(cases, found, strict=True):
        assert np.abs(np.array(out) - case.expected).max() < 1e-12, case.name


def test_labels_come_along():
    cal = cb.TemperatureScaling(classes=["no", "yes"]).fit(
        [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], ["no", "yes", "yes"]
    )
    assert 'export const classes = ["no", "yes"];' in to_javascript(cal)
