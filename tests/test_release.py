"""The version is said once, and a release's notes are its section of the changelog."""

import pytest
from tools import check_release

import calibrant


def test_the_version_is_one():
    assert check_release.version() == calibrant.__version__


def test_notes_are_a_section_of_the_changelog(tmp_path, monkeypatch):
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## Unreleased\n\nnew\n\n## 0.2.0 (2026-12-01)\n\n- a\n- b\n\n##"
        " 0.1.0\n\n- c\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(check_release, "ROOT", tmp_path)
    assert check_release.notes("0.2.0") == "- a\n- b"
    with pytest.raises(SystemExit, match="no section"):
        check_release.notes("0.3.0")
