"""No module needs, by a chain of imports, a module that needs it: not even for its types."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.style import sources
from tests.style.sources import python_files


def at_the_top(path: Path) -> set[str]:
    """Modules that a file imports outside of functions, types among them."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(sources.tree(path).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += list(ast.iter_child_nodes(node))
    return names


def ordered(imports: dict[str, set[str]]) -> list[str]:
    return list(TopologicalSorter(imports).static_order())


def test_there_is_an_order_in_which_all_modules_can_be_read() -> None:
    files = {sources.module_name(path): path for path in python_files()}
    # A package's own file is imported with each of its modules, and is no part of what they need.
    modules = {name: path for name, path in files.items() if path.name != "__init__.py"}
    ordered({name: at_the_top(path) & modules.keys() for name, path in modules.items()})


def test_a_cycle_is_found() -> None:
    with pytest.raises(CycleError):
        ordered({"a": {"b"}, "b": {"c"}, "c": {"a"}})
