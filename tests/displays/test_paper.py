"""A figure for a paper has the width asked for, its fonts inside and no date."""

import re

import pytest

import calibrant as cb
from calibrant.displays.paper import PaperFigure
from calibrant.errors import InputError


@pytest.fixture(scope="module")
def drawing():
    curve = cb.metrics.reliability_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], target="event")
    return cb.displays.ReliabilityDisplay(curve, target="event")


@pytest.mark.parametrize("width", [89, 183])
def test_a_pdf_has_its_width_and_its_fonts(drawing, width, tmp_path):
    path = PaperFigure(drawing, width).save(tmp_path / "fig1.pdf")
    content = path.read_bytes()
    _, _, right, _ = map(float, re.search(rb"/MediaBox \[([^\]]*)\]", content).group(1).split())
    assert right * 25.4 / 72 == pytest.approx(width, abs=0.1)
    assert b"/FontFile2" in content  # TrueType, which journals ask for
    assert b"/Type3" not in content
    assert b"/Subtype /Image" not in content
    again = PaperFigure(drawing, width).save(tmp_path / "again.pdf")
    assert again.read_bytes() == content


def test_svg_and_png_and_nothing_else(drawing, tmp_path):
    made = PaperFigure(drawing, 89)
    svg = made.save(tmp_path / "fig1.svg").read_text("utf-8")
    assert "<text" not in svg  # letters are shapes: no font is needed to show them
    assert "<image" not in svg
    png = made.save(tmp_path / "fig1.PNG").read_bytes()
    assert int.from_bytes(png[16:20]) == pytest.approx(89 / 25.4 * 600, abs=1)
    assert made._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        made.save(tmp_path / "fig1.svg")
    with pytest.raises(InputError, match="suffix of path"):
        made.save(tmp_path / "fig1.docx")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fig1.PNG", "fig1.svg"]


def test_everything_lies_on_the_page(drawing):
    figure = PaperFigure(drawing, 89).figure_
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert box.x0 >= -0.01
    assert box.y0 >= -0.01
    assert box.x1 <= width + 0.01
    assert box.y1 <= height + 0.01
