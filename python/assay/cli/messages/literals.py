"""Extracts texts from syntax trees: placeholders are in braces, with a bar between alternatives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Texts = Mapping[str, ast.expr]

# Calls that only join or wrap a text, which is their argument.
DRESSING = frozenset({"str", "folded", "ValueError"})
# Calls whose placeholder is named after an argument, with the position of that argument.
NAMED_BY_ARGUMENT = {"map": 1, "sorted": 0, "list": 0, "set": 0, "str": 0, "repr": 0}
# Suffixes of functions that format a value as text.
WORDED = ("_text", "_words")
# Maximum number of assignments that are followed from a text to its parts.
DEPTH_MAX = 6


def text_of(node: ast.expr | None, names: Texts, depth: int = 0) -> str | None:
    """Return a text with its placeholders in braces; None if the expression is not a text.

    Args:
        node: Expression to read.
        names: Expressions assigned to names in the same function or module.
        depth: Number of assignments followed so far.
    """
    text: str | None = None
    match node:
        case ast.Constant(value=str(value)):
            text = value
        case ast.JoinedStr(values=parts):
            text = "".join(_part(part, names, depth) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            text = "".join(text_of(s, names, depth) or _placeholder(s) for s in (left, right))
        case ast.BinOp(left=left, op=ast.Mod()):
            text = text_of(left, names, depth)
        case ast.IfExp(body=body, orelse=otherwise):
            text = _alternatives([text_of(side, names, depth) for side in (body, otherwise)])
        case ast.Name(id=name) if name in names and depth < DEPTH_MAX:
            text = text_of(names[name], names, depth + 1)
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in DRESSING:
            text = text_of(first, names, depth)
    return text


def assigned(body: ast.AST) -> dict[str, ast.expr]:
    """Return the last expression that is assigned to each name within a function or module."""
    return {
        target.id: node.value
        for node in ast.walk(body)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def fixed(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the constants of a module, also those that are assigned several in one line."""
    constants: dict[str, ast.expr] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name.isupper():
                constants[name] = value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=True)
                constants |= {s.id: value for s, value in pairs if isinstance(s, ast.Name)}
    return constants


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions and methods of a module, without nested ones."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        else:
            waiting.extend(ast.iter_child_nodes(node))


def documentation(tree: ast.AST) -> set[int]:
    """Return the identities of the constants that are docstrings."""
    return {
        id(part.value)
        for node in ast.walk(tree)
        if isinstance(body := getattr(node, "body", None), list)
        for part in body
        if isinstance(part, ast.Expr)
    }


def _alternatives(texts: list[str | None]) -> str | None:
    distinct = list(dict.fromkeys(text for text in texts if text))
    return f"{{{' | '.join(distinct)}}}" if len(distinct) > 1 else next(iter(distinct), None)


def _part(part: ast.expr, names: Texts, depth: int) -> str:
    match part:
        case ast.Constant(value=value):
            return str(value)
        case ast.FormattedValue(value=ast.IfExp() as choice):
            return text_of(choice, names, depth) or _placeholder(choice)
        case ast.FormattedValue(value=value):
            return _constant(value, names) or _placeholder(part)
    return _placeholder(part)


def _constant(node: ast.expr, names: Texts) -> str | None:
    """Return the text of a constant, or of constants that are joined; None for a variable."""
    text: str | None = None
    match node:
        case ast.Name(id=name) if name.isupper() and name in names:
            text = _constant(names[name], names)
        case ast.Constant(value=float(number)):
            text = f"{number:g}"
        case ast.Constant(value=value):
            text = str(value)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(comma)), attr="join"), args=[inner]
        ):
            listed = names.get(inner.id) if isinstance(inner, ast.Name) else None
            parts = [_constant(s, names) for s in getattr(listed, "elts", ())]
            text = comma.join(filter(None, parts)) if None not in parts else None
    return text or None


def _placeholder(node: ast.expr) -> str:
    name = _name(node).removeprefix("_")
    for suffix in WORDED:
        name = name.removesuffix(suffix)
    return f"{{{name}}}"


def _name(node: ast.expr) -> str:
    """Return a short name for an expression: the attribute, the variable or the function."""
    name = "..."
    match node:
        case ast.Attribute(
            attr="name" | "value" | "id" | "text" as attribute, value=ast.Name(id=owner)
        ):
            name = f"{owner}.{attribute}"
        case ast.Attribute(attr=attribute):
            name = attribute
        case ast.Name(id=variable):
            name = variable
        case ast.Call(func=ast.Attribute(attr="join"), args=[first]):
            name = f"{_name(first)}, ..."
        case ast.Call(func=ast.Name(id="len")):
            name = "n"
        case ast.Call(func=ast.Name(id=call), args=args) if call in NAMED_BY_ARGUMENT:
            name = _name(args[NAMED_BY_ARGUMENT[call]])
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            name = key
        case (
            ast.FormattedValue(value=inner)
            | ast.Call(func=inner)
            | ast.Subscript(value=inner)
            | ast.GeneratorExp(elt=inner)
            | ast.ListComp(elt=inner)
        ):
            name = _name(inner)
    return name
