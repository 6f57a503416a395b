"""The quick start and the tutorials, pasted into a fresh interpreter block by block as the copy
button copies them: every block runs as it is, and prints an error only where the page shows one.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
#: What the copy button takes from the lines of a block: see ``copybutton_prompt_text`` in conf.py.
SETTINGS = (DOCS / "conf.py").read_text(encoding="utf-8")
PROMPT = re.compile("^(?:" + re.search(r'copybutton_prompt_text = r"(.*)"', SETTINGS)[1] + ")(.*)")
TUTORIALS = re.findall(
    r"^   \d+\. .* <(\w+)>$",
    (DOCS / "tutorials" / "index.rst").read_text(encoding="utf-8"),
    flags=re.MULTILINE,
)
FAST = ("tabular", "arrays", "groups", "abstention", "stable_answers", "regression")
PAGES = [
    "quick_start",
    *(
        pytest.param(f"tutorials/{name}", marks=() if name in FAST else pytest.mark.slow)
        for name in TUTORIALS
    ),
]


def copied(page):
    """What the copy button gives for each block of Python of a page."""
    for block in re.split(r"\n\s*\n", page):
        lines = [found[1] for line in block.splitlines() if (found := PROMPT.match(line))]
        if block.lstrip("\n").startswith(">>> "):
            yield "\n".join(lines)


def pasted(text, folder):
    """What a fresh interpreter says to lines typed or pasted one after another, with Enter after
    each block.
    """
    for name in ("sklearn", "matplotlib", "pandas", "click", "onnxruntime"):
        pytest.importorskip(name, reason="a tutorial uses it")
    made = subprocess.run(
        [sys.executable, "-i", "-q"],
        input="\n\n".join(copied(text)) + "\n\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"MPLBACKEND": "agg", "PYTHONIOENCODING": "utf-8"},
    )
    return made.stderr


def test_six_tutorials_and_the_quick_start_are_pasted_by_default():
    assert len(set(FAST) & set(TUTORIALS)) == 6


def test_the_copy_button_leaves_prompts_and_outputs_behind():
    page = ">>> def f(x):\n...     return x\n...\n>>> f(1)\n1\n\nText.\n\n>>> f(2)\n2\n"
    assert list(copied(page)) == ["def f(x):\n    return x\n\nf(1)", "f(2)"]


def test_a_page_that_does_not_run_is_seen(tmp_path):
    assert "SyntaxError" in pasted(
        ">>> for i in range(2):\n...     print(i)\n>>> x = 1\n", tmp_path
    )
    assert "Traceback (most recent call last):" in pasted(">>> unknown\n", tmp_path)


def test_tutorials_are_numbered_in_order_and_none_is_left_out():
    index = (DOCS / "tutorials" / "index.rst").read_text(encoding="utf-8")
    numbers = [int(n) for n in re.findall(r"^   (\d+)\. ", index, flags=re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert sorted(TUTORIALS) == sorted(
        path.stem for path in (DOCS / "tutorials").glob("*.rst") if path.stem != "index"
    )


@pytest.mark.parametrize("name", ["quick_start", *(f"tutorials/{name}" for name in TUTORIALS)])
def test_a_page_shows_values_and_a_picture(name):
    page = (DOCS / f"{name}.rst").read_text(encoding="utf-8")
    assert ".. calibrant-picture::" in page
    assert re.findall(r"^(?:True|False|\((?:True|False)\b.*)$", page, flags=re.MULTILINE) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_when_it_is_pasted(name, tmp_path):
    page = (DOCS / f"{name}.rst").read_text(encoding="utf-8")
    said = pasted(page, tmp_path)
    shown = page.count("\nTraceback (most recent call last):")
    assert said.count("Traceback (most recent call last):") == shown, said[-2000:]
    assert "SyntaxError" not in said, said[-2000:]
    assert "IndentationError" not in said, said[-2000:]
