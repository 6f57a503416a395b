"""Write what the README shows: ``make picture`` runs its block of Python, writes what that prints
below it, and takes its picture: the first screen of the page of the block's report. The picture
needs the browser that ``make system-deps`` installs.
"""

import io
import re
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import calibrant as cb

__all__ = ["OUTPUT", "PICTURE", "README", "SIZE", "block_report", "readme_code"]

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "_static" / "report.png"
#: Width and height of the picture, in pixels.
SIZE = (1180, 760)
#: The output below the block of Python.
OUTPUT = re.compile(r"(?<=```text\n)[^`]*(?=```)")


def readme_code():
    """The block of Python in the README."""
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return code


def block_report():
    """Run the block; return what it prints, and the report that it makes."""
    names, printed = {}, io.StringIO()
    with redirect_stdout(printed):
        exec(readme_code(), names)
    y, risk = names["y"], names["risk"]
    return printed.getvalue(), cb.report(y[3000:], risk[3000:], calibrator=names["cal"])


def save_first_screen(report):
    """Save the first screen of the report's page, with a palette of 128 colours."""
    from PIL import Image
    from tools.look_at_pages import browser, served

    width, height = SIZE
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        report.save(Path(folder) / "report.html")
        with served(folder) as address:
            driver = browser(profile)
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
            driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
            driver.get(f"{address}/report.html")
            shown = Image.open(io.BytesIO(driver.get_screenshot_as_png()))
            driver.quit()
    shown.convert("RGB").quantize(128).save(PICTURE, optimize=True)


def main():
    """Write the output of the block, and save the picture."""
    printed, report = block_report()
    text = README.read_text(encoding="utf-8")
    README.write_text(OUTPUT.sub(lambda _: printed, text), encoding="utf-8")
    print("wrote the output in README.md")
    save_first_screen(report)
    print(f"wrote {PICTURE.relative_to(ROOT)}, {PICTURE.stat().st_size // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
