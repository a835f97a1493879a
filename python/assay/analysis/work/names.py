"""Shortens names of functions for readers: without parameters, and with merged variants.

Demangled C++ names contain the return type, parameters and qualifiers. Rust names may contain a
hash, and Go receivers are in parentheses. A name that cannot be parsed is unchanged.
"""

from __future__ import annotations

import re
from typing import NamedTuple

CLONE = re.compile(r"\s*\[clone (\.[^\[\]\s]*)\]")
RUST_HASH = re.compile(r"::h[0-9a-f]{16}(?=$|\.)")
VERSION = re.compile(r"@@?[A-Z][A-Za-z0-9_.]*$")
SUFFIXES = re.compile(
    r"(?:\.(?:constprop|isra|part|cold|hot|unlikely|lto_priv|llvm|localalias|ipa_cp|warm)"
    r"(?:\.\d+)*)+$"
)
QUALIFIERS = re.compile(r"(?:\s+(?:const|volatile|noexcept)|\s*&{1,2})+$")
# Operators are one token, because their brackets and spaces have no structure.
TOKEN = re.compile(
    r"\boperator\s*(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>]=?)(?: (?=<))?"
    r"|\boperator (?=[\w:])"
    r"|->|[<>(){}\[\] ]"
)
CONVERSION = "operator "
OPENING = {")": "(", ">": "<", "}": "{", "]": "["}
# A qualified Rust path, `<T as Trait>`, has brackets like a template, but no arguments.
PATH = "P"


class Group(NamedTuple):
    """A pair of brackets in a function's name: `begin` to `end`, and the brackets around it."""

    begin: int
    end: int
    kind: str
    around: str


def label(name: str) -> str:
    """Return a function without return type, parameters and hash, such as `std::sort<int*>`.

    The function never raises, and returns a label unchanged.
    """
    while True:
        clones = CLONE.findall(name)
        shorter = _without_signature(_plain(name)) + "".join(clones)
        if shorter in ("", name):
            return name
        name = shorter


def without_clone(name: str) -> str:
    """Return a function label without the compiler's suffix: `f` for `f.constprop.0`."""
    return SUFFIXES.sub("", name) or name


def family(name: str) -> str:
    """Return the family of a function label: template arguments become `<*>`.

    The function never raises, and returns a family unchanged.
    """
    while True:
        shorter = _collapsed(without_clone(name))
        if shorter == name:
            return name
        name = shorter


def _plain(name: str) -> str:
    if "[clone" in name:
        name = CLONE.sub("", name)
    if "@" in name:
        name = VERSION.sub("", name)
    return RUST_HASH.sub("", name.strip())


def _shape(name: str) -> tuple[list[Group], list[int], bool]:
    """Return the bracket pairs of a function's name, spaces outside, and if all match."""
    groups: list[Group] = []
    spaces: list[int] = []
    begins: list[int] = []
    around, is_conversion = "", False
    for token in TOKEN.finditer(name):
        text, at = token[0], token.start()
        if text in "(<{[":
            is_path = text == "<" and name[at - 1 : at] in ("", "<") and not around.strip(PATH)
            begins.append(at)
            around += PATH if is_path else text
        elif text in OPENING:
            depth = _depth_of(text, around)
            if depth >= 0:
                groups.append(Group(begins[depth], at + 1, around[depth], around[:depth]))
                around = around[:depth]
                del begins[depth:]
        elif not around:
            is_conversion |= text == CONVERSION
            # The type of a conversion operator may contain spaces, which do not end its name.
            if text == " " and not is_conversion:
                spaces.append(at)
    return groups, spaces, not around


def _depth_of(closing: str, around: str) -> int:
    """Return the index of the bracket that a character closes; -1 if it is an operator."""
    if closing == ">":
        return len(around) - 1 if around[-1:] in ("<", PATH) and around else -1
    return around.rfind(OPENING[closing])


def _without_signature(name: str) -> str:
    """Return a function's name without parameters and return type."""
    if "(" not in name:
        return name
    groups, spaces, is_whole = _shape(name)
    dropped = sorted(group for group in groups if _is_parameters(name, group))
    if not dropped or not is_whole:
        return name
    end = len(QUALIFIERS.sub("", name))
    begin = max((space + 1 for space in spaces if space < end), default=0)
    kept = []
    for group in dropped:
        if group.begin >= begin:
            kept.append(name[begin : group.begin])
            begin = group.end
    return "".join(kept) + name[begin:end]


def _is_parameters(name: str, group: Group) -> bool:
    """Return True if a bracket pair contains the parameters of a function or lambda."""
    if group.kind != "(" or group.around.strip("{"):
        return False
    # `(anonymous namespace)` and Go's `(*Receiver)` are names; parentheses after a space are a
    # type.
    before = name[group.begin - 1 : group.begin]
    return before not in ("", " ", ".") and not name.startswith("(anonymous", group.begin)


def _collapsed(name: str) -> str:
    """Return a function's name with outermost template arguments as `<*>`."""
    if name.count("<") == name.count("<*>"):
        return name
    groups, _, is_whole = _shape(name)
    if not is_whole:
        return name
    kept, begin = [], 0
    for group in sorted(groups):
        if group.kind == "<" and "<" not in group.around:
            kept.append(f"{name[begin : group.begin]}<*>")
            begin = group.end
    return "".join(kept) + name[begin:]
