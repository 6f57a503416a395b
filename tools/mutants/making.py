"""Mutants of a module: one changed operator, comparison or number, or min swapped with max."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

__all__ = ["Mutant", "compiled", "mutants"]

ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
#: The nearest comparison, which differs at equality alone, and the opposite one.
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
OPPOSITES = {
    "min": "max",
    "minimum": "maximum",
    "argmin": "argmax",
    "nanmin": "nanmax",
    "ceil": "floor",
}
NAMES = OPPOSITES | {other: one for one, other in OPPOSITES.items()}
#: One more or less of a larger number is no change that an answer shows.
LARGE = 1000
#: Statements and calls that only say something: their texts are no part of an answer.
SPEAKING = {"warn", "InputError", "require_option"}


@dataclass(frozen=True)
class Mutant:
    """One wrong change of a module.

    ``path`` is relative to the package, ``where`` the function it is in, ``change`` "before ->
    after", told from equal ones of the same function by "#2" and so on, so that it survives changes
    elsewhere. ``place`` is the node's number in ``ast.walk`` and ``option`` which of its changes
    this is.
    """

    path: str
    where: str
    change: str
    line: int
    place: int
    option: int

    @property
    def name(self) -> str:
        """Name of the mutant in the lists."""
        return f"{self.path}::{self.where}: {self.change}"


def mutants(path: str, text: str) -> list[Mutant]:
    """All of a module with this source, in the order of ``ast.walk``."""
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    silent = _silent(tree)
    out, seen = list[Mutant](), Counter[str]()
    for place, node in enumerate(ast.walk(tree)):
        if node in silent:
            continue
        for option in range(len(_changes(node))):
            shown = _shown(node, parents)
            before = ast.unparse(shown)
            changed = copy.deepcopy(shown)
            twin = next(
                b for a, b in zip(ast.walk(shown), ast.walk(changed), strict=True) if a is node
            )
            _changes(twin)[option]()
            change, where = (
                f"{before} -> {ast.unparse(changed)}".replace("\n", " "),
                _within(node, parents),
            )
            seen[where + change] += 1
            if seen[where + change] > 1:
                change += f" #{seen[where + change]}"
            line = getattr(node, "lineno", getattr(parents[node], "lineno", 0))
            out.append(Mutant(path, where, change, line, place, option))
    return out


def compiled(text: str, mutant: Mutant, filename: str) -> CodeType:
    """The code of the whole module with the change."""
    tree = ast.parse(text)
    node = next(node for place, node in enumerate(ast.walk(tree)) if place == mutant.place)
    _changes(node)[mutant.option]()
    return compile(ast.fix_missing_locations(tree), filename, "exec")


def _changes(node: ast.AST) -> list:
    """Functions without arguments, each of which changes the node in its place."""

    def setting(name: str, value: object):
        return lambda: setattr(node, name, value)

    match node:
        case ast.BinOp() | ast.AugAssign():
            if any(
                _is_text(side) or _is_type(side)
                for side in (getattr(node, "left", None), getattr(node, "right", None))
            ):
                return []
            return [setting("op", other()) for other in ARITHMETIC.get(type(node.op), ())]
        case ast.Compare():
            out = []
            for k, op in enumerate(node.ops):
                for other in COMPARISONS.get(type(op), ()):
                    out.append(setting("ops", [*node.ops[:k], other(), *node.ops[k + 1 :]]))
            return out
        case ast.BoolOp():
            return [setting("op", ast.Or() if isinstance(node.op, ast.And) else ast.And())]
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            # "not not x" is x as a truth; for arrays "~~x" is x.
            return [setting("operand", ast.UnaryOp(copy.deepcopy(node.op), node.operand))]
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            return [setting("func", ast.Name(NAMES[name], ast.Load()))]
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
            return [setting("attr", NAMES[name])]
        case ast.Constant(value=int() | float() as value) if (
            not isinstance(value, bool) and abs(value) <= LARGE
        ):
            return [setting("value", value + 1), setting("value", value - 1)]
        case _:
            return []


def _silent(tree: ast.Module) -> set[ast.AST]:
    """Nodes that no answer depends on: annotations, texts, errors and warnings, decorators."""
    out: set[ast.AST] = set()
    for node in ast.walk(tree):
        quiet = list[ast.AST | None]()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                quiet = [node.returns, *node.decorator_list]
            case ast.ClassDef():
                quiet = list(node.decorator_list)
            case ast.arg() | ast.AnnAssign():
                quiet = [node.annotation]
            case ast.Raise() | ast.JoinedStr():
                quiet = [node]
            case ast.Call(func=ast.Name(id=name)) if name in SPEAKING:
                quiet = [node]
            case ast.Subscript(value=ast.Name(id=name)) if name in {
                "Literal",
                "ClassVar",
                "Annotated",
            }:
                quiet = [node]
        for part in quiet:
            if part is not None:
                out |= set(ast.walk(part))
    return out


def _is_text(node: ast.AST | None) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | None)
    )


def _is_type(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Name) and (
        (node.id[:1].isupper() and not node.id.isupper()) or node.id in {"int", "float", "str"}
    )


def _shown(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> ast.AST:
    """The least expression or statement around a node that says what it is."""
    shown = node
    while isinstance(
        shown, ast.Constant | ast.Attribute | ast.Slice | ast.UnaryOp | ast.keyword | ast.Tuple
    ):
        above = parents[shown]
        if isinstance(
            above,
            ast.FunctionDef
            | ast.ClassDef
            | ast.Module
            | ast.arguments
            | ast.For
            | ast.While
            | ast.If
            | ast.With,
        ):
            break
        shown = above
    return shown


def _within(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    names = list[str]()
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
    return ".".join(reversed(names)) or "module"


def sources(package, folders: tuple[str, ...]) -> Iterator[str]:
    """Paths of modules under the package, relative to it, that are among ``folders`` or begin
    with one of them.
    """
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name.startswith(folders) and path.name != "__init__.py":
            yield name
