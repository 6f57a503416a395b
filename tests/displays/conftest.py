import pytest


@pytest.fixture(autouse=True)
def _closed():
    """Figures are drawn without a screen, and closed."""
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")
