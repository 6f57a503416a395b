"""Reading of multilabel tables and arrays of ordered levels into a record."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from calibrant.core.arrays import column_names, to_array
from calibrant.core.groups import Groups
from calibrant.core.labels import array_of
from calibrant.errors import InputError
from calibrant.questions.record import KINDS, SCORE, YES_NO, Questions, numeral_of
from calibrant.questions.values import Places, label_of, shown, text_of

__all__ = ["Ranks", "by_name", "decimals_of", "of_arrays", "refuse_sums", "titles_of"]

#: Most decimals of numbers that were rounded, and the error of decimals in binary.
MOST_DECIMALS, BINARY = 6, 1e-6
#: Largest error of a sum of probabilities that were not rounded.
SUMS = 1e-4


def titles_of(P: Any) -> tuple[list[str], np.ndarray]:
    """(names of the columns, (n, L) probabilities in [0, 1])."""
    values, names = to_array(P, "P").astype(np.float64), column_names(P)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or not values.size:
        raise InputError(f"P must be (n, L) probabilities; got shape {values.shape}; reshape it.")
    odd = ~((values >= 0.0) & (values <= 1.0 + SUMS))
    if odd.any():
        i, j = np.argwhere(odd)[0]
        raise InputError(
            f"P must hold probabilities from 0 to 1; row {i} has {values[i, j]:g} in column"
            f" {j if names is None else names[j]!r} ({int(odd.sum()):,} such values); repair those"
            " rows."
        )
    titles = [text_of(name) for name in (range(values.shape[1]) if names is None else names)]
    if len(set(titles)) < len(titles):
        twice = next(name for k, name in enumerate(titles) if name in titles[:k])
        raise InputError(
            f"the columns of P must have different names; two are {twice!r} as text; rename one."
        )
    return titles, np.minimum(values, 1.0)


def by_name(values: Any, titles: list[str], name: str) -> np.ndarray:
    """(n, L) numbers, in the order of ``titles`` if they have names themselves."""
    found, own = to_array(values, name), column_names(values, name)
    if own is None or found.ndim != 2:
        return found
    texts = list(map(text_of, own))
    place = {text: k for k, text in enumerate(texts)}
    if set(titles) == set(texts):
        return found[:, [place[title] for title in titles]]
    if texts == [str(k) for k in range(len(texts))] or titles == [
        str(k) for k in range(len(titles))
    ]:
        return found
    absent = [one for one in titles if one not in place] or sorted(set(texts) - set(titles))
    raise InputError(
        f"the columns of P and {name} must have the same names; {absent[0]!r} is in one of them"
        " only; rename the columns, or pass arrays in the same order."
    )


def of_arrays(P: Any, y: Any, ordered: Any) -> Questions:
    """Rows of an (n, L) array: a yes/no question for each entry, or one score for each row."""
    titles, values = titles_of(P)
    n, L = len(values), len(titles)
    if ordered is not False:
        return _of_levels(values, titles, y, ordered, column_names(P) is not None)
    right = np.full((n, L), -1)
    if y is not None:
        given = by_name(y, titles, "y")
        given = given.astype(np.float64).reshape(-1, L) if L == 1 else given
        if given.shape != values.shape or not np.isin(given[~np.isnan(given)], (0, 1)).all():
            raise InputError(
                f"y must be {values.shape} of 0 and 1 (nan if unknown), as P; got shape"
                f" {given.shape}; pass ordered=True for one score a row."
            )
        right = np.where(np.isnan(given), -1, given).astype(np.intp)
    p = values.ravel()
    column, item = np.divmod(np.arange(n * L), L)[::-1]
    both = np.array(["no", "yes"], dtype=object)
    found = _even(np.column_stack([1.0 - p, p]), both, YES_NO, item, right.ravel(), p)
    apart = item if L > 1 else None
    names = np.array(titles, dtype=object)
    return replace(found, question=Groups(names, column), cluster=apart)


def _of_levels(
    values: np.ndarray, titles: list[str], y: Any, ordered: Any, named: bool
) -> Questions:
    """Rows of an (n, K) array of the probabilities of ordered levels."""
    n, K = len(values), len(titles)
    ranks = Ranks.of(titles, ordered)
    known = ranks.listed if np.isfinite(ranks.listed).all() else ranks.number
    # Columns whose names are no numbers ascend as they come.
    order = np.argsort(known if np.isfinite(known).all() else np.arange(K), kind="stable")
    right = np.full(n, -1)
    if y is not None:
        place = {} if named and np.isfinite(ranks.number).any() else {str(k): k for k in range(K)}
        place |= {title: k for k, title in enumerate(titles)}
        listed = array_of(list(y)).tolist()
        labels = Places("row", range(n)).each(label_of, "y", listed)
        if len(labels) != n:
            raise InputError(f"y must have {n} levels, one a row; got {len(labels)}.")
        odd = next((i for i, one in enumerate(labels) if one is not None and one not in place), -1)
        if odd >= 0:
            raise InputError(
                f"y must hold levels of {titles[:12]}; row {odd} is {shown(listed[odd])}; name the"
                " levels as the columns."
            )
        codes = np.array([-1 if one is None else place[one] for one in labels], np.intp)
        right = np.where(codes < 0, -1, np.argsort(order)[codes])
    total = values.sum(axis=1)
    refuse_sums(values.ravel(), K * np.arange(n + 1), total, Places("row", range(n)))
    names = np.array(titles, dtype=object)[order]
    return _even((values / total[:, None])[:, order], names, SCORE, np.arange(n), right, values)


class Ranks(NamedTuple):
    """Ranks of the names of options, nan for names without one.

    Attributes
    ----------
    listed : in the list of levels
    number : the numbers that they spell
    by_number : whether numbers are levels where no type says so
    """

    listed: np.ndarray
    number: np.ndarray
    by_number: bool

    @classmethod
    def of(cls, names: Sequence[str], ordered: Any) -> "Ranks":
        """The ranks of some names; ``ordered`` as in ``read_questions``."""
        is_list = not isinstance(ordered, bool)
        place = {text_of(one): float(k) for k, one in enumerate(ordered if is_list else ())}
        listed = np.array([place.get(name, np.nan) for name in names])
        number = np.array([numeral_of(name) for name in names])
        return cls(listed, number, ordered is True)


def _even(
    P: np.ndarray, names: np.ndarray, kind: int, item: Any, right: np.ndarray, given: np.ndarray
) -> Questions:
    """Rows (n, K) of one kind and one question; ``given`` may have been rounded."""
    n, K = len(P), int(P.shape[1])
    start = K * np.arange(n + 1)
    place = np.tile(np.arange(K), n)
    items = np.array([str(k) for k in range(int(item[-1]) + 1)], dtype=object)
    return Questions(
        P.ravel(),
        start,
        Groups(names, place),
        np.full(n, kind, np.int8),
        _one("", n),
        _one(KINDS[kind], n),
        Groups(items, item),
        _one("", n),
        right,
        decimals=decimals_of(given),
    )


def _one(name: Any, n: int) -> Groups:
    return Groups(np.array([name], dtype=object), np.zeros(n, np.intp))


def decimals_of(p: np.ndarray) -> int | None:
    """The number of decimals to which probabilities were rounded; None if they were not."""
    for part in (p.ravel()[:1000], p.ravel()):
        for d in range(1, MOST_DECIMALS + 1):
            if _rounded(part, d).all():
                break
        else:
            return None
    return d if ((p > 0.0) & (p < 1.0)).any() else None


def _rounded(p: np.ndarray, d: int) -> np.ndarray:
    """Whether each probability has d decimals at most."""
    scaled = p * 10.0**d
    return np.abs(scaled - np.rint(scaled)) <= BINARY * max(1.0, 10.0 ** (d - 4))


def refuse_sums(p: np.ndarray, start: np.ndarray, total: np.ndarray, places: Places) -> None:
    """Raise InputError if the probabilities of a row do not sum to 1 up to their own rounding."""
    size = np.diff(start)
    away, allowed = np.abs(total - 1.0), np.full(len(size), SUMS)
    for d in range(MOST_DECIMALS, 0, -1) if (away > SUMS).any() else ():
        rounded = np.logical_and.reduceat(_rounded(p, d), start[:-1])
        allowed = np.where(rounded, np.maximum(SUMS, 0.5 * 10.0**-d * size), allowed)
    # Half a unit of each option, and what is rounding of this comparison.
    odd = away > allowed * (1.0 + 1e-9)
    if odd.any():
        i = int(odd.argmax())
        raise InputError(
            f"the probabilities of a row must sum to 1; those of {places[i]} sum to {total[i]:g};"
            " pass every option."
        )
