"""Collects the texts of errors, warnings, checks and findings from the source."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.messages.literals import assigned, documentation, fixed, functions, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[2]
CRATES = PACKAGE.parents[1] / "crates"
# Exception whose text pydantic shows as the reason for refusing a value.
OF_VALUES = "ValueError"
ROOT_CLASS = "AssayError"
# Minimum number of words; a shorter text of a check or a finding is a name or a unit.
WORDS_MIN = 4
RUST_ERROR = re.compile(
    r'#\[error\(\s*"((?:[^"\\]|\\.)*)".*?\)\]\s*(?:pub struct )?(\w+)', re.DOTALL
)


@dataclass(frozen=True)
class Message:
    """A text for users, and its position in the source.

    Attributes:
        text: The text, with placeholders in braces.
        module: File below the package, or below the folder of crates.
        kind: Class of the error; `warning`; or the name of the check or finding.
        line: Line number in the file.
    """

    text: str
    module: str
    kind: str
    line: int


def errors() -> list[Message]:
    """Return every text with which an error of Assay is raised."""
    kinds = error_classes()
    paths = _sources_with(*(f"{kind}(" for kind in kinds))
    return [message for path in paths for message in _raised(path, kinds)]


def warnings() -> list[Message]:
    """Return every text that is logged as a warning, which the terminal shows."""
    return [message for path in _sources_with("log.warning(") for message in _logged(path)]


def texts_below(folder: str, entry: str) -> dict[str, list[Message]]:
    """Return the texts of the modules below a folder that have an entry function, by module name.

    Args:
        folder: A folder of the package, such as `checks`.
        entry: Name of the entry function, such as `check`.
    """
    messages = {}
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        tree = _tree(path)
        if any(isinstance(node, ast.FunctionDef) and node.name == entry for node in tree.body):
            messages[_relative(path)] = list(_sentences(path, tree))
    return messages


def rust_errors() -> list[Message]:
    """Return the texts of the errors of the Rust crates."""
    messages = []
    for path in sorted(CRATES.glob("*/src/**/*.rs")):
        source = path.read_text("utf-8")
        for match in RUST_ERROR.finditer(source):
            text = re.sub(r"\\\n\s*", "", match[1]).replace('\\"', '"')
            line = source.count("\n", 0, match.start()) + 1
            messages.append(Message(text, path.relative_to(CRATES).as_posix(), match[2], line))
    return messages


@cache
def error_classes() -> dict[str, int]:
    """Return the exit code of each error class of Assay, and of refused values."""
    bases: dict[str, list[str]] = {}
    codes: dict[str, int] = {}
    for path in _sources_with("class "):
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [base.id for base in node.bases if isinstance(base, ast.Name)]
                codes.update((node.name, code) for code in _own_codes(node))
    exit_codes = {ROOT_CLASS: codes[ROOT_CLASS], OF_VALUES: codes[ROOT_CLASS]}
    for _ in bases:
        new = {
            name: codes.get(name, exit_codes[base])
            for name, own in bases.items()
            for base in own
            if base in exit_codes and base != OF_VALUES and name not in exit_codes
        }
        if not new:
            break
        exit_codes |= new
    return exit_codes


@cache
def sources() -> tuple[Path, ...]:
    """Return the Python files of the package, sorted."""
    return tuple(sorted(PACKAGE.rglob("*.py")))


def _sources_with(*texts: str) -> list[Path]:
    """Return the Python files of the package that contain one of some texts.

    Parsing the other files took more than half of the time of collecting.
    """
    return [path for path in sources() if any(text in _source(path) for text in texts)]


@cache
def _source(path: Path) -> str:
    return path.read_text("utf-8")


def _own_codes(node: ast.ClassDef) -> Iterator[int]:
    for part in node.body:
        match part:
            case ast.Assign(
                targets=[ast.Name(id="exit_code")], value=ast.Constant(value=int(code))
            ):
                yield code


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(_source(path))


def _relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _raised(path: Path, kinds: dict[str, int]) -> Iterator[Message]:
    for names, node in _calls(path):
        match node:
            case ast.Call(func=ast.Name(id=kind), args=[first, *_]) if kind in kinds:
                text = text_of(first, names)
                if text:
                    yield Message(text, _relative(path), kind, node.lineno)


def _logged(path: Path) -> Iterator[Message]:
    for names, node in _calls(path):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="log"), attr="warning"), args=[first, *_]
            ):
                text = text_of(first, names)
                if text:
                    yield Message(text, _relative(path), "warning", node.lineno)


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the constants of a module, with those that it imports from Assay's other modules."""
    constants: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=imported) if module.startswith("assay."):
                path = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
                known = fixed(_tree(path)) if path.exists() else {}
                own = {(s.asname or s.name): known[s.name] for s in imported if s.name in known}
                constants |= own
    return constants | fixed(tree)


@cache
def _calls(path: Path) -> tuple[tuple[dict[str, ast.expr], ast.Call], ...]:
    """Return the calls of a file, each with the expressions assigned to names where it stands.

    Calls within functions come first, in the order of the file, then the other ones.
    """
    tree = _tree(path)
    module = _constants(tree) | assigned(tree)
    calls: list[tuple[dict[str, ast.expr], ast.Call]] = []
    seen: set[int] = set()
    for function in functions(tree):
        within = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        if within:
            names = module | assigned(function)
            calls += [(names, node) for node in within]
            seen.update(map(id, within))
    outside = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return (*calls, *((module, node) for node in outside if id(node) not in seen))


def _sentences(path: Path, tree: ast.Module) -> Iterator[Message]:
    """Yield the texts of a module that are long enough for a sentence, except docstrings."""
    left_out, constants = documentation(tree), _constants(tree)
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    literals = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in left_out | parts
    ]
    for node in sorted(literals, key=lambda node: (node.lineno, node.col_offset)):
        text = text_of(node, constants)
        if text and len(text.split()) >= WORDS_MIN:
            yield Message(text, _relative(path), path.stem, node.lineno)
