"""References and BibTeX of a method, read from the References section of its docstring."""

import inspect
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calibrant.core._version import __version__

__all__ = ["PAPERS", "Citations", "cite", "works_of"]

#: The section of a numpydoc docstring, up to the next heading.
SECTION = re.compile(r"^References\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", re.MULTILINE | re.DOTALL)
#: A work: authors, "title" and what follows, up to the next sentence or semicolon.
NAME = r"[^\W\d_a-z][\w'-]*"
WORK = re.compile(
    rf'({NAME}(?:(?:, | and | ){NAME})*(?: et al\.)?), "([^"]+)"((?:, [^;"]*?(?=;|\. |\.$|$))?)'
)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
#: What the papers of the five systems print of themselves, by the title in small letters.
PAPERS = {
    "uncertainty estimation based on geometric separation": {
        "author": "Gabriella Chouraqui and Liron Cohen and Gil Einziger and Liel Leman",
        "title": "Uncertainty Estimation based on Geometric Separation",
        "year": "2023",
    },
    "classification confidence in exploratory learning: a user's guide": {
        "author": "Peter Salamon and David Salamon and V. Adrian Cantu and Michelle An and "
        "Tyler Perry and Robert A. Edwards and Anca M. Segall",
        "title": "Classification Confidence in Exploratory Learning: A User's Guide",
        "journal": "Machine Learning and Knowledge Extraction",
        "volume": "5",
        "number": "3",
        "pages": "803--829",
        "year": "2023",
        "doi": "10.3390/make5030043",
    },
    "non-parametric calibration for classification": {
        "author": r"Jonathan Wenger and Hedvig Kjellstr{\"o}m and Rudolph Triebel",
        "title": "Non-Parametric Calibration for Classification",
        "booktitle": "International Conference on Artificial Intelligence and Statistics",
        "year": "2020",
    },
    "evaluating and calibrating uncertainty prediction in regression tasks": {
        "author": "Dan Levi and Liran Gispan and Niv Giladi and Ethan Fetaya",
        "title": "Evaluating and Calibrating Uncertainty Prediction in Regression Tasks",
        "year": "2019",
    },
    "confidence calibration using logits transformations": {
        "author": "Sooyong Jang and Radoslav Ivanov and Insup Lee and James Weimer",
        "title": "Confidence Calibration Using Logits Transformations",
        "year": "2021",
    },
}
#: This library, as CITATION.cff has it.
LIBRARY = {
    "author": "{The calibrant developers}",
    "title": "calibrant: know when to trust a prediction",
    "year": "2026",
    "note": f"Version {__version__}, licence Apache-2.0",
}


@dataclass(frozen=True)
class Citations:
    """References of a method and of this library; ``str`` prints them as a list.

    Attributes
    ----------
    references : tuple of str
        A line for each work, this library last.
    bibtex : str
        The same as BibTeX entries, in that order.
    """

    references: tuple[str, ...]
    bibtex: str

    def __str__(self) -> str:
        return "\n".join(self.references)


def cite(method: Any) -> Citations:
    """Return the references of a calibrator, map, signal, rule or metric, and of this library.

    A wrapper or an automatic choice also cites what it holds: once fitted, the parts that it
    fitted; before that, the parts that it was made of. What is read are the References sections
    of the docstrings, so that the documentation and a citation cannot differ.

    Parameters
    ----------
    method : object or class
        Anything of calibrant, fitted or not. What has no reference yields this library alone.

    Returns
    -------
    Citations

    See Also
    --------
    report : how well a calibrator does, on one page.

    Examples
    --------
    >>> import calibrant as cb
    >>> print(cb.cite(cb.TemperatureScaling()))
    Guo et al., "On calibration of modern neural networks", ICML 2017
    The calibrant developers, "calibrant: know when to trust a prediction", version 0.1.0, 2026
    >>> print(cb.cite(cb.TemperatureScaling()).bibtex.split("\\n\\n")[0])
    @misc{guo2017calibration,
      author = {Guo and others},
      title = {On calibration of modern neural networks},
      howpublished = {ICML 2017},
      year = {2017},
    }
    """
    works = {work["title"].lower(): work for part in _parts(method) for work in works_of(part)}
    library = f'The calibrant developers, "{LIBRARY["title"]}", version {__version__}, 2026'
    entries = [_entry(title, work) for title, work in works.items()]
    lines = [work["line"] for work in works.values()]
    return Citations((*lines, library), "\n\n".join([*entries, _bibtex("calibrant", LIBRARY)]))


def works_of(method: Any) -> list[dict[str, str]]:
    """Return the works in the References section of a class, or of the nearest one it extends.

    Examples
    --------
    >>> from calibrant import maps
    >>> [work["authors"] for work in works_of(maps.Platt)]
    ['Platt', 'Lin, Lin and Weng']
    """
    documented = inspect.getmro(method) if inspect.isclass(method) else (method,)
    for value in documented:
        section = SECTION.search(inspect.cleandoc(value.__doc__ or ""))
        if section is not None:
            text = " ".join(section[1].split())
            return [_work(*found.groups()) for found in WORK.finditer(text)]
    return []


def _work(authors: str, title: str, after: str) -> dict[str, str]:
    year = YEAR.search(after)
    line = f'{authors}, "{title}"{after.rstrip(" .")}'
    venue = (after[: year.end()] if year else after).strip(" ,")
    return {
        "authors": authors,
        "title": title,
        "venue": "" if year and venue == year[0] else venue,
        "year": year[0] if year else "",
        "line": line,
    }


def _parts(method: Any) -> Iterator[Any]:
    """Yield the classes of a method and of what it holds, outermost first."""
    seen: set[int] = set()
    waiting = deque([method])
    while waiting:
        value = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        named = value if inspect.isclass(value) or inspect.isroutine(value) else type(value)
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
        elif (named.__module__ or "").startswith("calibrant."):
            yield named
            if named is not value:
                held = {k: v for k, v in getattr(value, "__dict__", {}).items() if k[0] != "_"}
                fitted = [v for k, v in held.items() if k.endswith("_")]
                waiting.extend(fitted or held.values())


def _entry(title: str, work: Mapping[str, str]) -> str:
    if title in PAPERS:
        facts = PAPERS[title]
    else:
        facts = {
            "author": work["authors"].replace(" et al.", " and others").replace(", ", " and "),
            "title": work["title"],
            "howpublished": work["venue"],
            "year": work["year"],
        }
    first = re.sub(r"\W", "", re.split(r", | and | et al", work["authors"])[0]).lower()
    word = re.findall(r"\w{4,}|$", work["title"])[0].lower()
    return _bibtex(f"{first}{facts['year']}{word}", facts)


def _bibtex(key: str, facts: Mapping[str, str]) -> str:
    kinds = {"journal": "article", "booktitle": "inproceedings"}
    kind = next((kinds[k] for k in kinds if k in facts), "misc")
    fields = "".join(f"  {name} = {{{value}}},\n" for name, value in facts.items() if value)
    return f"@{kind}{{{key},\n{fields}}}"
