import base64
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "$\\frac{", "{{ 7 * 7 }}"]
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Tags, texts and attributes of a page; fails on tags that do not nest."""

    def __init__(self, text):
        super().__init__()
        self.stack, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def make():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(4), 600)
    y = np.array(HOSTILE, dtype=object)[(rng.random(600)[:, None] > P.cumsum(axis=1)).sum(axis=1)]
    return cb.report(
        y,
        P,
        classes=HOSTILE,
        calibrator=cb.TemperatureScaling,
        n_resamples=100,
        title="<b>Title</b>",
    ).to_html()


@pytest.fixture(scope="module")
def page():
    return make()


def test_hostile_names_stay_text(page):
    parsed = Page(page)
    assert parsed.tags.count("script") == 1
    assert "img" not in parsed.tags
    assert "b" not in parsed.tags
    for name in HOSTILE:
        assert name in [text.strip() for text in parsed.texts]
    assert "<b>Title</b>" in parsed.texts


def test_loads_nothing(page):
    attributes = Page(page).attributes
    assert not [
        name
        for name, _ in attributes
        if name in ("src", "srcset", "style") or name.startswith("on")
    ]
    assert all(value.startswith("#") for name, value in attributes if name == "href")
    outside = set(re.findall(r"https?://[^\"'\s<)]+", page))
    assert outside <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "@import" not in page
    assert "url(http" not in page


def test_policy_allows_only_its_own_style(page):
    policy = dict(re.findall(r'http-equiv="(Content-Security-Policy)" content="([^"]*)"', page))[
        "Content-Security-Policy"
    ]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert f"style-src 'sha256-{digest}'" in policy.replace("&#39;", "'")
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert not re.search(r"\b(eval|Function|fetch|XMLHttpRequest|import|innerHTML)\b", script)
    assert "unsafe" not in policy


def test_every_figure_has_words_and_its_data(page):
    parsed = Page(page)
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert len(figures) == 1 + 5 + 4  # the one with the slider, others, one a class
    assert parsed.tags.count("svg") == parsed.tags.count("desc") == len(figures)
    assert page.count("<summary>Data of this figure") == len(figures)
    for figure in figures:
        for part in ("<svg", "<desc", "<figcaption>", "<summary>Data of this figure", "<table"):
            assert figure.count(part) == 1, (part, figure[:80])
    identifiers = [value for name, value in parsed.attributes if name == "id"]
    assert len(set(identifiers)) == len(identifiers)


def test_every_figure_says_its_values(page):
    """Each picture has points that name their values, one of them in the order of the keyboard;
    a curve seen in-sample says so.
    """
    for figure in re.findall(r"<figure.*?</figure>", page, re.DOTALL):
        circles = re.findall(r"<circle[^>]*tabindex[^>]*>", figure)
        assert len(circles) >= 2, figure[:80]
        assert sum('tabindex="0"' in circle for circle in circles) >= 1
        assert figure.count("<title>") >= len(circles)
    assert "What temperature scaling does (in-sample)" in page


def test_small_and_the_same_each_time(page):
    assert len(page.encode()) < 300_000
    assert make() == page


def test_many_classes_stay_small():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(1000), 1500)
    found = cb.report(
        rng.integers(0, 1000, 1500), P, calibrator=cb.calibrators.Identity(), n_resamples=100
    )
    text = found.to_html()
    assert len(text.encode()) < 500_000
    assert "The other 900 classes" in text
    assert len(found.to_dict()["classes"]["rows"]) == 1000


@pytest.mark.parametrize("evaluation", ["in-sample", "held-out", "test", "none"])
def test_each_way_of_measuring_renders_and_says_so(evaluation):
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p**2).astype(int)
    half = slice(150)
    options = {
        "in-sample": {"calibrator": cb.TemperatureScaling().fit(p, y)},
        "held-out": {"calibrator": cb.TemperatureScaling().fit(p[:100], y[:100])},
        "test": {"test": (y[half], p[half])},
        "none": {"calibrator": cb.calibrators.Identity()},
    }[evaluation]
    text = cb.report(y, p, n_resamples=100, **options).to_html()
    Page(text)
    words = {
        "in-sample": "(in-sample, too good)",
        "held-out": "came fitted",
        "test": "150 others",
        "none": "nothing was calibrated",
    }
    assert words[evaluation] in text


def test_save_keeps_what_is_there(tmp_path):
    found = cb.report(
        [0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1], n_splits=2, n_resamples=100
    )
    path = found.save(tmp_path / "r.html")
    assert path.read_text("utf-8") == found.to_html()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        found.save(path)
    found.save(path, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


@pytest.mark.parametrize("name", ["page.pdf", "page.DOCX", "page.csv"])
def test_a_page_is_not_written_under_the_name_of_another_kind_of_file(tmp_path, name):
    found = cb.report(
        [0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1], n_splits=2, n_resamples=20
    )
    with pytest.raises(
        InputError, match=r"path must end in \.html, \.json or \.md; got '\.[a-z]+'"
    ):
        found.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
