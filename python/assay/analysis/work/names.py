"""Names of functions as people read them: without parameters, and with variants made one.

Demangled names of C++ hold the return type, parameters and qualifiers; Rust's may hold a hash, Go's
receivers stand in parentheses. What cannot be understood is left as it is.
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
# Operators are one token, because their brackets and spaces are none.
TOKEN = re.compile(
    r"\boperator\s*(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>]=?)(?: (?=<))?"
    r"|\boperator (?=[\w:])"
    r"|->|[<>(){}\[\] ]"
)
CONVERSION = "operator "
OPENING = {")": "(", ">": "<", "}": "{", "]": "["}
# A qualified path of Rust, `<T as Trait>`, has brackets like a template's and is none.
PATH = "P"


class Group(NamedTuple):
    """A pair of brackets: from `begin` up to `end`, and those open around it, outermost first."""

    begin: int
    end: int
    kind: str
    around: str


def label(name: str) -> str:
    """The function without return type, parameters and hash: `std::sort<int*>`, `f.constprop.0`.

    Never raises, and leaves a label as it is.
    """
    while True:
        clones = CLONE.findall(name)
        shorter = _without_signature(_plain(name)) + "".join(clones)
        if shorter in ("", name):
            return name
        name = shorter


def without_clone(name: str) -> str:
    """A label without what a compiler adds to the copies that it makes: `f` for `f.constprop.0`."""
    return SUFFIXES.sub("", name) or name


def family(name: str) -> str:
    """The line that a label is shown in: no copies' suffix, template arguments as `<*>`.

    Never raises, and leaves a family as it is.
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
    """Pairs of brackets, spaces outside of all, and whether every bracket has its other one."""
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
            # What a conversion makes may have spaces: none after it is behind a type.
            if text == " " and not is_conversion:
                spaces.append(at)
    return groups, spaces, not around


def _depth_of(closing: str, around: str) -> int:
    """Return which open bracket this one closes; -1 if it is an operator."""
    if closing == ">":
        return len(around) - 1 if around[-1:] in ("<", PATH) and around else -1
    return around.rfind(OPENING[closing])


def _without_signature(name: str) -> str:
    """Drops parameters wherever they stand, then what is before the last space outside of all."""
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
    """Return True if a group holds parameters of a function or of a lambda around it."""
    if group.kind != "(" or group.around.strip("{"):
        return False
    # `(anonymous namespace)` and Go's `(*Receiver)` are names; after a space it is a type.
    before = name[group.begin - 1 : group.begin]
    return before not in ("", " ", ".") and not name.startswith("(anonymous", group.begin)


def _collapsed(name: str) -> str:
    """Template arguments that are outermost as `<*>`; inside of a qualified path, too."""
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
