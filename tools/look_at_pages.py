"""Check the built pages in Chromium, at the widths of a telephone and of a desktop:
``python tools/look_at_pages.py HTML [PAGE ...]``.

For each page it lists the rules of axe-core that it breaks, light and dark, whether it is wider
than the screen, and whether it requests missing files (no other host can be reached). It writes a
picture of the page into ``build/pages``, and fails if anything is wrong. It needs the packages that
`make system-deps` installs.
"""

import argparse
import base64
import os
import shutil
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent
AXE = Path(os.environ.get("CALIBRANT_AXE", ROOT / "build/axe-core/package/axe.min.js"))
WIDTHS = (390, 1400)
#: A page of each kind; all that were written by hand are looked at where none is named.
KINDS = (
    "reference/generated/calibrant.TemperatureScaling.html",
    "reference/generated/calibrant.metrics.log_loss.html",
)
#: What the browser's log says of a script that stopped and of an address that gave nothing.
FAILED = ("Uncaught", "Failed to load resource")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
FLAGS += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]


class Quiet(SimpleHTTPRequestHandler):
    """Serves, and says nothing."""

    def log_message(self, *said):
        """Nothing."""


@contextmanager
def served(folder):
    """Serve a folder on this machine, because some of the theme's scripts do not run from a file.

    It yields the address.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def browser(profile):
    """Chromium without a window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    driver = webdriver.Chrome(
        options=options,
        service=webdriver.ChromeService(executable_path=shutil.which("chromedriver")),
    )
    # axe-core takes long over a page of a thousand rows where other work shares the machine.
    driver.set_script_timeout(600)
    driver.command_executor.client_config.timeout = 660
    return driver


def broken(driver, scheme):
    """What axe-core finds, in words. The frames of whole reports are looked at by their own
    tests.
    """
    driver.execute_script(
        "document.documentElement.dataset.theme = document.documentElement.dataset.mode ="
        " arguments[0]",
        scheme,
    )
    time.sleep(0.5)  # colours fade
    run = (
        "axe.run({exclude: [['iframe']]}).then(arguments[0], e => arguments[0]({violations: [{id:"
        " String(e), nodes: []}]}))"
    )
    found = driver.execute_async_script(run)["violations"]
    return [f"{v['id']} ({scheme}): {n['html'][:120]}" for v in found for n in v["nodes"][:2]] + [
        v["id"] for v in found if not v["nodes"]
    ]


def look(driver, page, width, pictures, name):
    """Problems of one page at one width; its picture is kept."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    driver.get(page)
    problems = []
    wide = driver.execute_script("return document.documentElement.scrollWidth")
    if wide > width:
        problems.append(f"{wide} px wide")
    driver.execute_script(
        "document.querySelectorAll('img[loading=lazy]').forEach(i => { i.loading = 'eager'; })"
    )
    high = min(driver.execute_script("return document.documentElement.scrollHeight"), 12_000)
    clip = {"x": 0, "y": 0, "width": width, "height": high, "scale": 1}
    shot = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    (pictures / f"{name}_{width}.png").write_bytes(base64.b64decode(shot["data"]))
    driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text("utf-8")})
    for scheme in ("light", "dark"):
        problems += broken(driver, scheme)
    return problems + [
        entry["message"]
        for entry in driver.get_log("browser")
        if any(word in entry["message"] for word in FAILED)
    ]


def main():
    """Every page named, at every width."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("html", type=Path, help="the folder of the built pages")
    parser.add_argument(
        "pages",
        nargs="*",
        help="pages below it; none: all but the reference, and one of each kind from it",
    )
    parser.add_argument("--pictures", type=Path, default=ROOT / "build" / "pages")
    options = parser.parse_args()
    written = [p.relative_to(options.html).as_posix() for p in sorted(options.html.rglob("*.html"))]
    written = [
        p
        for p in written
        if not p.startswith(("reference/", "reports/", "_", "genindex", "py-modindex", "search"))
    ]
    options.pictures.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with tempfile.TemporaryDirectory() as profile, served(options.html) as address:
        driver = browser(profile)
        try:
            for page in options.pages or [*written, *KINDS]:
                name = page.removesuffix(".html").replace("/", "_")
                for width in WIDTHS:
                    problems = look(driver, f"{address}/{page}", width, options.pictures, name)
                    wrong += len(problems)
                    print(f"{page} at {width} px: {'; '.join(problems) or 'fine'}", flush=True)
        finally:
            driver.quit()
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
