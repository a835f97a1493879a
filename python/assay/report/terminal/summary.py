"""Terminal output of a run: verdict, speed, causes of its time, findings and advice.

The output fits 80 columns and has no boxes. Each colour repeats the meaning of a word.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.model.foreign_text import visible
from assay.model.units import percent_text, seconds_text
from assay.report.terminal.cluster import brief_lines
from assay.report.terminal.load import (
    engine_lines,
    load_figures,
    load_operation,
    pace_lines,
)
from assay.report.terminal.memory import memory_line, memory_lines, state_line
from assay.report.terminal.observed import (
    looked_lines,
    next_lines,
    statement_table,
)
from assay.report.terminal.specified import figures_of_test, lines_of_test
from assay.report.words.causes import shares_by_cause
from assay.report.words.changes import changes_lines
from assay.report.words.doubts import doubts
from assay.report.words.findings import short_settle, to_do_texts
from assay.report.words.loads.operation import operation_time
from assay.report.words.loads.sequences import sequence_lines
from assay.report.words.loads.statements import statement_lines
from assay.report.words.loads.steady import steady_lines
from assay.report.words.loads.transactions import transaction_lines
from assay.report.words.observed import observed_figures
from assay.report.words.run import (
    answers_words,
    bridge_words,
    check,
    conditions_text,
    host_text,
    title,
)
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import Console

    from assay.report.documents.load.operations import CauseShares, CoverageDoubt, OperationRow
    from assay.report.documents.profile.profile import ProfileSection
    from assay.report.documents.run import RunDocument

WIDTH_MAX = 100
WIDTH_MIN = 40
BAR_WIDTH, BAR_WIDTH_BESIDE_WORK = 16, 10
TOP_OPERATIONS = 3
TOP_WORKS = 2
UNCLASSIFIED = "unclassified"
WORK_SHARE_MIN, WAIT_SHARE_BEFORE_WORK = 0.05, 0.1
EIGHTHS = " ▏▎▍▌▋▊▉"
LABEL_WIDTH = 8
DETAIL_SHARE_MIN = 0.005
STYLES = {"valid": "bold green", "unknown": "bold yellow", "invalid": "bold red"}
# Label of time that no source accounts for.
NO_CAUSE = "unknown"
# Parts of an operation's time, by the names in a line.
PARTS = (
    ("cpu", ("cpu_user", "cpu_system")),
    ("queue", ("run_queue",)),
    ("throttled", ("throttled",)),
    ("stolen", ("stolen",)),
    ("disk read", ("disk_read",)),
    ("disk write", ("disk_write",)),
    ("disk", ("disk",)),
    ("log", ("log",)),
    ("lock", ("lock",)),
    ("latch", ("latch",)),
    ("client", ("client",)),
    ("workers", ("workers",)),
    ("idle", ("idle",)),
    ("paused", ("paused",)),
    (NO_CAUSE, ("uncovered",)),
)


def render(document: RunDocument, *, all_operations: bool, console: Console) -> None:
    """Print the terminal report of a run from its document."""
    width = width_of(console)
    _print_title(document, width, console)
    _print_reasons(document, width, console)
    for line in _packed(_figures(document), width, lead="  ", gap="   "):
        _say(console, line)
    if document["test"] is not None:
        for line in lines_of_test(document["test"], width, all_operations=all_operations):
            _say(console, line)
    _say(console)
    for line in _operation_lines(document, width, all_operations=all_operations):
        _say(console, line)
    lines: tuple[Callable[[RunDocument, int], Iterable[str]], ...] = (
        transaction_lines,
        sequence_lines,
        pace_lines,
        steady_lines,
        statement_lines,
        engine_lines,
        brief_lines,
        changes_lines,
        state_line,
        memory_line,
        looked_lines,
    )
    for line in [line for of in lines for line in of(document, width)]:
        _say(console, line)
    if all_operations:
        for line in memory_lines(document, width, everything=True):
            _say(console, line)
    _print_why(document, width, console)
    lead = f"{'Trust':<{LABEL_WIDTH}}"
    lines_of_trust = [
        line for part in _trust(document) for line in _wrapped(part, width - LABEL_WIDTH)
    ]
    trust = _packed(lines_of_trust, width, lead=lead, gap="  ")
    for line in (*trust, *_answers_lines(document, width), *_ending(document, width)):
        _say(console, line)


def width_of(console: Console) -> int:
    """Return the width of output lines: the terminal's, within limits of easy reading."""
    return max(WIDTH_MIN, min(console.width, WIDTH_MAX))


def where_words(where: CauseShares) -> list[str]:
    """Return texts of the time by cause: the CPU first, then other causes, largest first."""
    parts = [f"{name} {percent_text(share):>5}" for name, share in _where_shares(where)]
    return parts or ["time not split"]


def largest_causes(where: CauseShares) -> list[str]:
    """Return texts of the largest causes of an operation's time; empty if not split."""
    parts = sorted(_where_shares(where), key=lambda part: -part[1])
    return [f"{name} {percent_text(share)}" for name, share in parts]


def _where_shares(where: CauseShares) -> list[tuple[str, float]]:
    shares_of = shares_by_cause(where)
    shares: dict[str, float] = {}
    for name, parts in PARTS:
        measured = [share for part in parts if (share := shares_of[part]) is not None]
        if measured and sum(measured) >= DETAIL_SHARE_MIN:
            shares[name] = sum(measured)
    return sorted(shares.items(), key=lambda part: (*_order(part[0]), -part[1]))


def _order(part: str) -> tuple[bool, bool]:
    """Return a sort key for causes of time: the CPU first, unaccounted time last."""
    return part == NO_CAUSE, part != PARTS[0][0]


def _say(console: Console, line: str = "", style: str | None = None) -> None:
    console.print(
        visible(line.rstrip()), style=style, markup=False, highlight=False, soft_wrap=True
    )


def _print_title(document: RunDocument, width: int, console: Console) -> None:
    from rich.text import Text

    word = document["verdict"].upper()
    name, conditions = visible(title(document)), visible(conditions_text(document))
    left = f"{name}   {conditions}".rstrip()
    fits = len(left) + 1 + len(word) <= width
    first = left if fits else name
    line = Text(first, style="bold" if not fits else "")
    line.stylize("bold", 0, len(name))
    line.append(" " * max(1, width - len(first) - len(word)))
    line.append(word, style=STYLES[document["verdict"]])
    console.print(line, highlight=False, soft_wrap=True)
    if not fits and conditions:
        for wrapped in indented(conditions, "  ", width):
            _say(console, wrapped)


def _print_reasons(document: RunDocument, width: int, console: Console) -> None:
    for result in doubts(document):
        text = f"{result['verdict']}: {result['reason']}"
        wrapped = textwrap.wrap(
            text, width, initial_indent="  ", subsequent_indent="    ", break_long_words=False
        )
        for line in wrapped:
            _say(console, line, STYLES[result["verdict"]])


def _figures(document: RunDocument) -> list[str]:
    metrics = document["metrics"]
    of_test = None if document["test"] is None else figures_of_test(document["test"])
    parts = (
        of_test
        or [f"{value} {title}" for value, title in observed_figures(document)]
        or load_figures(document)
        or [
            f"total {seconds_text(metrics['total_seconds'])}",
            f"geometric mean {seconds_text(metrics['geometric_mean_seconds'])}",
        ]
    )
    machine = host_text(document)
    return [*parts, machine] if machine else parts


def _operation_lines(document: RunDocument, width: int, *, all_operations: bool) -> list[str]:
    operations = document["operations"]
    if not operations:
        return [f"  no {'statement' if document['observed'] else 'operation'} was measured"]
    if document["observed"] is not None:
        where = {op["name"]: largest_causes(op["where"]) for op in operations}
        return list(statement_table(document, where, width, everything=all_operations))
    if document["pace"] is not None:
        lines = _loaded_lines(operations, width, all_operations=all_operations)
        return [*lines, *_together_lines(document, width)]
    ordered = sorted(operations, key=_longest_first)
    shown = operations if all_operations else ordered[:TOP_OPERATIONS]
    longest = max((op["seconds"] for op in operations if op["seconds"] is not None), default=0.0)
    name_width = max(len(op["name"]) for op in shown)
    works = works_by_operation(document["profile"])
    lines = [
        _operation_line(op, name_width, longest, width, works.get(op["name"], [])) for op in shown
    ]
    left = len(operations) - len(shown)
    return [*lines, f"  ... {left} more (--all)"] if left else lines


def _loaded_lines(operations: list[OperationRow], width: int, *, all_operations: bool) -> list[str]:
    """Return the terminal lines of a load's operations, sorted by share of the service time."""
    ordered = sorted(operations, key=lambda op: (not op["failed"], -(op["share"] or 0.0)))
    shown = operations if all_operations else ordered[:TOP_OPERATIONS]
    name_width = max(len(op["name"]) for op in shown)
    lines = []
    for operation in shown:
        lead, details = load_operation(operation, name_width)
        details += where_words(operation["where"]) if _where_shares(operation["where"]) else []
        lines += _packed(details or ["no time measured"], width, lead=lead, gap="  ")
    left = len(operations) - len(shown)
    return [*lines, f"  ... {left} more (--all)"] if left else lines


def _together_lines(document: RunDocument, width: int) -> list[str]:
    """Return the time by cause of all operations together, if unknown for each."""
    where = document["where"]
    if where is None or any(
        _where_shares(operation["where"]) for operation in document["operations"]
    ):
        return []
    return _packed(where_words(where["shares"]), width, lead="  together  ", gap="  ")


def _longest_first(operation: OperationRow) -> tuple[bool, float]:
    """Return a sort key for operations: failed ones first, then by time."""
    return operation["outcome"] == "ok", -(operation["seconds"] or 0.0)


def works_by_operation(profile: ProfileSection | None) -> dict[str, list[str]]:
    """Return texts of the main kinds of work of each operation."""
    if profile is None:
        return {}
    return {
        operation["operation"]: [
            f"{row['work']} {percent_text(row['share'])}"
            for row in [work for work in operation["work"] if work["work"] != UNCLASSIFIED][
                :TOP_WORKS
            ]
            if row["share"] >= WORK_SHARE_MIN
        ]
        for operation in profile["operations"]
    }


def _operation_line(
    operation: OperationRow, name_width: int, longest: float, width: int, works: list[str]
) -> str:
    name = f"  {operation['name']:<{name_width}}  "
    if operation["outcome"] != "ok" or operation["seconds"] is None:
        return name + operation_time(operation)
    share = operation["seconds"] / longest if longest > 0 else 0.0
    length = BAR_WIDTH_BESIDE_WORK if works else BAR_WIDTH
    lead = f"{name}{seconds_text(operation['seconds']):>7} {bar(share, length):<{length}} "
    # Only the smallest parts do not fit beside the bar; --json has all of them.
    return _packed(_operation_details(operation, works), width, lead=lead, gap="  ")[0]


def _operation_details(operation: OperationRow, works: list[str]) -> list[str]:
    """Return the texts beside an operation's time bar: cores and causes, or kinds of work."""
    details = where_words(operation["where"])
    if not works:
        cores = operation["parallelism"]
        return [f"{cores:>4.1f} cores", *details] if cores is not None else details
    # Kinds of work come after the CPU and the longest wait, and before small causes.
    waits = [
        name for name, share in _where_shares(operation["where"]) if share >= WAIT_SHARE_BEFORE_WORK
    ]
    place = 2 if len(waits) > 1 and waits[1] != NO_CAUSE else 1
    return [*details[:place], *works, *details[place:]]


def bar(share: float, width: int) -> str:
    """Return a text bar in eighths of a character, never empty for a positive share."""
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (EIGHTHS[rest] if rest else "")


def _print_why(document: RunDocument, width: int, console: Console) -> None:
    if not document["findings"]:
        _say(console)
        return
    _say(console)
    _say(console, "Why", "bold")
    for number, finding in enumerate(document["findings"], start=1):
        suspected = finding["tells"] == "cause" and finding["certainty"] == "suspected"
        lines = [f"Suspected: {finding['claim']}" if suspected else finding["claim"]]
        # What settles a suspicion comes first, because the advice may be wrong.
        settle = short_settle(finding["settle"] or "") if suspected else None
        if settle:
            lines.append(f"To settle it: {settle}")
        lines += to_do_texts(finding)
        if finding["to_try"]:
            lines.append(f"To try: {finding['to_try']}")
        for index, text in enumerate(lines):
            lead = f"  {number}  " if index == 0 else "     "
            for line in indented(text, lead, width):
                _say(console, line)
    _say(console)


def _answers_lines(document: RunDocument, width: int) -> list[str]:
    """Return lines on how the query results were checked, or how to check them."""
    reference = answers_words(document)
    if reference is None:
        return []
    text, command = reference
    lines = indented(text, f"{'Answers':<{LABEL_WIDTH}}", width)
    # A command has a line of its own, however long, so that it can be copied.
    return [*lines, f"{' ' * LABEL_WIDTH}{command}"] if command else [*lines]


def _trust(document: RunDocument) -> list[str]:
    parts = []
    labels = [("steal", "steal"), ("background", "background_load")]
    for label, name in labels[: 1 if document["observed"] is not None else None]:
        result = check(document, name)
        value = result["value"] if result is not None else None
        parts.append(f"{label} {percent_text(value)}")
    share = document["probes"]["core_share"]
    of_core = " of a core" if share is not None else ""
    parts.append(f"probes {percent_text(share)}{of_core}")
    parts += bridge_words(document)
    # Intervals over passes belong to findings. They do not show the variation between runs.
    test = document["test"]
    count = 1 if test is None else max(1, len(test["runs"]))
    parts.append("one run, no interval" if count == 1 else f"{count} runs, no interval")
    return [*parts, *_doubts_of_where(document)]


def _doubts_of_where(document: RunDocument) -> list[str]:
    """Return texts on operations whose time is unaccounted for, or counted twice."""
    where = document["where"]
    if where is None:
        return []
    kinds = (
        ("not accounted for", where["uncovered"]),
        ("accounted for twice", where["overcounted"]),
    )
    return [f"{label}: {_doubts_text(doubts)}" for label, doubts in kinds if doubts]


def _doubts_text(doubts: list[CoverageDoubt]) -> str:
    shown = doubts[:TOP_OPERATIONS]
    not_split = {True: "", False: ", not split"}
    named = [
        f"{percent_text(doubt['share'])} ({doubt['operation']}{not_split[doubt['is_split']]})"
        for doubt in shown
    ]
    left = len(doubts) - len(shown)
    return f"{', '.join(named)}{f', {left} more' if left else ''}"


def _wrapped(sentence: str, width: int) -> list[str]:
    """Return a sentence as lines of at most `width` columns; `12 %` is not broken."""
    kept = sentence.replace(" %", "\N{NO-BREAK SPACE}%")
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in textwrap.wrap(kept, width)]


def _packed(parts: list[str], width: int, *, lead: str, gap: str) -> list[str]:
    """Return texts packed into lines of limited width, with a lead text before the first."""
    lines = [lead + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(gap) + len(part) <= width:
            lines[-1] += gap + part
        else:
            lines.append(" " * len(lead) + part)
    return lines


def _ending(document: RunDocument, width: int) -> list[str]:
    """Return the terminal report's last lines: its path, legal notice, and next commands."""
    following = [f"{'Next':<{LABEL_WIDTH}}{command}" for command in next_lines(document)]
    label, where = "Record", document["path"]
    if document["report"] is not None:
        label, where = "Report", document["report"]
    legal = document["legal"]
    line = f"{label:<{LABEL_WIDTH}}{where}"
    if not legal:
        return [line, *following]
    if len(line) + 2 + len(legal) <= width:
        return [f"{line}  {legal}"]
    indent = " " * LABEL_WIDTH
    return [line, *textwrap.wrap(legal, width, initial_indent=indent, subsequent_indent=indent)]
