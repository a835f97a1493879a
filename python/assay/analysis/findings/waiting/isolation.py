"""Waits for locks of plain reads, which they only take at a strict level of isolation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import named_setting_advice
from assay.analysis.findings.waiting.transactions import is_plain_read, only_reads
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.model.blocker import Blocker
    from assay.model.finding import Advice

# Role of the setting of the isolation level. Its cheaper values are levels at which a plain read
# locks no rows, and `limits` says what it does at another level.
ISOLATION = "isolation"
# Mode of a lock of rows in samples of waiting sessions.
ROW = "row"
LOWER = (
    "measure at the lower level: no sample shows a plain read that waits for a row, and the locks "
    "may be those of changes"
)
# A statement that sets the level of its session or transaction, instead of the setting.
_OWN_LEVEL = re.compile(
    r"\bisolation\s+level\b|\bset\b[^;]*\b(?:tx|transaction)_isolation\b", re.IGNORECASE
)


def locking_level(case: Case) -> Setting | None:
    """Return the setting of an isolation level at which plain reads lock rows; None if they do not.

    The level is not known if a statement of the run sets its own.
    """
    level = case.setting(ISOLATION)
    if level is None or level.value is None or level.cheaper is None or level.limits is None:
        return None
    free = {value.lower() for value in (level.cheaper, *level.alike)}
    if level.value.lower() in free:
        return None
    return None if any(_OWN_LEVEL.search(text) for text in case.statements.values()) else level


def reads_wait(own: Sequence[Blocker]) -> float:
    """Return the share of the run's own lock waits in which a plain read waits, or is waited for.

    Args:
        own: Sessions of the run that others waited for.
    """
    whole = sum(blocker.share for blocker in own)
    of_reads = sum(
        blocker.share
        for blocker in own
        if blocker.mode == ROW
        and (is_plain_read(blocker.waiting_statement) or is_plain_read(blocker.statement))
    )
    return of_reads / whole if whole else 0.0


def are_seen_waiting(own: Sequence[Blocker]) -> bool:
    """Return True if plain reads waited for a lock, not only other statements for theirs."""
    return any(blocker.mode == ROW and is_plain_read(blocker.waiting_statement) for blocker in own)


def waiting_readers(case: Case, fractions: Mapping[str, float]) -> list[str]:
    """Return the operations that wait for locks although they only read, the largest first."""
    return [
        name
        for name in case.largest_first(fractions)
        if fractions[name] and only_reads(case.statements.get(name, ""))
    ]


def isolation_words(level: Setting) -> str:
    """Return the cause as a clause: the level, and what a plain read does at it."""
    return f"at {level.name} = {level.value}, {level.limits}"


def isolation_advice(
    case: Case, method: str, fractions: Mapping[str, float], level: Setting
) -> tuple[Advice, str]:
    """Return the advice of the lower level, and its words with what the level changes."""
    advice = named_setting_advice(level.name, str(level.cheaper), case.of_run(fractions))
    command = case.try_words(method, fractions, "sets it")
    return advice, f"{level.name} = {level.cheaper}: {level.but}; {command}"


def isolation_evidence(
    own: Sequence[Blocker], level: Setting, readers: Sequence[str]
) -> list[Evidence]:
    """Return the level in force, and which waits are those of plain reads.

    Args:
        own: Sessions of the run that others waited for; empty if no samples show them.
        level: The setting.
        readers: Operations that wait although they only read.
    """
    evidence = [Evidence(level.text, f"setting:{level.name}")]
    if own:
        sentence = (
            f"{percent_text(reads_wait(own))} of the waits seen in samples are those of plain "
            "reads, or for sessions that last read"
        )
        evidence.append(Evidence(sentence, "session:reads"))
    return evidence + [
        Evidence(f"{name} changes no rows and asks for no locks", f"statement:{name}")
        for name in readers
    ]
