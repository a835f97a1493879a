"""Terminal output of `assay capture`: statements captured from a server's log."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def captured_lines(captured: Mapping[str, Any]) -> Iterator[str]:
    """Yield the captured statements, the omitted ones with reasons, and the next step."""
    singles = captured["executions"] - captured["transactions"]
    rate_per_s = captured["executions"] / captured["seconds"]
    yield f"{captured['folder']}: {captured['source']}"
    yield (
        f"  {captured['statements']:,} statements, {captured['sessions']:,} sessions, of which"
        f" {captured['clients']:,} were active in the busiest second"
    )
    yield (
        f"  {captured['operations']:,} operations: {captured['transactions']:,} transactions and"
        f" {singles:,} single statements in {captured['seconds']:,.1f} s, {rate_per_s:,.1f}/s"
    )
    if captured["anonymised"]:
        yield "  all parameter values were replaced; names of tables and columns were not"
    for reason, count in captured["left_out"].items():
        yield f"  left out: {count:,} {reason}"
    for caution in captured["cautions"]:
        yield f"  note: {caution}"
    leave = " --allow-writes" if captured["writes"] else ""
    played = f"assay run {shlex.quote(captured['folder'])} --dsn ...{leave}"
    yield from ("", "next:")
    if captured["timed"]:
        yield f"  {played} --as-recorded"
    yield f"  {played} --clients {captured['clients']}"
