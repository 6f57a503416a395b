"""The report in a real browser: it opens, shows its figures, breaks no rule of its own policy,
and fits narrow and wide windows.
"""

import shutil
import subprocess

import numpy as np
import pytest

import calibrant as cb

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--v=0",
]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (make system-deps)"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    honest = rng.dirichlet(np.ones(4), 1000)
    y = (rng.random(1000)[:, None] > honest.cumsum(axis=1)).sum(axis=1)
    P = honest**2 / (honest**2).sum(axis=1, keepdims=True)
    names = [
        "<script>document.title='owned'</script>",
        "<img src=x onerror=\"document.title='owned'\">",
        "c",
        "d" * 80,
    ]
    return cb.report(
        np.array(names)[y], P, classes=names, calibrator=cb.TemperatureScaling, n_resamples=100
    ).save(tmp_path_factory.mktemp("page") / "report.html")


def chromium(tmp_path, *arguments):
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=120, check=True)


def test_opens_with_all_figures_and_no_complaint(page, tmp_path):
    result = chromium(tmp_path, "--dump-dom", page.as_uri())
    dom, log = result.stdout.decode(), result.stderr.decode()
    assert dom.count("<svg") == dom.count("<summary>Data of this figure") == 10
    assert "<title>Calibration report</title>" in dom
    assert dom.count("<script") == 1
    assert "<img" not in dom
    assert "CONSOLE" not in log, log
    assert "Content Security Policy" not in log, log


@pytest.mark.parametrize("width", [360, 1920])
def test_is_no_wider_than_the_window(page, width, tmp_path):
    """A page in a frame of that width tells its own width, without any script inside the report."""
    probe = tmp_path / "probe.html"
    probe.write_text(
        f'<iframe id="f" src="{page.as_uri()}"'
        f' style="width:{width}px;height:900px;border:0"></iframe><script>onload = () => {{ const d'
        " = document.getElementById('f').contentDocument.documentElement;document.title ="
        " d.scrollWidth + ' in ' + d.clientWidth; }</script>",
        encoding="utf-8",
    )
    dom = chromium(
        tmp_path, "--allow-file-access-from-files", "--dump-dom", probe.as_uri()
    ).stdout.decode()
    inner, outer = dom.split("<title>")[1].split("</title>")[0].split(" in ")
    assert int(inner) <= int(outer)
    assert abs(int(outer) - width) <= 20


def test_has_a_picture(page, tmp_path):
    picture = tmp_path / "report.png"
    chromium(tmp_path, "--window-size=1000,2400", f"--screenshot={picture}", page.as_uri())
    colours = np.unique(
        pytest.importorskip("matplotlib.image").imread(picture)[::3, ::3].reshape(-1, 4).round(2),
        axis=0,
    )
    assert len(colours) > 50
    rgb = np.abs(colours[:, :3] - np.array([0x1B, 0x6C, 0xA8]) / 255).max(axis=1)
    assert rgb.min() < 0.02
