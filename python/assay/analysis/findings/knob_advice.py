"""Recommends an engine setting for a finding, as a command that sweeps its values.

A knob declares counters for the two sides of its trade-off: `scheduling` and `blocking` in
`knobs.toml`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case

Side = Literal["scheduling", "blocking"]


def sweep_words(case: Case, side: Side, counters: tuple[str, ...], operation: str | None) -> str:
    """Return the `assay sweep` command for the setting whose trade-off counters were counted.

    Args:
        case: The run.
        side: Side of the knob's trade-off.
        counters: Names of counters, from `cluster_counters`.
        operation: Operation to which the sweep is restricted; None means no restriction.

    Returns:
        The command and its subject in words; empty if the engine has no such knob.
    """
    for knob in case.knobs.values():
        if set(knob[side]) & set(counters):
            values = ",".join(_values(case, knob))
            only = "" if operation is None else f" --operation {operation}"
            asked = case.request
            server = " --dsn ..." if case.on_running_server else f" --engine {asked['engine']}"
            scale = "" if case.own_tables else f" --scale {asked['scale']:g}"
            command = (
                f"assay sweep {asked['workload']}{only}{server}{scale}"
                f" --vary {knob['setting']}={values}"
            )
            return f"`{command}` varies {knob['about']}"
    return ""


def _values(case: Case, knob: Mapping[str, Any]) -> list[str]:
    """Return values of a setting to try: all choices, or its range's ends and the current value."""
    if knob["choices"]:
        return list(knob["choices"])
    now = case.settings.get(knob["effective"] or knob["setting"])
    return list(dict.fromkeys(value for value in (knob["low"], now, knob["high"]) if value))
