"""The code of a Firefox profile, in tables that all threads share: stacks, functions, files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from assay.report.profile_exports.stack_tree import OUTERMOST, stack_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.report.profile_exports.source import Source

Column: TypeAlias = "Sequence[str | int | bool | None]"
# Columns of a table by name, and their length.
Columns: TypeAlias = "dict[str, Column | int]"
LIBRARY = 1
NOWHERE = -1
BREAKPAD_BYTES = 16
# JSON's readers have floats; addresses of a kernel are beyond what these can tell apart.
ADDRESS_MAX = (1 << 53) - 1


@dataclass(frozen=True)
class CodeTables:
    """Tables by columns, as the format has them.

    Attributes:
        libs: Files with code.
        tables: stackTable, frameTable, funcTable and so on.
        texts: Each text and its number; markers add theirs.
        nodes: Which row of stackTable a stack of the record is: stack, node.
    """

    libs: list[dict[str, str | None]]
    tables: dict[str, Columns]
    texts: dict[str, int]
    nodes: pl.DataFrame

    def shared(self) -> dict[str, Columns | list[str]]:
        """All tables, with the texts that there are by now."""
        return self.tables | {"stringArray": list(self.texts)}


def code_tables(source: Source, categories: dict[str, int]) -> CodeTables:
    """The code that samples need.

    Args:
        source: What is exported.
        categories: Number of each kind of work. A frame in which samples were taken is of their
            kind; others are of their caller's.
    """
    works = dict(source.samples.select("stack", "work").unique("stack").iter_rows())
    tree = stack_tree(source.profile.stacks, sorted(works))
    category_of = {tree.index[stack]: categories[work] for stack, work in works.items()}
    frames: dict[tuple[int, int | None], int] = {}
    rows = [
        frames.setdefault((frame, category_of.get(node)), len(frames))
        for node, frame in enumerate(tree.frame)
    ]
    texts: dict[str, int] = {}
    callers: list[int | None] = [None if above == OUTERMOST else above for above in tree.caller]
    tables: dict[str, Columns] = {
        "stackTable": {"frame": rows, "prefix": callers, "length": len(rows)},
        **_functions(source, list(frames), texts),
        "nativeSymbols": _table(libIndex=[], address=[], name=[], functionSize=[]),
        "sources": _table(uuid=[], filename=[]),
    }
    named = pl.DataFrame(
        {"stack": list(works), "node": [tree.index[stack] for stack in works]},
        schema={"stack": pl.UInt32, "node": pl.Int64},
    )
    return CodeTables(_libs(source), tables, texts, named)


def _functions(
    source: Source, frames: list[tuple[int, int | None]], texts: dict[str, int]
) -> dict[str, Columns]:
    """frameTable, funcTable and resourceTable, which has a row a module in the order of `libs`."""
    places = _places(source)
    functions: dict[tuple[str, int], int] = {}
    labelled = [places[frame] for frame, _ in frames]
    of_frame = [
        functions.setdefault((label, module), len(functions)) for label, module, _ in labelled
    ]
    names = [PurePosixPath(path).name for path in source.modules["path"]]
    return {
        "frameTable": _table(
            address=[address for _, _, address in labelled],
            inlineDepth=[0] * len(frames),
            category=[category for _, category in frames],
            subcategory=[None if category is None else 0 for _, category in frames],
            func=of_frame,
            nativeSymbol=[None] * len(frames),
            innerWindowID=[0] * len(frames),
            line=[None] * len(frames),
            column=[None] * len(frames),
        ),
        "funcTable": _table(
            name=[texts.setdefault(label, len(texts)) for label, _ in functions],
            isJS=[False] * len(functions),
            relevantForJS=[False] * len(functions),
            resource=[module for _, module in functions],
            source=[None] * len(functions),
            lineNumber=[None] * len(functions),
            columnNumber=[None] * len(functions),
        ),
        "resourceTable": _table(
            lib=list(range(len(names))),
            name=[texts.setdefault(name, len(texts)) for name in names],
            host=[None] * len(names),
            type=[LIBRARY] * len(names),
        ),
    }


def _places(source: Source) -> dict[int, tuple[str, int, int]]:
    """Return by frame its label, its module's row and its address; -1 where there is none."""
    row_of = source.modules.select("module").with_row_index("row")
    rows = (
        source.profile.frames.select("frame", pl.col("label").cast(pl.String))
        .join(source.places, "frame")
        .join(row_of, "module", how="left")
        .select("frame", "label", pl.col("row").cast(pl.Int64).fill_null(NOWHERE), "address")
    )
    return {
        frame: (label, row, NOWHERE if row == NOWHERE or address > ADDRESS_MAX else address)
        for frame, label, row, address in rows.iter_rows()
    }


def _libs(source: Source) -> list[dict[str, str | None]]:
    return [
        {
            "arch": source.machine,
            "name": PurePosixPath(path).name,
            "path": path,
            "debugName": PurePosixPath(path).name,
            "debugPath": path,
            "breakpadId": breakpad_id(build_id),
            "codeId": build_id,
        }
        for path, build_id in source.modules.select("path", "build_id").iter_rows()
    ]


def breakpad_id(build_id: str | None) -> str:
    """The name that symbol servers know a file by; empty without a build id.

    Its first 16 bytes are read as a GUID, whose first three parts are little-endian; 0 is its age.
    """
    if build_id is None:
        return ""
    raw = bytes.fromhex(build_id)[:BREAKPAD_BYTES].ljust(BREAKPAD_BYTES, b"\0")
    parts = raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]
    return f"{parts.hex().upper()}0"


def _table(**columns: Column) -> Columns:
    """Columns and how long they are."""
    return {**columns, "length": len(next(iter(columns.values())))}
