"""Publish built pages next to those of other versions:
``python tools/publish_docs.py HTML SITE /calibrant/0.2/``.

SITE is the folder that is published, the branch ``gh-pages`` (.github/workflows/docs.yml). The
address is the one the pages were built for, in ``CALIBRANT_DOCS_URL``; its last part names the
version: ``dev``, or a minor version, whose patches replace each other. It writes the list for the
menu of versions, and a first page that redirects to the newest release.
"""

import argparse
import json
import re
import shutil
from pathlib import Path

__all__ = ["main", "publish"]

FIRST = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>calibrant</title>
<meta http-equiv="refresh" content="0; url={name}/"><link rel="canonical" href="{name}/"><a href="{name}/">calibrant {name}</a></html>
"""


def versions(site):
    """The versions that a site holds: releases from the newest, then what is being developed."""
    names = [folder.name for folder in site.iterdir() if (folder / "index.html").exists()]
    releases = [name for name in names if re.fullmatch(r"\d+\.\d+", name)]
    return sorted(releases, key=lambda name: [-int(part) for part in name.split(".")]) + ["dev"] * (
        "dev" in names
    )


def publish(html, site, address):
    """Replace the pages of one version, and renew the list and the first page."""
    root, _, name = address.strip("/").rpartition("/")
    if not re.fullmatch(r"dev|\d+\.\d+", name):
        raise SystemExit(
            f"the address must end in dev or in a minor version such as 0.2, not in {name!r}:"
            f" {address}"
        )
    shutil.rmtree(site / name, ignore_errors=True)
    shutil.copytree(html, site / name, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo*"))
    found = versions(site)
    root = f"/{root}" if root else ""
    listed = [{"name": v, "version": v, "url": f"{root}/{v}/"} for v in found]
    listed[0]["preferred"] = True
    (site / "versions.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    (site / "index.html").write_text(FIRST.format(name=found[0]), encoding="utf-8")
    # GitHub would leave out folders that begin with an underscore.
    (site / ".nojekyll").touch()
    return found


def main():
    """Publish, and say which versions there are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("html", type=Path, help="the folder of the built pages")
    parser.add_argument("site", type=Path, help="the folder that is published")
    parser.add_argument("address", help="where the pages will be read, such as /calibrant/0.2/")
    options = parser.parse_args()
    print("versions:", ", ".join(publish(options.html, options.site, options.address)))


if __name__ == "__main__":
    main()
