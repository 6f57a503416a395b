"""References and BibTeX of fitted things, and of everything that states references."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators import LabelStability
from calibrant.core.cards import PAPERS, SECTION, works_of
from calibrant.core.exports import classes

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), 300)
y = RNG.integers(3, size=300)


def offered():
    """Every class that calibrant offers, those of the metrics too."""
    named = (getattr(import_module(module), name) for name, module in classes().items())
    metrics = (type(getattr(cb.metrics, name)) for name in cb.metrics.__all__)
    found = [*filter(inspect.isclass, named), *metrics]
    return [c for c in dict.fromkeys(found) if c.__module__.startswith("calibrant.")]


def test_every_references_section_is_read():
    """A title in quotes and its authors are found wherever a docstring states references."""
    stated = [c for c in offered() if SECTION.search(inspect.cleandoc(c.__doc__ or ""))]
    assert len(stated) > 80
    for cls in stated:
        text = " ".join(SECTION.search(inspect.cleandoc(cls.__doc__))[1].split())
        works = works_of(cls)
        assert [w["title"] for w in works] == re.findall('"([^"]{12,})"', text), cls.__name__
        assert all(w["year"] or w["title"].lower() in PAPERS for w in works), cls.__name__


def test_the_papers_of_the_five_systems_are_cited_in_full():
    five = {
        cb.calibrators.GeometricCalibrator: "Gabriella Chouraqui",
        cb.calibrators.ClassRate: "V. Adrian Cantu",
        cb.calibrators.GaussianProcessCalibration: "Rudolph Triebel",
        cb.StdScaling: "Liran Gispan",
        cb.calibrators.HokiCalibrator: "Radoslav Ivanov",
    }
    for cls, author in five.items():
        assert author in cb.cite(cls).bibtex, cls.__name__


def test_what_is_held_is_cited_once_and_the_library_last():
    fitted = cb.ConfidenceCalibrator(signal=LabelStability(), map=cb.Platt()).fit(P, y)
    cited = cb.cite(fitted)
    assert len(cited.references) == len(set(cited.references))
    assert "Gupta and Ramdas" in cited.references[0]
    found = str(cited)
    assert "logits transformations" in found
    assert "Lin, Lin and Weng" in found
    assert cited.references[-1].startswith("The calibrant developers")
    assert cited.bibtex.count("@") == len(cited.references)


def test_a_fitted_choice_cites_what_it_chose():
    constant = cb.AutoCalibrator().fit(P, y)
    assert "Yao" in str(cb.cite(constant))
    chosen = {type(member) for member in constant.members_}
    for cls in chosen:
        for work in works_of(cls):
            assert work["title"] in str(cb.cite(constant))
    assert "Guo et al." not in str(cb.cite(cb.OneVsRest(cb.Isotonic())))
    assert "Guo et al." in str(cb.cite(cb.calibrators.PerClass(cb.TemperatureScaling())))


def test_metrics_and_things_without_references():
    assert "Naeini" in str(cb.cite(cb.metrics.expected_calibration_error))
    assert len(cb.cite(cb.calibrators.Identity()).references) == 1
    assert len(cb.cite(np.ones(3)).references) == 1


def test_the_library_is_cited_as_its_file_says():
    facts = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = cb.cite(cb.calibrators.Identity())
    for name in ("title", "license", "version"):
        stated = re.search(rf'^{name}: "?([^"\n]+)', facts, re.MULTILINE)[1]
        assert stated in cited.bibtex, name


@pytest.mark.parametrize("cls", offered(), ids=lambda c: c.__name__)
def test_bibtex_is_well_formed(cls):
    entries = cb.cite(cls).bibtex.split("\n\n")
    keys = [re.match(r"@(misc|article|inproceedings)\{([\w-]+),\n", entry)[2] for entry in entries]
    assert len(keys) == len(set(keys))
    for entry in entries:
        assert entry.endswith("\n}")
        assert entry.count("{") == entry.count("}")
        assert "et al" not in entry
