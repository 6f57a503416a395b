from xml.etree import ElementTree

import pytest

import calibrant as cb
from calibrant.displays.svg import as_svg


@pytest.fixture
def display():
    return cb.displays.ReliabilityDisplay(
        cb.metrics.reliability_curve([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=4),
        name="a <b> & $c",
    )


def test_same_bytes_each_time(display):
    assert as_svg(display, key="k", title="t", description="d") == as_svg(
        display, key="k", title="t", description="d"
    )


def test_fit_for_the_strictest_policy(display):
    text = as_svg(display, key="k", title="t <i>", description="d & d")
    root = ElementTree.fromstring(text)
    names = {name for element in root.iter() for name in element.attrib}
    assert "style" not in names
    assert not any(
        element.tag.endswith(("}style", "}metadata", "}script")) for element in root.iter()
    )
    assert root[0].text == "t <i>"
    assert root[1].text == "d & d"
    assert "a <b> & $c" in [
        element.text for element in root.iter() if element.tag.endswith("}text")
    ]


class Wide:
    """Draws a line far beyond its axes."""

    def plot(self, ax):
        ax.plot([-5, 5], [-5, 5])
        ax.set(xlim=(0, 1), ylim=(0, 1))


def test_identifiers_are_its_own_and_all_resolve():
    root = ElementTree.fromstring(as_svg(Wide(), key="k", title="t", description="d"))
    identifiers = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(set(identifiers)) == len(identifiers)
    assert all(identifier.startswith("k-") for identifier in identifiers)
    targets = {
        value[5:-1] for e in root.iter() for value in e.attrib.values() if value.startswith("url(#")
    }
    assert targets
    assert targets <= set(identifiers)


def test_the_view_box_holds_all_texts(display):
    root = ElementTree.fromstring(as_svg(display, key="k", title="t", description="d"))
    left, top, width, height = map(float, root.get("viewBox").split())
    texts = [element for element in root.iter() if element.tag.endswith("}text")]
    assert len(texts) > 8
    for text in texts:
        assert left <= float(text.get("x")) <= left + width
        assert top <= float(text.get("y")) <= top + height


def test_only_the_state_shown_first_is_seen():
    class States:
        def plot(self, ax):
            for state in ("5", "10"):
                ax.plot([0, 1], [0, 1], "o", gid=state)

    points = [(0.5, 0.5, "five", "5"), (0.5, 0.5, "ten", "10")]
    root = ElementTree.fromstring(
        as_svg(States(), key="k", title="t", description="d", points=points, start="10")
    )
    groups = [e for e in root.iter() if e.get("data-bins")]
    assert [(g.get("data-bins"), g.get("display")) for g in groups] == [
        ("5", "none"),
        ("10", None),
    ] * 2


def test_points_are_circles_at_their_places_that_carry_their_values(display):
    points = [(0.25, 0.5, "first <b>"), (0.75, 0.5, "second"), (3.0, 0.5, "outside")]
    root = ElementTree.fromstring(
        as_svg(display, key="k", title="t", description="d", points=points)
    )
    circles = [element for element in root.iter() if element.get("tabindex")]
    assert [circle[0].text for circle in circles] == ["first <b>", "second"]
    assert [circle.get("tabindex") for circle in circles] == ["0", "-1"]
    (x1, y1), (x2, y2) = ((float(c.get("cx")), float(c.get("cy"))) for c in circles)
    assert x2 - x1 > 50
    assert y1 == y2
    assert root.get("role") == "group"
    plain = ElementTree.fromstring(as_svg(display, key="k", title="t", description="d"))
    assert plain.get("role") == "img"
    assert plain.get("viewBox") == root.get("viewBox")
