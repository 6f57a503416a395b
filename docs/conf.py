"""Sphinx settings; the build is strict (make docs)."""

import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
sys.path.insert(1, str(Path(__file__).parent.parent))

import calibrant

# -- Project ---------------------------------------------------------------------------------------

project = "calibrant"
author = "the calibrant developers"
copyright = author
version = release = calibrant.__version__

# -- What the pages are made with ------------------------------------------------------------------

extensions = [
    "sphinx.ext.autodoc",
    "mathml",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "calibrant_docs",
    "report_pages",
]
extensions += ["arena_rows", "display_gallery", "folded", "method_cards", "pictures"]
extensions += ["stored_tables"]
extensions += ["sphinx_copybutton"]
# Pages that hold tables of many rows: their findings are read, their rows are unfolded.
folded_tables_pages = [
    *("arena", "arena_by_rows", "regression_arena", "wrappers", "what_was_tried"),
    *("report_pages", "speed", "guide/metric_coverage"),
]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "examples", "gallery/auto/*.ipynb", "gallery/auto/*.py"]
default_role = None
nitpicky = False

autodoc_typehints = "none"
autodoc_default_options = {"show-inheritance": False}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# -- The gallery: every example runs, and a warning in one fails the build -------------------------

warnings.filterwarnings("error", module="calibrant")
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery/auto",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
}

# -- The copy button leaves prompts and what is printed behind -------------------------------------

copybutton_prompt_text = r">>> |\.\.\.(?: |$)|\$ "
copybutton_prompt_is_regexp = True
copybutton_copy_empty_lines = False
copybutton_line_continuation_character = "\\"

# -- How it looks: everything offline --------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = f"calibrant {release}"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["calibrant.css"]
html_js_files = [("tables.js", {"defer": "defer"})]
html_show_sourcelink = False
# Nothing is listed beside pages of the first level that have none below them, nor beside the few
# pages that `make papers` draws.
LEAVES = ("index", "install", "quick_start", "reports", "faq")
html_sidebars = {page: [] for page in (["**"] if "papers" in tags else LEAVES)}  # noqa: F821
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 5,
}
# Where several versions are published side by side (tools/publish_docs.py), a menu leads from one
# to another, and the newest is recommended to readers of any other.
if address := os.environ.get("CALIBRANT_DOCS_URL"):
    root, _, version = address.strip("/").rpartition("/")
    html_theme_options |= {
        "switcher": {
            "json_url": f"/{root}/versions.json".replace("//", "/"),
            "version_match": version,
        },
        "navbar_end": ["version-switcher", "theme-switcher"],
        "check_switcher": False,
        "show_version_warning_banner": True,
    }
    release = version
