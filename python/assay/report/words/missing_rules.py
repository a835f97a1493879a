"""Writes a TOML file of rules for unclassified functions, to complete by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from assay.report.words.profile import share_text
from assay.report.words.wrapping import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from assay.report.documents.profile.profile import UnclassifiedRow

SKELETONS_MAX = 20
INTRODUCTION = (
    "# Replace each ?, and add functions with the same task to `symbols` (* stands for any text).",
    "# `work` must be a known kind of work; an unknown one is rejected with the list of all. Then:",
)


def skeleton_lines(
    missing: list[UnclassifiedRow],
    run: str,
    *,
    outermost: Collection[str] = (),
    all_symbols: bool = False,
) -> Iterator[str]:
    """Yield TOML lines of rules to complete, functions with most samples first.

    Args:
        missing: Unclassified functions, from `analysis.profile.unclassified`.
        run: Id of the run, for the command that tries the rules.
        outermost: Outermost functions, which rules may not match alone.
        all_symbols: Whether to list all functions, not only the first ones.
    """
    named = [row for row in missing if row["symbol"] not in (None, *outermost)]
    nameless = sum(row["share"] for row in missing if row not in named)
    if not missing:
        yield "# Nothing is unclassified: every sample has a kind of work."
        return
    yield from INTRODUCTION
    yield f"#   assay explain {run} --operations my.toml"
    shown = named if all_symbols else named[:SKELETONS_MAX]
    for row in shown:
        yield ""
        yield from _skeleton(row)
    yield ""
    left = len(named) - len(shown)
    if left:
        share = sum(row["share"] for row in named[len(shown) :])
        yield f"# ... {left} functions more with {share_text(share)} of the samples (--all)"
    if nameless:
        yield (
            f"# {share_text(nameless)} of the samples have no function's name in their stack, or"
            " only the executor's:"
        )
        yield "# no rule can classify them. The engine's debug symbols would name them."


def _skeleton(row: UnclassifiedRow) -> Iterator[str]:
    where = " ".join(sorted(row["operations"]))
    of = f" of {one_line(row['module'])}" if row["module"] else ""
    yield f"# {row['samples']:,} samples, {share_text(row['share'])}{of}, in {one_line(where)}"
    if row["callers"]:
        yield f"# called by {' < '.join(one_line(caller) for caller in row['callers'])}"
    yield "[[rules]]"
    yield 'work = "?"'
    # Every JSON string is a valid TOML string, whatever characters it has.
    yield f"symbols = [{json.dumps(row['symbol'], ensure_ascii=False)}]"
    yield 'says = "?"'
