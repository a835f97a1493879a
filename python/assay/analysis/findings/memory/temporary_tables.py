"""Finds groups and sorts that an engine stores in temporary tables on disk."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.memory.cache import power_of_two, waited_for_disk
from assay.analysis.findings.plans.plan_time import fraction_of, reach_of, timed_nodes
from assay.model.finding import Advice, Evidence
from assay.model.units import bytes_text, count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.model.finding import Finding

METHOD = "temporary-tables"
# Counter of temporary tables on disk.
ON_DISK = "temporary_disk_tables"
# Counter of rows written into temporary tables, if the engine has it, and the largest size of a
# row. A table has at most this many rows; they may be read repeatedly.
ROWS, ROW_BYTES = "rows_temporary", 1 << 10
ROLE = "temporary_memory"
WORD = "temporary"
GROWTH = 64
# Largest share of the host's memory that is advised for one table.
HOST_SHARE_MAX = 1 / 16
# Assay's own sampling of the server creates some tables, so each execution has to create one.
PER_EXECUTION_MIN = 1.0
EFFECT_MIN = 0.05
IN_MEMORY = (
    "measure the same operations with more memory: they hardly waited for the disk, tables with "
    "large texts may go to disk with any memory, and filling a table in memory takes time, too"
)
AS_VARCHAR = (
    "measure the same operations with the columns as `varchar`: they hardly waited for the disk, "
    "and a table in the page cache may be as fast as one in memory"
)
SHORT_TEXTS = (
    "declare grouped and selected texts as `varchar` of their real length: the table is small, and "
    "the engine stores tables with columns of type text or blob on disk with any memory"
)
OR_TEXTS = (
    "more memory does not help if a column of the table is of type text or blob: declare it as "
    "`varchar` then"
)
# Types whose columns keep a temporary table on disk. MariaDB's JSON is a text.
TEXT = re.compile(r"(?:tiny|medium|long)?(?:text|blob)\b|json\b", re.IGNORECASE)
_GROUPED = re.compile(r"\bgroup\s+by\b", re.IGNORECASE)
_REDUCED = re.compile(r"\b(?:limit|having|distinct|union|fetch|over)\b", re.IGNORECASE)
_SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
# Operators that store rows in a table. Other operators take the same time with a table in memory.
OPERATORS = ("aggregate", "sort", "set operation", "materialize", "window", "other")


def find(case: Case) -> list[Finding]:
    """Return findings of the time of operators whose temporary tables were written to disk.

    Tables that no memory setting keeps in memory have a finding of their own.
    """
    made = case.total(ON_DISK)
    nodes = [timed for timed in timed_nodes(case) if _has_table(timed)]
    nodes = [timed for timed in nodes if _went_to_disk(case, timed.operation)]
    executions = sum(op.passes for op in case.operations if op.name in {n.operation for n in nodes})
    if not made or not executions or made < PER_EXECUTION_MIN * executions:
        return []
    count = f"{count_text(made)} temporary tables on disk in {count_text(executions)} executions"
    evidence = Evidence(count, f"counter:{ON_DISK}")
    texts = _texts(case, nodes)
    of_texts = [timed for timed in nodes if timed.operation in texts]
    findings = [_of_texts(case, of_texts, texts, evidence)] if of_texts else []
    others = [timed for timed in nodes if timed.operation not in texts]
    if others and (ON_DISK in case.counted_apart or not _fits(case, executions)):
        findings.append(_of_memory(case, others, executions, evidence))
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _texts(case: Case, nodes: Sequence[Timed]) -> dict[str, dict[str, str]]:
    """Return the columns that keep tables of groups on disk, with their types, by operation.

    The names of the columns include their table. Empty if the engine stores texts in memory, too.
    """
    if not case.advice.get("texts_on_disk") or not case.column_types:
        return {}
    # Only few runs need the SQL library, which takes a tenth of a second to import.
    from assay.analysis.plans.grouped_columns import grouped_columns

    texts: dict[str, dict[str, str]] = {}
    for timed in nodes:
        columns = grouped_columns(timed.plan.text or "", case.column_types, case.grammar)
        for table, column in columns:
            declared = case.column_types[table][column]
            if TEXT.match(declared):
                texts.setdefault(timed.operation, {})[f"{table}.{column}"] = declared
    return texts


def _of_texts(
    case: Case, nodes: Sequence[Timed], texts: Mapping[str, Mapping[str, str]], counted: Evidence
) -> Finding:
    """Return the finding of tables that are on disk because of the type of a column."""
    fractions = fraction_of(nodes)
    names = case.largest_first(fractions)
    columns = {name: declared for operation in names for name, declared in texts[operation].items()}
    listed = ", ".join(columns)
    claim = (
        f"The engine writes temporary tables with {listed} to disk, because of the type "
        f"{', '.join(dict.fromkeys(columns.values()))}; operators with a temporary table took "
        f"{percent_text(case.of_run(fractions))} of the time, most in {names[0]}"
    )
    evidence = [counted, *_taken(nodes)]
    evidence += [
        Evidence(f"{name} is declared {declared}", f"catalogue:{name.partition('.')[0]}")
        for name, declared in columns.items()
    ]
    setting = case.setting(ROLE)
    larger = "more memory" if setting is None else f"a larger {setting.name}"
    to_try = (
        f"declare {listed} as `varchar` of the real length, or group by a hash and look the texts "
        f"up afterwards; {larger} does not help"
    )
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    settle = None if waited_for_disk(case, fractions) else AS_VARCHAR
    return _settled(case, finding, nodes, settle)


def _of_memory(case: Case, nodes: Sequence[Timed], executions: float, counted: Evidence) -> Finding:
    """Return the finding of tables that are on disk, probably for want of memory."""
    fractions, setting = fraction_of(nodes), case.setting(ROLE)
    beside = f" with {setting.text}" if setting is not None else ""
    names = case.largest_first(fractions)
    claim = (
        f"The engine wrote temporary tables to disk{beside}; operators with a temporary table took "
        f"{percent_text(case.of_run(fractions))} of the time, most in {names[0]}"
    )
    evidence = [counted, *_taken(nodes)]
    to_try = "allow more memory for temporary tables"
    if setting is not None:
        evidence.append(Evidence(setting.text, f"setting:{setting.name}"))
        to_try = f"a larger {setting.name}"
    advice = _advice(case, setting, executions)
    if case.advice.get("texts_on_disk") and (small := _small(case, nodes, setting)) is not None:
        operation, groups = small
        text = f"{operation} returns all of its groups, {count_text(groups)} rows"
        evidence.append(Evidence(text, f"plan:{operation}"))
        advice, to_try = None, SHORT_TEXTS
    elif case.advice.get("texts_on_disk") and _fits(case, executions):
        text = f"{count_text(case.total(ROWS))} rows of temporary tables would fit into memory"
        evidence.append(Evidence(text, f"counter:{ROWS}"))
        advice, to_try = None, SHORT_TEXTS
    elif advice is not None and setting is not None:
        larger = f"sets {setting.name} to {bytes_text(int(advice.values['value']))}"
        to_try = case.try_words(METHOD, fractions, larger)
        if case.advice.get("texts_on_disk"):
            to_try += f"; {OR_TEXTS}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    settle = None if waited_for_disk(case, fractions) else IN_MEMORY
    return _settled(case, finding, nodes, settle)


def _taken(nodes: Sequence[Timed]) -> list[Evidence]:
    """Return the time share of each operator as evidence."""
    return [
        Evidence(
            f"{timed.node.native} of {timed.operation}: {percent_text(timed.fraction)} of its time",
            f"plan:{timed.operation}",
        )
        for timed in nodes
    ]


def _settled(case: Case, finding: Finding, nodes: Sequence[Timed], settle: str | None) -> Finding:
    best = case.of_run(reach_of(nodes))
    finding = replace(finding.without_interval(), settle=settle)
    return finding.of("computing", saved=(0.0, best))


def _advice(case: Case, setting: Setting | None, executions: float) -> Advice | None:
    """Return the advice to give temporary tables enough memory, within the host's memory.

    If the engine does not count rows, the tables get many times the memory that was too little.
    """
    if setting is None or setting.bytes is None:
        return None
    rows = case.total(ROWS)
    needed = GROWTH * setting.bytes if rows is None else rows / executions * ROW_BYTES
    most = None if case.memory_bytes is None else case.memory_bytes * HOST_SHARE_MAX
    value = power_of_two(needed, most)
    return Advice("setting", ROLE, {"value": str(value)}) if value > setting.bytes else None


def _small(case: Case, nodes: Sequence[Timed], setting: Setting | None) -> tuple[str, int] | None:
    """Return an operation whose table would fit into memory, with its rows; None without one.

    The result of a statement with one grouping is its table, if nothing removes rows of it.
    """
    rows = {op.name: op.rows for op in case.operations}
    for timed in nodes:
        text, count = timed.plan.text or "", rows.get(timed.operation)
        is_whole = _GROUPED.search(text) is not None and _REDUCED.search(text) is None
        if not is_whole or len(_SELECT.findall(text)) != 1 or count is None:
            continue
        if setting is not None and count * ROW_BYTES < (setting.bytes or 0):
            return timed.operation, count
    return None


def _went_to_disk(case: Case, operation: str) -> bool:
    """Return True if each execution wrote a temporary table to disk."""
    counted = (case.figure(ON_DISK) or {}).get("operations") or {}
    return not counted or counted.get(operation, 0.0) >= PER_EXECUTION_MIN


def _fits(case: Case, executions: float) -> bool:
    """Return True if an execution's rows fit into memory, by their number.

    Then sampling caused the disk tables if they were counted, or the type of a column did.
    """
    rows, setting = case.total(ROWS), case.setting(ROLE)
    if rows is None or setting is None or setting.bytes is None:
        return False
    return rows / executions * ROW_BYTES < setting.bytes


def _has_table(timed: Timed) -> bool:
    return timed.node.operator in OPERATORS and WORD in timed.node.native.lower()
