"""Check docstrings, messages, guides and names for private words that would stop a reader."""

import ast
import re
from collections.abc import Iterator

from tools.lint.sources import ROOT, trees

__all__ = ["CHECKS", "count"]

#: Refused pattern -> what to write instead.
REFUSED = {
    r"tenths? of (the )?risks?": "risk bands",
    r"(it|they) takes? for what": "most frequent confusions",
    r"taken for such": "must not be used as",
    r"turn(s|ed)? the rows (a)?round": "reorder the rows",
    r"are no numbers of rows": "must not be used as row positions",
    r"cannot do without": "required when",
    r"left uncalibrated": "kept as is: ...",
    r"honest (risks?|probabilit\w+) would": "under perfect calibration",
    r"rows of one cluster": "clustered rows",
    r"hang(s|ing)? together": "are clustered (dependent)",
    r"the risk said|risks? said": "predicted risk",
    r"as the model says it": "uncalibrated",
    r"rejected by [\d.{]": "improvement over no calibration: ... standard errors",
    r"leaves alone up to|acts only above|right for none yet": "say what it does",
    r"an event of [^.;]{1,40} held to": "agrees with R to ...",
    r"predicted risk of those of that kind": "average predicted risk of the group",
    r"rows of 1 files": "rows of 1 file",
    r"with most models they do not": "(leave it out)",
    r"(first|old|earlier) design\b": "(no history of the project)",
    r"(is|are) told\b(?! apart)": "takes, reads",
    r"(is|are) asked\b": "takes, returns",
    r"chance explains": "expected by chance",
    r"told from chance": "no evidence of miscalibration (n = ...)",
    r"doublings of": "say what it is",
    r"surely off": "significantly miscalibrated",
    r"hardly a repeated row": "fewer than ... rows repeat",
    r"risks? that contradicts? its outcome": "a risk of 0 with an event, or of 1 without",
    r"were given\b": "say what is missing",
}
#: Next: refused once no text has them. ``python -m tools.lint count`` counts again.
NEXT = {
    r"by itself": "uncalibrated, or say which",
    r"\bdoors?\b": "say what it is",
    r"\brooms?\b": "say what it is",
    r"\bhonest\b": "calibrated",
    r"chance alone": "expected by chance",
}
#: First words that no docstring has.
FIRST_WORDS = ("Of", "Whose", "By", "What", "How")
#: Participles and pronouns that no variable, parameter, function or attribute may be called; use a
#: noun of the field (result, predicted, observed, options, selected).
NO_NAMES = {
    *("asked", "came", "done", "found", "given", "gone", "held", "kept", "lost", "made", "met"),
    *("one", "ours", "own", "said", "seen", "shown", "taken", "theirs", "told", "wanted", "what"),
}
#: Areas without such names; the list only gets longer.
PLAIN_AREAS = ("_numerics", "datasets", "decisions", "displays", "export", "monitoring")
#: Such names that are public or in saved files, by file.
PUBLIC = {
    "decisions/costs.py": {"said"},
    "decisions/set_rows.py": {"held"},
    "displays/classes.py": {"said"},
    "displays/forecasts.py": {"held_", "seen_"},
    "monitoring/score_limits.py": {"kept", "seen"},
}


def _texts() -> Iterator[tuple[str, str]]:
    """(place, text) of docstrings, messages and guides, on one line."""
    for name, (_, tree) in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"src/calibrant/{name}:{node.lineno}", " ".join(node.value.split())
    pages = [*(ROOT / "docs").rglob("*.rst"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    for page in pages:
        if "_build" not in page.parts and "generated" not in page.parts:
            place = page.relative_to(ROOT).as_posix()
            for number, part in enumerate(page.read_text(encoding="utf-8").split("\n\n"), 1):
                yield f"{place}, paragraph {number}", " ".join(part.split())


def plain_words() -> Iterator[str]:
    """No text has a refused phrase."""
    patterns = {pattern: re.compile(pattern, re.IGNORECASE) for pattern in REFUSED}
    for place, text in _texts():
        for pattern, say in REFUSED.items():
            if found := patterns[pattern].search(text):
                yield f"{place}: {found.group()!r}; write {say!r}"


def first_words() -> Iterator[str]:
    """Docstrings start with an imperative or the thing."""
    for name, (_, tree) in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                word = (ast.get_docstring(node) or "").split(maxsplit=1)[:1]
                if word and word[0] in FIRST_WORDS:
                    line = getattr(node, "lineno", 1)
                    yield f"src/calibrant/{name}:{line}: starts with {word[0]!r}"


def _names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(name, line) of each variable, parameter, function and attribute where it is defined."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def plain_names() -> Iterator[str]:
    """Names in plain areas are nouns of the field."""
    for file, (_, tree) in trees().items():
        if file.partition("/")[0] in PLAIN_AREAS:
            for name, line in _names(tree):
                if name.strip("_").lower() in NO_NAMES and name not in PUBLIC.get(file, ()):
                    yield f"src/calibrant/{file}:{line}: name {name!r} by what it holds"


def count() -> None:
    """Print how many texts have each phrase that is not refused yet, and a first word."""
    texts = list(_texts())
    for pattern in NEXT:
        print(sum(bool(re.search(pattern, t, re.IGNORECASE)) for _, t in texts), pattern)
    print(len(list(first_words())), "first words", FIRST_WORDS)


CHECKS = (plain_words, first_words, plain_names)
