"""Makes operations from statements that a server counted: weights are exact, values are samples."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.model.captured import OWN
from assay.model.secrets import sql_without_secrets
from assay.workloads.captured.operations import operation_of
from assay.workloads.captured.shapes import Shapes
from assay.workloads.captured.transactions import (
    OTHERS,
    PLAYED,
    SESSION_SETTING,
    UNKNOWN,
    UNREAD,
    WITHHELD,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.model.captured import Counted, CountedStatement, Grammar
    from assay.workloads.captured.anonymising import Anonymiser
    from assay.workloads.captured.operations import CapturedOperation
    from assay.workloads.captured.shapes import Stated

NOT_TOLD = "executions of statements whose text nobody told"
CONTROL = "statements that begin and end transactions: which statements they hold is not counted"
# Statements that are not operations, and the reason under which they are counted.
BESIDE = {"begin": CONTROL, "start": CONTROL, "commit": CONTROL, "end": CONTROL}
BESIDE |= {"rollback": CONTROL, "abort": CONTROL, "savepoint": CONTROL, "release": CONTROL}
BESIDE |= {"set": SESSION_SETTING, "show": SESSION_SETTING, "use": SESSION_SETTING}


def counted_operations(
    counted: Counted, grammar: Grammar, by: Anonymiser | None
) -> tuple[list[CapturedOperation], Counter[str]]:
    """Return captured operations, the most frequent first, and omitted statements by reason."""
    shapes = Shapes(grammar, by.quoted if by else None)
    left_out: Counter[str] = Counter()
    names: dict[str, int] = {}
    operations = []
    for statement in sorted(counted.statements, key=lambda counted: -counted.calls):
        if any(OWN in text for text in (statement.text, *statement.samples)):
            continue
        executions = _executions(statement, shapes)
        reason = _reason(statement, executions, keeps_secrets=by is not None)
        if reason is not None:
            left_out[reason] += statement.calls
            continue
        operation = operation_of([[part] for part in executions], names, grammar, by)
        operations.append(replace(operation, count=statement.calls))
    return operations, left_out


def _executions(statement: CountedStatement, shapes: Shapes) -> list[Stated]:
    """Return sampled executions of a counted statement's most frequent form."""
    alike: defaultdict[tuple[str, ...], list[Stated]] = defaultdict(list)
    for part in _read(statement.samples, shapes):
        if not any(constant.kind == "unknown" for constant in part.constants):
            alike[part.pieces].append(part)
    if alike:
        return max(alike.values(), key=len)
    return list(_read([statement.text], shapes))


def _read(texts: Iterable[str], shapes: Shapes) -> Iterable[Stated]:
    for text in texts:
        try:
            parts = shapes.stated(text, None)
        except ValueError:
            continue
        # The server counts a text with several statements under the last of them.
        if len(parts) == 1:
            yield parts[0]


def _reason(
    statement: CountedStatement, executions: list[Stated], *, keeps_secrets: bool
) -> str | None:
    """Return why a captured statement is omitted; None if it is kept."""
    if not executions:
        return UNREAD if statement.text or statement.samples else NOT_TOLD
    first = executions[0]
    if first.word in BESIDE:
        return BESIDE[first.word]
    if first.word not in PLAYED:
        return f"statements of kind {first.word}" if first.word in OTHERS else UNKNOWN
    texts = (statement.text, *statement.samples)
    if not keeps_secrets and any(sql_without_secrets(text) != text for text in texts):
        return WITHHELD
    return None if all(part.is_whole for part in executions) else UNREAD
