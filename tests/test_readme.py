"""The README holds: its code and commands run and print what it shows, and it is short."""

import os
import re
import struct
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import calibrant as cb

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def rows(heading):
    """Return the cells of the table under a heading, without its first row."""
    lines = README.split(f"## {heading}\n\n")[1].split("\n\n")[0].splitlines()
    return [[part.strip() for part in line.strip("|").split(" | ")] for line in lines[2:]]


def block(kind):
    (found,) = re.findall(rf"```{kind}\n(.*?)```", README, re.DOTALL)
    return found


def dependencies(requirements):
    """Yield the names of packages, and of those that they need, without extras."""
    for line in requirements:
        if "extra ==" not in line:
            name = re.match(r"[\w.-]+", line)[0]
            yield name
            yield from dependencies(metadata.requires(name) or [])


@pytest.fixture
def bare(tmp_path):
    """A folder with the bare dependencies of the tests' own environment, and nothing else."""
    site = tmp_path / "site"
    site.mkdir()
    for name in {*dependencies(SETTINGS["dependencies"])}:
        package = metadata.distribution(name)
        for top in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
            (site / top).symlink_to(package.locate_file(top))
    return site


def pasted(site, folder):
    """What a fresh interpreter prints when the block is pasted; only ``site`` can be imported."""
    made = subprocess.run(
        [sys.executable, "-S", "-i", "-q"],
        input=block("python") + "\nimport sys; print(sorted(sys.path)[-1], file=sys.stderr)\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={
            **{key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
            "PYTHONPATH": str(site),
            "PYTHONIOENCODING": "utf-8",
        },
    )
    assert "Error" not in made.stderr, made.stderr
    return made.stdout


def test_the_block_prints_what_is_shown_with_bare_dependencies(bare, tmp_path):
    (bare / "calibrant").symlink_to(ROOT / "src" / "calibrant")
    assert pasted(bare, tmp_path) == block("text")
    for name in ("matplotlib", "pandas", "click", "jinja2"):
        assert not (bare / name).exists()


def test_the_block_prints_what_is_shown_where_the_wheel_is_installed(bare, tmp_path):
    pytest.importorskip("hatchling", reason="the wheel is built by hatchling")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist"]
    subprocess.run(build, check=True, cwd=ROOT, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", bare, wheel], check=True, capture_output=True)
    assert pasted(bare, tmp_path) == block("text")


def test_it_is_short_and_plain():
    text = re.sub(r"^\|.*$", "", README, flags=re.MULTILINE)
    assert len(re.sub(r"\]\([^)]*\)", "]", text).split()) <= 450
    assert "<!--" not in README
    assert len(block("python").splitlines()) <= 10
    assert len(rows("What do you have?")) == 8


def test_each_row_leads_to_a_page_and_has_code():
    for have, write, get in rows("What do you have?"):
        assert re.search(r"\[[^\]]+\]\(docs/(tutorials|papers)/\w+\.rst\)", have)
        assert re.fullmatch(r"`[^`]+`(<br>`[^`]+`)?", write)
        assert get


def lines_of_the_table():
    """Yield the code of each row, one text a row."""
    for _, write, _ in rows("What do you have?"):
        yield "\n".join(re.findall(r"`([^`]+)`", write))


def test_the_lines_of_the_table_run(tmp_path, monkeypatch):
    pd, testing = pytest.importorskip("pandas"), pytest.importorskip("click.testing")
    pytest.importorskip("matplotlib")
    pytest.importorskip("rich")
    pytest.importorskip("duckdb")
    from sklearn.linear_model import LogisticRegression

    from calibrant.cli.group import group

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    L = 2.0 * rng.normal(size=(300, 3))
    P = np.exp(L) / np.exp(L).sum(axis=1, keepdims=True)
    X = rng.normal(size=(600, 2))
    event = (rng.random(600) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    p = 1 / (1 + np.exp(-2 * X[:, 0]))
    mean, std = rng.normal(size=300), np.ones(300)
    kinds = np.array([rng.choice(3, p=row) for row in P])
    outcome = mean + 2.0 * rng.normal(size=300)
    pd.DataFrame({"risk": p, "score": p, "label": event, "outcome": event}).to_csv("log.csv")
    sure = 1 / (1 + np.exp(-8 * X[:, 0]))
    answers = [
        f'{{"id": {k}, "question": "q", "probs": {{"a": {q:.3f}, "b": {1 - q:.3f}}},'
        f' "label": "{"a" if hit else "b"}"}}'
        for k, (q, hit) in enumerate(zip(sure, rng.random(600) < sure, strict=True))
    ]
    Path("log.jsonl").write_text("\n".join(answers), encoding="utf-8")
    Path("logs").mkdir()
    times = pd.date_range("2026-01-01", periods=600, freq="h")
    pd.DataFrame({"p": p, "label": event, "time": times}).to_parquet("logs/a.parquet")
    model = LogisticRegression()
    names = {
        "events": {"y": event, "p": p, "y_new": event, "p_new": p},
        "model": {
            "model": model,
            "fitted": LogisticRegression().fit(X[:300], event[:300]),
            "X": X,
            "y": event,
            "X_cal": X[300:],
            "y_cal": event[300:],
        },
        "classes": {"L": L, "P": P, "y": kinds},
        "numbers": {
            "y": outcome,
            "mean": mean,
            "std": std,
            "y_new": outcome,
            "mean_new": mean,
            "std_new": std,
        },
    }
    order = ("events", "model", None, "classes", "events", "numbers", "events", "classes")
    for code, given in zip(lines_of_the_table(), order, strict=True):
        if given is None:
            result = testing.CliRunner().invoke(group, [*code.split()[1:], "--method", "platt"])
            assert result.exit_code == 0, result.output
        else:
            exec(compile(code, "README.md", "exec"), {"cb": cb, **names[given]})
    assert Path("report.html").exists()


@pytest.mark.parametrize(
    ("page", "number", "stored"),
    [
        ("docs/arena.rst", "74.6 %", "AutoCalibrator, log loss: win rate 0.746"),
        ("docs/guide/thresholds.rst", "6.4 %", "* - ``SelectiveClassifier``\n     - 6.4 %"),
        ("benchmarks/event/README.md", "1 in a million", "| slope | 2.6e-13 |"),
    ],
)
def test_each_number_of_the_evidence_is_on_the_page_that_it_leads_to(page, number, stored):
    (line,) = (one for one in README.splitlines() if one.startswith("- **") and page in one)
    assert number in line
    assert stored in (ROOT / page).read_text(encoding="utf-8")


def test_links_are_absolute_once_the_project_has_a_home():
    links = re.findall(r"\]\(([^)]+)\)", README)
    home = SETTINGS["urls"].get("Repository")
    assert all(link.startswith(home) if home else (ROOT / link).exists() for link in links)


def test_the_picture_is_the_first_screen_of_the_blocks_report():
    """Its words are what the block prints; it is small, and of its size."""
    from tools.readme_picture import OUTPUT, PICTURE, SIZE

    printed = OUTPUT.search(README)[0]
    assert "Calibrate\n" in printed
    assert "where 95.4 % is predicted,\n60.7 % happens" in printed
    assert "predicts 95 % where 61 % occur" in README
    assert f"({PICTURE.relative_to(ROOT)})" in README
    picture = PICTURE.read_bytes()
    assert len(picture) < 100_000
    assert struct.unpack(">II", picture[16:24]) == SIZE
