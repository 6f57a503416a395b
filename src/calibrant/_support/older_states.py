"""States of fitted objects that an earlier version saved or pickled, as today's classes have them."""

import inspect
from typing import Any

from calibrant._support.deprecation import renamed_value
from calibrant._support.options import require_option

__all__ = ["brought_up_to_date", "current_option", "under_new_names"]


def under_new_names(cls: Any, given: dict[str, Any]) -> dict[str, Any]:
    """What was given by name, under today's names and values of what ``cls.renamed_state`` lists."""
    out = dict(given)
    for old, (new, values) in cls.renamed_state.items():
        if old in out:
            value = out.pop(old)
            out[new] = values.get(value, value) if isinstance(value, str) else value
    return out


def current_option(part: Any, name: str, *options: str) -> Any:
    """A parameter that must be one of the options; a value's old name in ``renamed_state`` warns."""
    values = dict(part.renamed_state.values()).get(name, {})
    value = renamed_value(name, getattr(part, name), values, since="0.2")
    require_option(name, value, options)
    return value


def brought_up_to_date(cls: Any, state: dict[str, Any]) -> dict[str, Any]:
    """A state as today's class has it: renamed attributes, younger parameters, and parts that know their classes."""
    state = under_new_names(cls, state)
    state = cls.from_older(state) if hasattr(cls, "from_older") else state
    for part in state.values():
        # The first edition fitted parts without telling them their classes.
        if "classes_" in state and hasattr(part, "fit_record") and not hasattr(part, "classes_"):
            part.classes_ = state["classes_"]
    # A parameter younger than the file has its default, or what the class says it was before: what older versions did.
    parameters = inspect.signature(cls).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty} | cls.older_defaults | state
