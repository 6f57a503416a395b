import pytest


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command line in a folder of its own."""
    pytest.importorskip("rich")
    runner = pytest.importorskip("click.testing").CliRunner()
    from calibrant.cli.group import group

    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code=0):
        result = runner.invoke(group, [str(a) for a in arguments])
        assert result.exit_code == code, result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return invoke
