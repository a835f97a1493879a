"""Folded stacks: a line a stack, its frames from the outermost on, and how many samples it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.profile.call_tree import call_tree
from assay.report.page.flame_layout import walk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from assay.report.profile_exports.source import Source

SUFFIX = ".folded"
# What readers of folded stacks tell code of the kernel by.
KERNEL_MARK = "_[k]"
KERNEL = "[kernel]"
# These end a frame or a line, and a name may have them: `[u8; 16]` of Rust, `LMap;::get` of a JVM.
UNFIT = str.maketrans({";": ":", "\n": " ", "\r": " "})


def write(source: Source, out: BinaryIO) -> None:
    """Writes `operation;outermost;...;innermost count` lines, sorted by their frames."""
    tree = call_tree(source.profile, source.operation)
    out.writelines(f"{line}\n".encode() for line in lines(tree))


def lines(tree: dict[str, Any]) -> Iterator[str]:
    """The lines of a call tree; the operation is the outermost frame of each."""
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
