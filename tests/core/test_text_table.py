"""Tables of text: columns that line up, and what is cut said."""

from calibrant.core.text_table import MOST_SHOWN, cut_note, text_table


def test_columns_are_as_wide_as_their_longest_entry():
    assert text_table(("a", "name"), [("1", "x"), ("1000", "long")]) == [
        "   a  name",
        "   1  x",
        "1000  long",
    ]


def test_what_is_cut_is_said():
    rows = [(str(i),) for i in range(1500)]
    lines = text_table(("i",), rows, MOST_SHOWN)
    assert lines[-1] == "12 of 1,500 shown: frame() has all"
    assert len(lines) == 14
    assert text_table(("i",), rows[:12], MOST_SHOWN)[-1] == "11"
    assert cut_note(20, 21, "--all") == ["20 of 21 shown: --all"]


def test_no_word_is_cut_in_a_narrow_terminal():
    head = ("metric", "before", "after calibration", "reading")
    rows = [
        ("log loss", "0.5303 [0.5000,\xa00.5600]", "0.4779 [0.4500,\xa00.5100]", "better"),
        ("calibration error in bins", "0.0974 [0.08,\xa00.11]", "0.0249 [0,\xa00.04]", "better"),
    ]
    words = {word for row in (head[1:], *rows) for cell in row for word in cell.split(" ")}
    for width in (100, 80, 60, 40):
        lines = text_table(head, rows, width=width)
        assert max(map(len, lines)) <= width
        assert not [word for word in words if word.replace("\xa0", " ") not in "\n".join(lines)]
    assert lines[:2] == ["log loss", "  before: 0.5303 [0.5000, 0.5600]"]
