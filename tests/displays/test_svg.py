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


def test_identifiers_are_its_own_and_all_resolve(display):
    root = ElementTree.fromstring(as_svg(display, key="k", title="t", description="d"))
    identifiers = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(set(identifiers)) == len(identifiers)
    assert all(identifier.startswith("k-") for identifier in identifiers)
    targets = {value[1:] for e in root.iter() for name, value in e.attrib.items() if name == "href"}
    targets |= {
        value[5:-1] for e in root.iter() for value in e.attrib.values() if value.startswith("url(#")
    }
    assert targets
    assert targets <= set(identifiers)


def test_points_are_circles_at_their_places_that_carry_their_values(display):
    points = [(0.25, 0.5, "first <b>"), (0.75, 0.5, "second"), (3.0, 0.5, "outside")]
    root = ElementTree.fromstring(
        as_svg(display, key="k", title="t", description="d", points=points)
    )
    circles = [element for element in root.iter() if element.tag.endswith("}circle")]
    assert [circle[0].text for circle in circles] == ["first <b>", "second"]
    assert [circle.get("tabindex") for circle in circles] == ["0", "-1"]
    (x1, y1), (x2, y2) = ((float(c.get("cx")), float(c.get("cy"))) for c in circles)
    assert x2 - x1 > 50
    assert y1 == y2
    assert root.get("role") == "group"
    plain = ElementTree.fromstring(as_svg(display, key="k", title="t", description="d"))
    assert plain.get("role") == "img"
    assert plain.get("viewBox") == root.get("viewBox")
