"""Writes folded stacks: one line per call stack, with its frames and its count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.profile.call_tree import call_tree
from assay.report.page.flame_layout import walk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from assay.report.profile_exports.source import Source

SUFFIX = ".folded"
# Suffix by which readers of folded stacks recognise kernel code.
KERNEL_MARK = "_[k]"
KERNEL = "[kernel]"
# Characters that separate frames or lines, which names may contain, such as `[u8; 16]` in Rust.
UNFIT = str.maketrans({";": ":", "\n": " ", "\r": " "})


def write(source: Source, out: BinaryIO) -> None:
    """Write `operation;outermost;...;innermost count` lines, sorted by call stack."""
    tree = call_tree(source.profile, source.operation)
    out.writelines(f"{line}\n".encode() for line in lines(tree))


def lines(tree: dict[str, Any]) -> Iterator[str]:
    """Yield the folded stack lines of a call tree, each beginning with the operation."""
    names = _names(tree)
    order = [(node, depth) for node, depth in walk(tree)]
    for operation in sorted(tree["operations"]):
        own = dict(zip(*tree["counts"][operation], strict=True))
        path = [operation.translate(UNFIT)]
        for node, depth in order:
            path[depth + 1 :] = [names[node]]
            if count := own.get(node):
                yield f"{';'.join(path)} {count}"


def _names(tree: dict[str, Any]) -> list[str]:
    labels = [label.translate(UNFIT) for label in tree["labels"]]
    kernels = [module == KERNEL for module in tree["modules"]]
    return [
        labels[label] + (KERNEL_MARK if kernels[module] else "")
        for label, module in zip(tree["label"], tree["module"], strict=True)
    ]
