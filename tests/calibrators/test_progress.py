"""Progress: said on the error stream once the work has taken long, where asked for."""

import pytest

from calibrant.calibrators import auto
from calibrant.calibrators.auto import Progress


@pytest.mark.parametrize(
    ("verbose", "patience", "said"), [(True, 0.0, True), (True, 60.0, False), (False, 0.0, False)]
)
def test_speaks_only_where_asked_and_after_a_while(capsys, monkeypatch, verbose, patience, said):
    monkeypatch.setattr(auto, "PATIENCE", patience)
    Progress(verbose)("fold 1 of 5")
    out, err = capsys.readouterr()
    assert out == ""
    assert ("fold 1 of 5" in err) is said
