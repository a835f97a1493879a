"""The source files of the project, and as much of Rust's grammar as the rules of style need."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "assay"

# Nodes that contain statements.
HOLD_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
# Trees live until the end: searching them at each collection takes longer than parsing.
gc.set_threshold(100_000)


@dataclass(frozen=True)
class Function:
    """A function: the file it is in, its name, its lines from the first to the last."""

    file: str
    name: str
    lines: int

    @property
    def key(self) -> str:
        return f"{self.file}:{self.name}"


def python_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def rust_files() -> list[Path]:
    return sorted((ROOT / "crates").glob("*/src/**/*.rs"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's tree, as `ast.walk` yields them."""
    return tuple(ast.walk(tree(path)))


def python_functions(path: Path) -> Iterator[Function]:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield Function(relative(path), node.name, lines)


def python_texts(path: Path) -> Iterator[str]:
    """String literals that are not documentation."""
    documentation = set()
    for node in nodes(path):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            documentation |= {id(part.value) for part in body if isinstance(part, ast.Expr)}
    for node in nodes(path):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "?" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documentation
        ):
            yield node.value


# A comment (nested block comments are not used), a raw string, a string, a character or a lifetime.
RUST_TOKEN = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<raw> b?r(?P<hashes>\#*)".*?"(?P=hashes) )
    | (?P<text> b?c?"(?:\\.|[^"\\])*" )
    | (?P<letter> b?'(?:\\[^\n]+?|[^'\\\n])' )
    | (?P<lifetime> '\w+ )
    """,
    re.VERBOSE | re.DOTALL,
)


def rust_texts(source: str) -> Iterator[str]:
    """String literals; comments are none."""
    for token in RUST_TOKEN.finditer(source):
        if token["raw"] or token["text"]:
            yield token[0][token[0].index('"') + 1 : token[0].rindex('"')]


def rust_code(source: str) -> str:
    """The source with comments and literals blotted out; lines and columns stay."""
    return RUST_TOKEN.sub(lambda token: re.sub(r"[^\n]", " ", token[0]), source)


def rust_functions(file: str, source: str) -> Iterator[Function]:
    code = rust_code(source)
    for match in re.finditer(r"\bfn\s+(\w+)", code):
        end = _end_of_body(code, match.end())
        if end is not None:
            yield Function(file, match[1], code.count("\n", match.start(), end) + 1)


def _end_of_body(code: str, begin: int) -> int | None:
    """Where the body ends that the next brace opens; None for a declaration without one."""
    depth = brackets = 0
    for at in range(begin, len(code)):
        match code[at]:
            case "(" | "[":
                brackets += 1
            case ")" | "]":
                brackets -= 1
            case ";" if depth == brackets == 0:
                return None
            case "{":
                depth += 1
            case "}":
                depth -= 1
                if depth == 0:
                    return at
    return None


@cache
def imports(path: Path) -> frozenset[str]:
    """Names of modules that a module imports anywhere, and of what it takes from them."""
    names: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)
