"""Makes the advice for a row that many sessions change or lock, such as a counter of ids."""

from __future__ import annotations

import re

from assay.analysis.findings.waiting.waits import statement_text

_ANY_CASE = re.IGNORECASE | re.DOTALL
# An update that keeps its value for later statements of the session, as MySQL's manual describes
# for ids without an auto_increment column.
_KEEPS_ID = re.compile(r"^\s*update\b.*\blast_insert_id\s*\(", _ANY_CASE)
# A change that returns the counter that it increased.
_INCREASES = re.compile(r"\bset\s+[`\"]?(\w+)[`\"]?\s*=\s*[`\"]?\1[`\"]?\s*\+", _ANY_CASE)
_RETURNS = re.compile(r"\breturning\b", re.IGNORECASE)
_LOCKING_READ = re.compile(r"^\s*(?:select|with)\b.*\bfor\s+(?:no\s+key\s+)?update\b", _ANY_CASE)
IDS = (
    "auto_increment or identity columns, or a sequence, which lock nothing until the commit; or "
    "take it in a short transaction of its own"
)


def hot_row_advice(statement: str, table: str) -> str:
    """Return the change for a statement that waits for a locked row of a table.

    A statement can come last in its transaction only if no later one needs its result.
    """
    if _KEEPS_ID.match(statement) or (_RETURNS.search(statement) and _INCREASES.search(statement)):
        return (
            f"take the ids from {table} in another way, because the row stays locked until the "
            f"commit and later statements need the id: {IDS}"
        )
    if _LOCKING_READ.match(statement) or _RETURNS.search(statement):
        return (
            f"lock the row later: put statements that do not need the result of this one before "
            f"it: {statement_text(statement)}. If it makes ids, take them from {IDS}"
        )
    return (
        f"make this the last statement before the commit: {statement_text(statement)}. If all "
        f"sessions change one row, distribute its writes over several rows of {table}"
    )
