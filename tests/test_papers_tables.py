"""The last table of each paper's page has everything that the paper has, with calls that exist."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from benchmarks.papers.stored import PAPERS, read

import calibrant as cb

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "papers"
#: What each paper numbers: kind -> how many, or the names beside plain numbers.
NUMBERED = {
    "geometric": {
        "definition": 5,
        "lemma": 1,
        "proposition": 3,
        "equation": 5,
        "figure": 8,
        "table": 3,
    },
    "exploratory": {"equation": 22, "figure": 17, "appendix figure": ["A1", "A2"]},
    "gp": {
        "equation": 9,
        "theorem": 1,
        "figure": 4,
        "table": 2,
        "appendix table": ["S1", "S2"],
    },
    "regression": {"equation": 13, "figure": 6, "table": 1},
    "hoki": {
        "definition": 2,
        "theorem": 2,
        "algorithm": 2,
        "equation": 4,
        "figure": 6,
        "table": 10,
    },
}
PLACE = re.compile(
    r"(definition|lemma|proposition|theorem|algorithm|equation|figure|table)s? "
    r"((?:[AS]?\d+[a-e]?(?:, | and | to )?)+)"
)
#: What a call of the tables stands for: data, and things fitted or made before.
NAMES = {
    *("P", "L", "X", "y", "right", "confidence", "mean", "std", "x", "scale", "score", "forecast"),
    *("cal", "signal", "reference", "sts", "csts", "zoom", "net", "hidden_layer", "stats"),
}
PATH = re.compile(r"``((?:tests|benchmarks)/[\w/.]+)``")


def rows_of(paper):
    """The rows of the table, each of four cells on one line."""
    text = (PAGES / f"{paper}.rst").read_text(encoding="utf-8")
    part = text.split("Everything in the paper\n")[1]
    table = part[part.index("   * - the paper\n") :].split("\n\n")[0]
    rows = re.split(r"^   \* - ", table, flags=re.MULTILINE)[1:]
    cells = [re.split(r"\n     -(?: |$)", row, flags=re.MULTILINE) for row in rows]
    return [[" ".join(cell.split()) for cell in row] for row in cells][1:]


def numbers(kind, places):
    """The numbers of a kind that stand in a text, ranges included; 5a counts as 5."""
    result = set()
    for name, listed in PLACE.findall(places):
        if name != kind:
            continue
        for part in re.split(r", | and ", listed.strip(" ,")):
            ends = [end.rstrip("abcde") for end in part.split(" to ")]
            first, last = ends[0], ends[-1]
            letters = re.match("[AS]?", first)[0]
            span = range(int(first.lstrip("AS")), int(last.lstrip("AS")) + 1)
            result |= {f"{letters}{k}" for k in span}
    return result


def calls(cell):
    """The expressions of a cell that begin with the library's name."""
    return re.findall(r"``(cb\..*?)``", cell)


def resolved(node):
    """The object of a dotted name; of an instance, its class."""
    if isinstance(node, ast.Name):
        assert node.id == "cb"
        return cb
    if isinstance(node, ast.Call):
        check(node)
        return resolved(node.func)
    assert isinstance(node, ast.Attribute)
    return getattr(resolved(node.value), node.attr)


def check(node):
    """Every function of an expression exists and takes the arguments that are passed to it."""
    if isinstance(node, ast.Name):
        assert node.id in NAMES | {"cb"}, node.id
    elif isinstance(node, ast.Attribute):
        resolved(node)
    elif isinstance(node, ast.List):
        for each in node.elts:
            check(each)
    elif isinstance(node, ast.Call):
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        for each in arguments:
            check(each)
        if ast.unparse(node.func).startswith("stats."):
            return
        function = resolved(node.func)
        of_instance = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call)
        inspect.signature(function).bind(
            *[None] * of_instance,
            *node.args,
            **{keyword.arg or "": keyword.value for keyword in node.keywords},
        )
        if inspect.isclass(function) and not any(map(is_data, ast.walk(node))):
            eval(ast.unparse(node), {"cb": cb})
    else:
        assert isinstance(node, ast.Constant), ast.dump(node)


def is_data(node):
    """Whether a name stands for data or something fitted before."""
    return isinstance(node, ast.Name) and node.id in NAMES


def test_the_reader_of_places_takes_lists_ranges_and_parts():
    text = "section 5, table 1; figures 1a, 4a, 4b and 5a; tables 4 to 8, figures A1 and A2"
    assert numbers("figure", text) == {"1", "4", "5", "A1", "A2"}
    assert numbers("table", text) == {"1", "4", "5", "6", "7", "8"}
    assert numbers("equation", text) == set()


@pytest.mark.parametrize(
    "call",
    [
        *("cb.calibrators.Hoki()", "cb.calibrators.HokiCalibrator(begin=1)"),
        *("cb.metrics.ece_p(y, P)", "cb.StdScaling().fit(mean, y, sd=std)"),
        *("cb.StdScaling().fti(mean, y)", "cb.StdScaling(x=1).fit(mean, y)"),
    ],
)
def test_a_call_that_does_not_exist_is_noticed(call):
    with pytest.raises((AttributeError, TypeError)):
        check(ast.parse(call, mode="eval").body)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_has_a_call_that_exists_or_says_why_not(paper):
    rows = rows_of(paper)
    assert len(rows) >= 15
    for what, where, call, verified in rows:
        assert what
        assert where
        expressions = calls(call)
        for expression in expressions:
            check(ast.parse(expression, mode="eval").body)
        roles = re.findall(r":(?:class|func|meth):`~(.*?)`", call)
        for role in roles:
            check(ast.parse(role.replace("calibrant.", "cb.", 1), mode="eval").body)
        assert (
            expressions
            or roles
            or ":doc:" in call
            or "above" in call
            or "``" in call
            or (re.search(r"not here.*, because ", call))
        ), what
        assert "not here" not in call or "because" in call, what
        assert verified or "not here" in call, what
        for path in PATH.findall(verified):
            assert (ROOT / path).exists(), path
        assert not re.sub(r"[,\s]", "", PATH.sub("", verified)), verified


@pytest.mark.parametrize("paper", PAPERS)
def test_everything_that_the_paper_numbers_is_in_the_table(paper):
    places = "; ".join(where for _, where, *_ in rows_of(paper))
    for kind, count in NUMBERED[paper].items():
        wanted = {str(k) for k in range(1, count + 1)} if isinstance(count, int) else set(count)
        assert wanted <= numbers(kind.removeprefix("appendix "), places), kind


@pytest.mark.parametrize("paper", PAPERS)
def test_defaults_that_differ_have_the_papers_call(paper):
    rows = [row for row in rows_of(paper) if row[0].startswith("*default that differs:*")]
    assert len(rows) >= 2
    assert all("the paper's: " in call or "not here, because" in call for _, _, call, _ in rows)


@pytest.mark.parametrize(
    ("paper", "words"),
    [
        ("geometric", ["MaxPool", "BilinearResize", "Grayscale", "unweighted=True"]),
        ("exploratory", ["b_opt", "per_class_temperature=True", 'cutoff="median"', "cutoff=None"]),
        ("gp", ["norm=2", "maximum_calibration_error", "partial_fit", 'covariance="full"']),
        ("regression", ["RmseRmvDisplay", "negative_log_likelihood", "n_bins=20"]),
        ("hoki", ['start="confidence"', 'stop="unchanged"', 'method="sampled"']),
    ],
)
def test_what_was_hidden_is_in_the_tables(paper, words):
    text = " ".join(call for _, _, call, _ in rows_of(paper))
    assert all(word in text for word in words), [word for word in words if word not in text]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_page_says_how_weak_the_baseline_is(paper):
    text = " ".join((PAGES / f"{paper}.rst").read_text(encoding="utf-8").split())
    part = text[text.index("What holds and what does not") : text.index("Everything in the paper")]
    assert re.search(r"baselines? (?:is|are) weak|\(a user's\)", part)


def test_the_best_map_of_the_top_label_in_hindsight():
    """How often its ECE is as low as that of separation, as the geometric page says."""
    heading, *body = read("geometric", "ece")
    maps = ("SBC", "HB", "BBQ", "beta", "TS", "ETS", "Iso, top label")

    def value(row, name):
        return float(row[heading.index(name)].split()[0])

    low = sum(min(value(row, m) for m in maps) <= value(row, "separation, Iso") for row in body)
    page = " ".join((PAGES / "geometric.rst").read_text(encoding="utf-8").split())
    assert f"as low or lower on {low} of the {len(body)} rows, in hindsight" in page


def test_on_how_many_classifiers_a_users_temperature_has_the_lower_log_loss():
    lower = 0
    for data in ("kitti", "mnist"):
        _, *body = read("gp", f"{data}_log_loss")
        rows = {
            row[0]: [float(cell.split()[0]) for cell in row[1:]]
            for row in body
            if row[1][0] in "012" and " to " not in row[1]
        }
        pairs = zip(rows["Temp, log P"], rows["GPcalib"], strict=True)
        lower += sum(temperature < process for temperature, process in pairs)
    page = " ".join((PAGES / "gp.rst").read_text(encoding="utf-8").split())
    words = {5: "five"}
    assert f"the ten classifiers it has the lower log loss on {words[lower]}" in page
