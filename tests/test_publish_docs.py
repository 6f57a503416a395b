"""The pages of several versions stand side by side, with a list for their menu and a first page
that leads to the newest release.
"""

import json
from pathlib import Path

import pytest

tools = pytest.importorskip("tools.publish_docs")


@pytest.fixture
def html(tmp_path):
    """Built pages."""
    (tmp_path / "html" / ".doctrees").mkdir(parents=True)
    (tmp_path / "html" / "index.html").write_text("first", encoding="utf-8")
    return tmp_path / "html"


def listed(site):
    return json.loads((site / "versions.json").read_text(encoding="utf-8"))


def test_the_newest_release_is_preferred_and_what_is_developed_comes_last(html, tmp_path):
    site = tmp_path / "site"
    assert tools.publish(html, site, "/calibrant/dev/") == ["dev"]
    assert [entry.get("preferred") for entry in listed(site)] == [True]
    tools.publish(html, site, "/calibrant/0.9/")
    assert tools.publish(html, site, "/calibrant/0.10/") == ["0.10", "0.9", "dev"]
    assert [entry["url"] for entry in listed(site)] == [
        "/calibrant/0.10/",
        "/calibrant/0.9/",
        "/calibrant/dev/",
    ]
    assert [entry.get("preferred", False) for entry in listed(site)] == [True, False, False]
    assert "url=0.10/" in (site / "index.html").read_text(encoding="utf-8")
    assert not (site / "dev" / ".doctrees").exists()


def test_a_patch_replaces_the_pages_of_its_minor_version_and_no_other(html, tmp_path):
    site = tmp_path / "site"
    for address in ("/calibrant/0.1/", "/calibrant/0.2/"):
        tools.publish(html, site, address)
    (html / "index.html").unlink()
    (html / "index.html").write_text("second", encoding="utf-8")
    (site / "0.2" / "gone.html").touch()
    tools.publish(html, site, "/calibrant/0.2/")
    assert [(site / v / "index.html").read_text(encoding="utf-8") for v in ("0.1", "0.2")] == [
        "first",
        "second",
    ]
    assert not (site / "0.2" / "gone.html").exists()


@pytest.mark.parametrize("address", ["/calibrant/", "/calibrant/0.2.1/", "/calibrant/../", ""])
def test_an_address_without_a_version_is_refused(html, tmp_path, address):
    with pytest.raises(SystemExit, match="must end in dev or in a minor version"):
        tools.publish(html, tmp_path / "site", address)
    assert not (tmp_path / "site").exists()


def test_the_workflow_builds_for_the_address_it_publishes_to():
    workflow = Path(__file__).resolve().parent.parent / ".github" / "workflows" / "docs.yml"
    if not workflow.exists():
        pytest.skip("a source distribution has no workflows")
    text = workflow.read_text(encoding="utf-8")
    steps = (
        'outputs: {url: "${{ steps.place.outputs.url }}"}',
        "make docs",
        'CALIBRANT_DOCS_URL: "${{ steps.place.outputs.url }}"',
        'CALIBRANT_DOCS_URL: "${{ needs.build.outputs.url }}"',
        'publish_docs.py docs/_build/html site "$CALIBRANT_DOCS_URL"',
    )
    assert [text.index(step) for step in steps] == sorted(text.index(step) for step in steps)
