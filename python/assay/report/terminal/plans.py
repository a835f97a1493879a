"""Terminal output of plans: a tree of operators with times, estimates and actual rows."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

from assay.model.units import (
    bytes_text,
    count_text,
    grouped_text,
    percent_text,
    seconds_text,
)
from assay.report.terminal.summary import bar
from assay.report.words.plan_work import activity_words
from assay.report.words.plans import (
    NOTABLE_FACTOR,
    all_operators,
    columns_words,
    node_words,
    plan_sizes,
    plan_times,
    reads_words,
    statement_words,
)
from assay.report.words.profile_difference import signed_text
from assay.report.words.wrapping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from assay.report.documents.plans.plan_difference import PlanDifferenceRow, PlanStepRow
    from assay.report.documents.plans.plans import PlanCaptureSection, PlanOperator, StatementPlan
    from assay.report.documents.run import RunDocument

BAR_WIDTH = 5
# Width of an operator in the overview, also if the operations' names fill the terminal.
OVERVIEW_ROOM_MIN = 15
INDENT = 11
# An operator with a smaller share has a single line unless another figure is remarkable.
SHARE_NOTABLE = 0.05
# Projections with a smaller share are left out: they are many and compute almost nothing.
SHARE_LEFT_OUT = 0.01
# Fewer loops are executions by parallel workers.
LOOPS_NOTABLE = 10
MARKS = {"same": " ", "changed": "*", "new": "+", "gone": "-"}


def plan_lines(
    plans: list[StatementPlan], capture: PlanCaptureSection, width: int, *, everything: bool = False
) -> Iterator[str]:
    """Yield the plans of an operation's statements in order, and statements without a plan."""
    for number, plan in enumerate(plans):
        if number:
            yield ""
        yield from _plan(plan, capture, width, several=len(plans) > 1, everything=everything)
    for missing in capture["missing"]:
        sentence = f"{statement_words(missing)} has no plan: {one_line(missing['reason'])}"
        yield from textwrap.wrap(sentence, width, initial_indent="  ", subsequent_indent="    ")


def overview_lines(document: RunDocument, width: int) -> Iterator[str]:
    """Yield a terminal line per operation with a plan: slowest operator, worst estimate."""
    seconds = {operation["name"]: operation["seconds"] for operation in document["operations"]}
    plans = [plan for several in document["plans"].values() for plan in several]
    ordered = sorted(plans, key=lambda plan: -(seconds.get(plan["operation"]) or 0.0))
    if not ordered:
        return
    names = max(len(_overview_name(plan)) for plan in ordered)
    room = max(OVERVIEW_ROOM_MIN, (width - names - 2 - 9 - 4) // 2)
    heads = f"{'longest operator':<{room}} worst estimate"
    yield f"  {'':<{names}} {'time':>7}  {heads}"
    lines = [_overview_line(plan, names, room, seconds) for plan in ordered]
    for line, alike in groupby(lines):
        count = len(list(alike))
        yield line if count == 1 else f"{line} ({count} statements alike)"


def _overview_line(
    plan: StatementPlan, names: int, room: int, seconds: Mapping[str, float | None]
) -> str:
    nodes = [node for node in all_operators(plan["root"]) if node["share"] is not None]
    longest = max(nodes, key=lambda node: node["share"] or 0.0, default=None)
    worst = next((node for node in nodes if node["worst"]), None)
    first = "" if longest is None else f"{percent_text(longest['share'])} {node_words(longest)}"
    second = "" if worst is None else f"{factor_text(worst)} {node_words(worst)}"
    taken = seconds.get(plan["operation"])
    time = "" if taken is None else seconds_text(taken)
    cells = f"{_cut(first, room):<{room}} {_cut(second, room)}"
    return f"  {_overview_name(plan):<{names}} {time:>7}  {cells}".rstrip()


def _overview_name(plan: StatementPlan) -> str:
    name = plan["name"]
    return plan["operation"] if name is None else f"{plan['operation']} {name}"


def _plan(
    plan: StatementPlan,
    capture: PlanCaptureSection,
    width: int,
    *,
    several: bool,
    everything: bool,
) -> Iterator[str]:
    number = f", {statement_words(plan)}" if several else ""
    yield f"Plan of {plan['operation']}{number}: {_times(plan)}"
    yield ""
    yield f"  {'time in itself':<17} {'rows: estimate, actual':>23}  operator"
    shown, left_out = _shown(plan["root"], everything=everything)
    longest = max((node["share"] or 0.0 for _, node in shown), default=0.0)
    for depth, node in shown:
        yield from _operator(node, depth, longest, width, everything=everything)
    if left_out:
        yield f"  ... {left_out} projections with almost no time (--all)"
    yield ""
    for sentence in _facts(plan, capture):
        yield from textwrap.wrap(sentence, width, initial_indent="  ", subsequent_indent="    ")


def _times(plan: StatementPlan) -> str:
    if not plan["timed"]:
        why = f", {one_line(plan['reason'])}" if plan["reason"] else ""
        return f"estimates only{why}"
    return ", ".join(plan_times(plan))


def _facts(plan: StatementPlan, capture: PlanCaptureSection) -> Iterator[str]:
    """Yield one sentence for each fact about a whole query plan."""
    if sizes := plan_sizes(plan):
        yield f"All operators: {', '.join(sizes)}."
    if counted := activity_words(plan):
        yield f"Counted: {counted}."
    if reads := reads_words(plan):
        yield f"Read: {reads}."
    yield from (f"Columns of {columns}." for columns in columns_words(plan))
    cost = next(
        (asked for asked in capture["operations"] if asked["operation"] == plan["operation"]), None
    )
    if cost is not None:
        slower = (
            "" if cost["ratio"] is None else f"; with capturing it took {cost['ratio']:.2g} times"
        )
        slower += " the timed execution" if slower else ""
        yield f"Captured outside of the timed part, in {seconds_text(cost['capture_s'])}{slower}."
    yield f"The engine's own plan: raw/plans/{plan['native']}"


def _shown(
    node: PlanOperator, depth: int = 0, *, everything: bool
) -> tuple[list[tuple[int, PlanOperator]], int]:
    """Return plan operators with their depth, and the number of omitted projections."""
    leave = not everything and _says_nothing(node)
    shown = [] if leave else [(depth, node)]
    left_out = int(leave)
    for child in node["children"]:
        below, others = _shown(child, depth + (not leave), everything=everything)
        shown += below
        left_out += others
    return shown, left_out


def _says_nothing(node: PlanOperator) -> bool:
    return (
        node["operator"] == "projection"
        and len(node["children"]) == 1
        and node["share"] is not None
        and node["share"] < SHARE_LEFT_OUT
        and not node["worst"]
    )


def _operator(
    node: PlanOperator, depth: int, longest: float, width: int, *, everything: bool
) -> Iterator[str]:
    share = node["share"]
    drawn = bar(share / longest, BAR_WIDTH) if share and longest else ""
    time = "" if node["seconds"] is None else seconds_text(node["seconds"])
    spent = f"{time:>7} {'' if share is None else percent_text(share):>5} {drawn:<{BAR_WIDTH}}"
    lead = f" {spent} {_rows_text(node):>15} {factor_text(node):>7}  "
    yield f"{lead}{_cut(' ' * depth + node_words(node), width - len(lead))}".rstrip()
    more = list(_more(node, everything=everything))
    if more:
        yield from textwrap.wrap(
            one_line("; ".join(more)),
            width,
            initial_indent=" " * INDENT,
            subsequent_indent=" " * INDENT,
            max_lines=None if everything else 2,
            placeholder=" …",
        )


def _rows_text(node: PlanOperator) -> str:
    if node["rows"] is None and node["estimated_rows"] is None:
        return ""
    if node["loops"] == 0:
        return "never executed"
    return f"{_count(node['estimated_rows'])} → {_count(node['rows'])}"


def _count(rows: float | None) -> str:
    return "?" if rows is None else count_text(rows)


def factor_text(node: PlanOperator) -> str:
    """Return actual rows over estimated ones, such as `27x` or `1/27`; empty if close."""
    factor = node["q_error"]
    if factor is None or factor < NOTABLE_FACTOR:
        return ""
    fewer = (node["rows"] or 0.0) < (node["estimated_rows"] or 0.0)
    return f"1/{grouped_text(factor)}" if fewer else f"{grouped_text(factor)}x"


def _more(node: PlanOperator, *, everything: bool) -> Iterator[str]:
    """Yield the notes on a plan operator for the line below it."""
    if node["worst"]:
        yield "← the worst estimate"
    if node["spilled_bytes"]:
        yield f"spilled {bytes_text(node['spilled_bytes'])}"
    notable = everything or node["worst"] or (node["share"] or 0.0) >= SHARE_NOTABLE
    if not notable:
        return
    if node["removed_rows"]:
        yield f"removed {count_text(node['removed_rows'])} rows"
    if node["loops"] is not None and node["loops"] >= (1 if everything else LOOPS_NOTABLE):
        yield f"{count_text(node['loops'])} loops"
    if node["workers"] is not None:
        yield f"{node['workers']} worker{'s' if node['workers'] != 1 else ''}"
    if node["read_bytes"]:
        yield f"read {bytes_text(node['read_bytes'])}"
    if node["condition"]:
        yield node["condition"]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(1, width - 1)]}…"


def changed_line(differences: list[PlanDifferenceRow]) -> str:
    """Return text on how many operations' plans differ between two runs."""
    if not differences:
        return "  No operation has a plan in both runs, so plans cannot be compared."
    changed = sum(difference["changed"] for difference in differences)
    if not changed:
        return f"  Plans: executed in the same way in all of {len(differences)} operations"
    return (
        f"  Plans: executed in another way in {changed} of {len(differences)} operations"
        " (steps: --operation)"
    )


def difference_lines(differences: list[PlanDifferenceRow], width: int) -> Iterator[str]:
    """Yield the changes in the plans of one operation, statement by statement."""
    for difference in differences:
        number = f", {statement_words(difference)}" if len(differences) > 1 else ""
        how = "executed in another way" if difference["changed"] else "executed in the same way"
        yield f"  Plan of {difference['operation']}{number}: {how}; thread time, watched"
        yield ""
        if difference["changes"]:
            yield f"{'this run':>10} {'against':>10} {'difference':>11}  what changed"
            for change in difference["changes"]:
                first, *rest = textwrap.wrap(one_line(change["says"]), max(20, width - 35)) or [""]
                yield f"{_three(change['ours_s'], change['theirs_s'])}  {first}"
                yield from (f"{'':>33}  {line}" for line in rest)
            yield ""
        yield f"{'this run':>10} {'against':>10} {'difference':>11}    step with its inputs"
        for step in _steps(difference["steps"]):
            lead = f"{_three(step['ours_s'], step['theirs_s'])} {MARKS[step['mark']]} "
            yield f"{lead}{_cut(' ' * step['depth'] + step['words'], width - len(lead))}".rstrip()
        yield "  * changed, + new, - removed"


def _steps(steps: list[PlanStepRow]) -> Iterable[PlanStepRow]:
    """Return the steps of a plan without projections, which do not show how it executes."""
    return [step for step in steps if step["operator"] != "projection"]


def _three(ours_s: float | None, theirs_s: float | None) -> str:
    ours = "-" if ours_s is None else seconds_text(ours_s)
    theirs = "-" if theirs_s is None else seconds_text(theirs_s)
    difference = "" if ours_s is None or theirs_s is None else signed_text(ours_s - theirs_s)
    return f"{ours:>10} {theirs:>10} {difference:>11}"
