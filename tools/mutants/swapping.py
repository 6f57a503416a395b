"""Replace the code of an imported module in this process, also where it was imported from."""

import gc
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["Undo", "functions_of_file", "put_in"]

Undo = Callable[[], object]


def functions_of_file(filename: str) -> list[FunctionType]:
    """Every living function that was written in this file, methods and what decorators hide
    among them.
    """
    return [
        one
        for one in gc.get_objects()
        if isinstance(one, FunctionType) and one.__code__.co_filename == filename
    ]


def put_in(code: CodeType, living: list[FunctionType], filename: str) -> list[Undo]:
    """Give the living functions the code of their namesakes in the module ``code``; where none
    differs, put in its constants.

    Returns what takes it back; empty where there was nothing to change.
    """
    new = {(one.co_qualname, one.co_firstlineno): one for one in _functions_of(code)}
    undo = list[Undo]()
    for function in living:
        found, old = (
            new.get((function.__code__.co_qualname, function.__code__.co_firstlineno)),
            function.__code__,
        )
        if found is not None and found != old:
            function.__code__ = found
            undo.append(lambda function=function, old=old: setattr(function, "__code__", old))
    return undo or _put_constants(code, filename)


def _functions_of(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _functions_of(one)


def _put_constants(code: CodeType, filename: str) -> list[Undo]:
    """Run the module beside the living one, and take over its numbers, arrays and defaults of
    functions, wherever they went by name.
    """
    undo = list[Undo]()
    for module in [
        one for one in list(sys.modules.values()) if getattr(one, "__file__", None) == filename
    ]:
        fresh = ModuleType(module.__name__)
        vars(fresh).update(__file__=filename, __package__=module.__package__)
        exec(code, vars(fresh))
        for name, value in vars(fresh).items():
            old = vars(module).get(name)
            if (
                name.startswith("__")
                or getattr(value, "__module__", module.__name__) != module.__name__
            ):
                continue
            if isinstance(value, FunctionType) and isinstance(old, FunctionType):
                undo += _put_defaults(old, value)
            elif isinstance(value, type) and isinstance(old, type):
                undo += _put_class(old, value)
            elif not callable(value) and repr(value) != repr(old):
                for other in list(sys.modules.values()):
                    if (
                        getattr(other, "__name__", "").startswith("calibrant")
                        and vars(other).get(name) is old
                    ):
                        undo.append(_set(other, name, value))
    return undo


def _put_defaults(old: FunctionType, new: FunctionType) -> list[Undo]:
    if (old.__defaults__, old.__kwdefaults__) == (new.__defaults__, new.__kwdefaults__):
        return []
    return [
        _set(old, "__defaults__", new.__defaults__),
        _set(old, "__kwdefaults__", new.__kwdefaults__),
    ]


def _put_class(old: type, new: type) -> list[Undo]:
    undo = list[Undo]()
    for name, value in vars(new).items():
        before = vars(old).get(name)
        if isinstance(value, FunctionType) and isinstance(before, FunctionType):
            undo += _put_defaults(before, value)
        elif (
            isinstance(value, int | float | tuple | str)
            and not name.startswith("__")
            and value != before
        ):
            undo.append(_set(old, name, value))
    return undo


def _set(owner: Any, name: str, value: object) -> Undo:
    before = getattr(owner, name)
    setattr(owner, name, value)
    return lambda: setattr(owner, name, before)
