from calibrant.decisions.certainty import too_few, uncertified


def test_they_say_how_many_rows_it_takes():
    assert "needs at least 59 rows" in too_few(30, 59, 0.05, 0.95)
    assert "about 2,600 rows like these" in uncertified(6, 200, 2000, 0.05, 0.95, 0.05)
    assert "more rows would not help" in uncertified(20, 200, 2000, 0.05, 0.95, 0.05)
