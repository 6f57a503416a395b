"""Tables of text: columns that line up, and what is cut said."""

from calibrant._support.text_table import MOST_SHOWN, cut_note, text_table


def test_columns_are_as_wide_as_their_longest_entry():
    assert text_table(("a", "name"), [("1", "x"), ("1000", "long")]) == [
        "a     name",
        "1     x",
        "1000  long",
    ]


def test_what_is_cut_is_said():
    rows = [(str(i),) for i in range(1500)]
    lines = text_table(("i",), rows, MOST_SHOWN)
    assert lines[-1] == "12 of 1,500 shown: frame() has all"
    assert len(lines) == 14
    assert text_table(("i",), rows[:12], MOST_SHOWN)[-1] == "11"
    assert cut_note(20, 21, "--all") == ["20 of 21 shown: --all"]
