"""What the pages need from the package itself: the reference, page by page, and tables of methods,
so that neither can drift.

``.. calibrant-table:: Displays`` (or another heading of the reference) lists what stands there with
the facts that its tags or class variables declare. The reference gets one page for each exported
name, written when Sphinx starts; what a See Also names leads there, and one that leads nowhere is a
warning.
"""

import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import ClassVar

from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

import calibrant as cb
from calibrant.core.metric_kinds import Metric

__all__ = ["MethodTable", "setup"]

#: Heading of the reference -> the names that open it, in this order; the others follow by name.
#: The names under "Start here" are those that most people need first.
OPENING = {
    "Start here": (
        *("report", "AutoCalibrator", "CalibratedClassifier", "AutoRegressionCalibrator"),
        *("CalibratedRegressor", "evaluate", "figure", "audit", "compare", "load"),
    ),
    "Metrics": (
        *("log_loss", "brier_score", "expected_calibration_error", "smooth_calibration_error"),
        *("calibration_slope", "observed_expected_ratio", "event_auroc", "reliability_curve"),
        *("continuous_ranked_probability_score", "negative_log_likelihood", "interval_coverage"),
        *("expected_normalized_calibration_error", "compute", "scorer"),
    ),
    "Calibrators of class probabilities": ("TemperatureScaling", "EnsembleTemperature"),
    "Calibrators of one score (maps)": ("Platt", "Beta", "Isotonic", "VennAbers"),
    "Forecasts of a number and their error bars": ("StdScaling", "NormalForecast"),
    "Displays": ("ReliabilityDisplay",),
}
#: Heading of the reference -> the folders and files of the package whose names it lists.
GROUPS = {
    "Reports": ("reporting", "core.cards", "audits"),
    "Metrics": ("metrics",),
    "Calibrators of class probabilities": tuple(
        f"calibrators.{name}"
        for name in (
            *("temperature", "matrix", "ensembles", "order_preserving", "gaussian_process"),
            *("auto", "label_shift"),
        )
    ),
    "Calibrators of one score (maps)": ("calibrators.maps",),
    "Wrappers of models and calibrators": tuple(
        f"calibrators.{name}" for name in ("pool", "groups", "multiclass", "classifier")
    ),
    "Forecasts of a number and their error bars": (
        *("regression", "core.forecast", "core.joint_normal", "core.quantile_forecast"),
        "core.student_forecast",
    ),
    "Decisions: sets, thresholds and costs": ("decisions",),
    "Questions: answers, many labels, ordered labels": ("questions",),
    "Confidence in an answer": tuple(
        f"calibrators.{name}"
        for name in ("confidence", "confidence_curve", "geometric", "hoki", "stacked_confidence")
    ),
    "Signals for the confidence": ("calibrators.separation", "calibrators.label_stability"),
    "Indexes and reductions of training points": (
        *("calibrators.neighbors", "calibrators.stored_points", "calibrators.reductions"),
    ),
    "Displays": ("displays",),
    "Change over time": ("monitoring",),
    "Tables of any size": ("tables",),
    "Export to other languages and services": ("export",),
    "Contracts and saved files": ("core",),
    "Checks of your own methods": ("testing",),
    "Data sets": ("datasets",),
    "Errors and warnings": ("errors",),
    "Other": (),
}


#: What offers names, in the order a reader meets them: a name is described at its first.
FACES = (
    "calibrant",
    *(
        f"calibrant.{area}"
        for area in (
            *("metrics", "calibrators", "regression", "decisions", "questions", "tables"),
            *("monitoring", "displays", "export", "core", "testing", "datasets", "errors"),
        )
    ),
    "calibrant.reporting.report",
    "calibrant.displays.paper",
)
#: Modules of which only these names are public.
ALONE = {
    "calibrant.reporting.report": ("Report",),
}


def exported():
    """(public path, name, value) of everything exported, each once; modules and tables of
    constants are left out.
    """
    seen = set()
    for path in FACES:
        face = importlib.import_module(path)
        for name in ALONE.get(path, getattr(face, "__all__", ())):
            value = getattr(face, name)
            if callable(value) and id(value) not in seen:
                seen.add(id(value))
                yield path, name, value


def subject(value):
    """What carries the documentation: the class of a metric object, else the value."""
    return type(value) if isinstance(value, Metric) else value


def heading(value):
    """The heading of the reference under which a value stands: that of the longest name of a
    folder or file in which it is defined.
    """
    module = f"{subject(value).__module__}.".removeprefix("calibrant.")
    titles = {f"{name}.": title for title, names in GROUPS.items() for name in names}
    inside = [name for name in titles if module.startswith(name)]
    return titles[max(inside, key=len)] if inside else "Other"


def summary(value):
    """The first paragraph of the docstring, on one line."""
    return inspect.cleandoc(subject(value).__doc__).split("\n\n")[0].replace("\n", " ")


def page_name(path, name):
    """The page of an exported name, unique where letters are not told apart by case."""
    return f"{path}.{name}"


# -- The reference ---------------------------------------------------------------------------------


def _page(path, name, value):
    lines = [f"{path}.{name}", "=" * (len(path) + len(name) + 1), ""]
    if isinstance(value, Metric):
        cls = type(value)
        lines += [f"``from {path} import {name}``", ""]
        said = "mean, std" if value.domain.name == "regression" else "P"
        lines += [
            (
                f"A ready-made object of the class below, called as ``{name}(y, {said})``; its"
                " options are the class's parameters."
            ),
            "",
        ]
        # Two objects of one class (E50 and E90) share its description; the first page is the one
        # that links lead to.
        face = importlib.import_module(path)
        again = next(n for n in face.__all__ if type(getattr(face, n)) is cls) != name
        lines += [f".. autoclass:: {cls.__module__}.{cls.__name__}", *["   :no-index:"] * again, ""]
        for method in ("__call__", "interval", "state"):
            lines += [f"   .. automethod:: {method}", *["      :no-index:"] * again]
    elif inspect.isclass(value):
        lines += [f".. calibrant-card:: {name}", ""] * has_card(value) + [
            f".. autoclass:: {path}.{name}",
            *_members(value),
        ]
    else:
        lines += [f".. autofunction:: {path}.{name}"]
    return "\n".join(lines) + "\n"


def _members(cls):
    """The public methods that calibrant itself defines; what comes from scikit-learn is left
    out.
    """
    names = []
    for name in sorted(dir(cls)):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(cls, name)
        function = (
            value.__func__
            if isinstance(value, classmethod | staticmethod)
            else getattr(value, "fget", value)
        )
        if (
            callable(function)
            and getattr(function, "__module__", "").startswith("calibrant")
            and function.__doc__
        ):
            names.append((name, isinstance(value, property)))
    return ["", *(f"   .. auto{'property' if prop else 'method'}:: {name}" for name, prop in names)]


def write_reference(app):
    """One page for each exported name, and the index that lists them; files that do not change
    are left as they are.
    """
    root = Path(app.srcdir) / "reference" / "generated"
    root.mkdir(parents=True, exist_ok=True)
    pages = {
        f"{page_name(path, name)}.rst": _page(path, name, value) for path, name, value in exported()
    }
    pages["list.inc"] = "\n".join(_index())
    for stale in {p.name for p in root.iterdir()} - set(pages):
        (root / stale).unlink()
    for name, text in pages.items():
        file = root / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def sections():
    """(heading, rows of ``exported``) of the reference, in order; each name stands once."""
    found = {"Start here": [], **{title: [] for title in GROUPS}}
    for path, name, value in exported():
        title = heading(value)
        if path == "calibrant.metrics":
            title = "Metrics"
        if path == "calibrant" and name in OPENING["Start here"]:
            title = "Start here"
        found[title].append((path, name, value))
    for title, names in OPENING.items():
        found[title].sort(key=lambda row, n=names: n.index(row[1]) if row[1] in n else len(n))
    return found.items()


def _index():
    for title, rows in sections():
        yield from _section(title, rows)


def _section(title, items):
    if not items:
        return
    yield from (
        title,
        "-" * len(title),
        "",
        ".. list-table::",
        "   :class: stacked",
        "   :widths: 35 65",
        "",
    )
    for path, name, value in items:
        yield f"   * - :doc:`{name} <generated/{page_name(path, name)}>`"
        yield f"     - {summary(value)}"
    yield from ("", ".. toctree::", "   :hidden:", "")
    yield from (f"   {name} <generated/{page_name(path, name)}>" for path, name, _ in items)
    yield ""


@cache
def _pages():
    """Name, with and without the package before it -> the document of its page."""
    names = {}
    for path, name, _ in exported():
        public = (
            f"calibrant.calibrators.{name}"
            if path.startswith("calibrant.calibrators.")
            else f"{path}.{name}"
        )
        for alias in (name, public, public.removeprefix("calibrant.")):
            names[alias] = f"reference/generated/{page_name(path, name)}"
    return names


def lead_to_page(app, env, node, contnode):
    """The page of a name in a See Also. A metric, an object, is described under the name of its
    class, which nobody writes.
    """
    if node.get("reftype") != "obj":
        return None
    if (page := _pages().get(node["reftarget"])) is None:
        logging.getLogger(__name__).warning(
            "a See Also names %s, which has no page", node["reftarget"], location=node
        )
        return None
    return make_refnode(app.builder, node["refdoc"], page, "", contnode)


def has_card(value):
    """Whether it is a method: a calibrator, map or signal, or a rule that carries a guarantee."""
    kinds = (
        cb.core.Calibrator,
        cb.core.RegressionCalibrator,
        cb.core.Map,
        cb.core.Signal,
    )
    return (
        inspect.isclass(value)
        and not inspect.isabstract(value)
        and (issubclass(value, kinds) or "guarantee_" in (value.__doc__ or ""))
    )


# -- Tables of methods -----------------------------------------------------------------------------


def _yes(value):
    return "yes" if value else ""


def tags_of(value):
    """The tags that a class declares; for one that composes them from its parts, those of its
    first example.
    """
    tags = inspect.getattr_static(value, "tags", None)
    return value._examples()[0].tags if isinstance(tags, property) else tags


def _facts(value):
    """Column -> text for one exported value, by its kind."""
    value = subject(value)
    if isinstance(value, type) and issubclass(value, Metric):
        low, high = value.range
        best = {"minimize": "lower is better", "maximize": "higher is better"}.get(
            value.direction, ""
        )
        return {
            "Range": f"{low:g} to {high:g}",
            "Better": best,
            "Proper": _yes(value.proper),
            "Adds up": _yes((value._examples() or [value()])[0].mergeable),
        }
    if isinstance(value, type) and issubclass(value, cb.core.Map):
        tags = tags_of(value)
        return {
            "Scores": "in [0, 1]" if tags.domain == "unit" else "any",
            "Monotone": _yes(tags.monotone),
            "Random": _yes(tags.random),
        }
    if isinstance(value, type) and issubclass(value, cb.core.Signal):
        tags = tags_of(value)
        return {
            "Scores": "in [0, 1]" if tags.domain == "unit" else "any",
            "Uses features": _yes(tags.uses_features),
        }
    if (
        isinstance(value, type)
        and hasattr(value, "tags")
        and hasattr(tags_of(value), "keeps_argmax")
    ):
        tags = tags_of(value)
        return {
            "Gives": tags.output,
            "Keeps the label": _yes(tags.keeps_argmax),
            "Uses features": _yes(tags.uses_features),
            "Random": _yes(tags.random),
        }
    return {}


def _promises(value):
    """Column -> text for a measure of calibration that says what it promises; nothing for
    others.
    """
    said = getattr(subject(value), "promises", None)
    if said is None:
        return {}
    found = {
        name.capitalize(): getattr(said, name) for name in ("truthful", "testable", "actionable")
    }
    return found | {"What it bounds of the regret": said.regret}


class MethodTable(SphinxDirective):
    """``.. calibrant-table:: HEADING``: the exported methods under a heading of the reference and
    the facts they declare.

    ``:promises:`` lists those that declare ``promises``, with these.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"promises": directives.flag}

    def run(self):
        read = _promises if "promises" in self.options else _facts
        rows = [
            row
            for row in exported()
            if heading(row[2]) == self.arguments[0] and (read is _facts or read(row[2]))
        ]
        if not rows:
            return []
        facts = [read(value) for _, _, value in rows]
        columns = list(dict.fromkeys(column for fact in facts for column in fact))
        lines = [".. list-table::", "   :header-rows: 1", "   :class: sortable methods", ""]
        lines += [
            f"   {'*' if i == 0 else ' '} - {c}"
            for i, c in enumerate(["Name", "What it does", *columns])
        ]
        for (path, name, value), fact in zip(rows, facts, strict=True):
            cells = [
                f":doc:`{name} </reference/generated/{page_name(path, name)}>`",
                summary(value),
                *(fact.get(c, "") for c in columns),
            ]
            lines += [
                f"   {'*' if i == 0 else ' '} - {cell}".rstrip() for i, cell in enumerate(cells)
            ]
        return self.parse_text_to_nodes("\n".join(lines))


class PackageTable(SphinxDirective):
    """``.. calibrant-packages::`` lists the public packages, what each holds and its names."""

    def run(self):
        lines = [
            *(".. list-table::", "   :widths: 18 82", ""),
            *(
                line
                for path in FACES
                if path not in ("calibrant", *ALONE)
                for line in _package(path)
            ),
        ]
        return self.parse_text_to_nodes("\n".join(lines))


def _package(path):
    module = importlib.import_module(path)
    names = (n for n in module.__all__ if callable(getattr(module, n)))
    listed = ", ".join(f"``{name}``" for name in names)
    short = path.removeprefix("calibrant.")
    reach = f"``cb.{short}``" if short in cb.__all__ else f"``calibrant.{short}``"
    return [f"   * - {reach}", f"     - {summary(module)} {listed}"]


def setup(app):
    """Register the directive, write the reference once the configuration is known, and lead to
    its pages.
    """
    app.add_directive("calibrant-table", MethodTable)
    app.add_directive("calibrant-packages", PackageTable)
    app.connect("builder-inited", write_reference, priority=100)
    app.connect("missing-reference", lead_to_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
