"""Code tables of a Firefox profile that all threads share: stacks, functions, files."""

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
# The columns of a table by name, and the number of its rows as `length`.
Columns: TypeAlias = "dict[str, Column | int]"
LIBRARY = 1
NOWHERE = -1
BREAKPAD_BYTES = 16
# JSON numbers are floats, which cannot represent larger addresses of the kernel exactly.
ADDRESS_MAX = (1 << 53) - 1


@dataclass(frozen=True)
class CodeTables:
    """The code tables of a Firefox profile, stored by column.

    Attributes:
        libs: Files that contain code.
        tables: stackTable, frameTable, funcTable and so on.
        texts: Number of each text. Markers add their texts later.
        nodes: Row of stackTable (`node`) for each stack of the record (`stack`).
    """

    libs: list[dict[str, str | None]]
    tables: dict[str, Columns]
    texts: dict[str, int]
    nodes: pl.DataFrame

    def shared(self) -> dict[str, Columns | list[str]]:
        """Return the code tables that all threads of a Firefox profile share."""
        return self.tables | {"stringArray": list(self.texts)}


def code_tables(source: Source, categories: dict[str, int]) -> CodeTables:
    """Return the stacks, functions and files that the exported CPU samples need.

    Args:
        source: The exported profile.
        categories: Number of each kind of work. A frame with samples of its own has their kind;
            other frames have the kind of their caller.
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
    """Return the Firefox profile's tables of frames, functions and files."""
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
    """Return, by stack frame, its label, its module's row and its address."""
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
    """Return the id by which symbol servers identify a file; empty without a build id.

    The first 16 bytes of the build id are a GUID whose first three parts are little-endian. The age
    0 follows.
    """
    if build_id is None:
        return ""
    raw = bytes.fromhex(build_id)[:BREAKPAD_BYTES].ljust(BREAKPAD_BYTES, b"\0")
    parts = raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]
    return f"{parts.hex().upper()}0"


def _table(**columns: Column) -> Columns:
    """Return a table stored by column, with its number of rows as `length`."""
    return {**columns, "length": len(next(iter(columns.values())))}
