"""Distance of tests from a module: the number of imports between them, read from the sources."""

import ast
from collections import defaultdict, deque
from collections.abc import Iterator
from pathlib import Path

from calibrant.core.exports import exports

__all__ = ["Nearness"]

PACKAGE = "calibrant"


class Nearness:
    """The graph of imports of a tree: modules of the package, and what each file of tests takes
    from them.

    Parameters
    ----------
    root : the folder that holds ``src/calibrant`` and ``tests``
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        package = root / "src" / PACKAGE
        self.modules: dict[str, Path] = {}
        for path in sorted(package.rglob("*.py")):
            parts = path.relative_to(package.parent).with_suffix("").parts
            self.modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        self._importers: dict[str, set[str]] = defaultdict(set)
        for module, path in self.modules.items():
            for other in self._imported(path):
                self._importers[other].add(module)
        files = [
            path
            for path in sorted((root / "tests").rglob("test_*.py"))
            if "def test_" in path.read_text(encoding="utf-8")
        ]
        self.taken: dict[Path, set[str]] = {path: set(self._imported(path)) for path in files}

    def module(self, path: str) -> str:
        """The name of a module by its path relative to the package."""
        return ".".join([PACKAGE, *Path(path).with_suffix("").parts])

    def tests(self, path: str) -> list[tuple[int, Path]]:
        """(number of imports between, file of tests), the nearest first, those that take less
        from elsewhere before others.
        """
        target = self.module(path)
        distance, queue = {target: 0}, deque([target])
        while queue:
            module = queue.popleft()
            for importer in sorted(self._importers[module]):
                if importer not in distance:
                    distance[importer] = distance[module] + 1
                    queue.append(importer)
        own = f"test_{Path(path).name}"
        found = list[tuple[int, int, int, str, Path]]()
        for test, modules in self.taken.items():
            near = [distance[module] for module in modules if module in distance]
            if near:
                found.append((min(near), test.name != own, len(modules), test.as_posix(), test))
        return [(one[0], one[-1]) for one in sorted(found)]

    def _imported(self, path: Path) -> Iterator[str]:
        """Modules of the package that a file names, by whatever face."""
        tree = ast.parse(path.read_text(encoding="utf-8"))
        faces: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
                for alias in node.names:
                    found = self._resolved(str(node.module), alias.name)
                    yield found
                    faces[alias.asname or alias.name] = found
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] == PACKAGE:
                        faces[alias.asname or PACKAGE] = alias.name if alias.asname else PACKAGE
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                chain = [node.attr]
                inner: ast.expr = node.value
                while isinstance(inner, ast.Attribute):
                    chain.append(inner.attr)
                    inner = inner.value
                if isinstance(inner, ast.Name) and inner.id in faces:
                    found = faces[inner.id]
                    for name in reversed(chain):
                        if (
                            f"{found}.__init__" not in self.modules
                            and self.modules.get(found, Path()).name != "__init__.py"
                        ):
                            break
                        found = self._resolved(found, name)
                    yield found

    def _resolved(self, package: str, name: str) -> str:
        """The module that ``from package import name`` takes."""
        if f"{package}.{name}" in self.modules and not self._offers(package, name):
            return f"{package}.{name}"
        found = self._offers(package, name)
        return found or package

    def _offers(self, package: str, name: str) -> str | None:
        path = self.modules.get(package)
        if path is None or path.name != "__init__.py" or not path.with_suffix(".pyi").exists():
            return None
        return exports(package).get(name)
