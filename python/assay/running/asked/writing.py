"""Decides whether a run may write to a user's tables: only with permission.

Writing statements are recognised by their first words. The server is also set to refuse writes, so
that a function with a hidden write fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.engines.checking import OpensFiles, ReadsOnly, TellsDialects, TriesStatements
from assay.engines.loading import TellsIfItLoads
from assay.model.errors import UsageError
from assay.running.asked.played import played_statements
from assay.workloads.effects import Effect, effect_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engines.contract import Address
    from assay.running.asked.played import PlayedRun, PlayedStatement

READ_ONLY, ROLLED_BACK, ALLOWED = "read only", "rolled back", "allowed"
MENDS = (
    "Nothing was played. --roll-back plays each operation in a transaction that is rolled back;"
    " --allow-writes lets them write"
)


def asks_others(asked: PlayedRun) -> bool:
    """Return True if the run queries a running server's tables that Assay did not make."""
    return asked.request.dsn is not None and not asked.workload.makes_data


def reads_only(asked: PlayedRun) -> bool:
    """Return True if the run has no permission to write, so that sessions are read only."""
    request = asked.request
    return asks_others(asked) and not (request.allow_writes or request.roll_back)


def guarded(asked: PlayedRun, address: Address) -> Address:
    """Return the address for read-only connections, if the run may not write.

    The address is unchanged if the run may write, or if the server has no such setting.
    """
    if not reads_only(asked) or not isinstance(asked.behaviour, ReadsOnly):
        return address
    return asked.behaviour.read_only(address)


def check_writes(asked: PlayedRun) -> None:
    """Refuse statements that write, unless the user allowed it.

    Raises:
        UsageError: If statements are refused. The error message has file, line and reason of each,
            and the option that allows them.
    """
    request = asked.request
    _check_options(asked)
    if not asks_others(asked) or request.allow_writes:
        return
    if request.roll_back:
        _check_rollback(asked)
        return
    # For a misspelt word the engine's own error is better, if it prepares statements.
    tries = isinstance(asked.behaviour, TriesStatements)
    _refuse(asked, lambda effect: effect.kind != "reads" and not (effect.is_strange and tries))


def check_unknown(asked: PlayedRun) -> None:
    """Refuse statements whose first word is unknown, even if the engine could prepare them.

    Raises:
        UsageError: If statements are refused, like `check_writes`.
    """
    if reads_only(asked):
        _refuse(asked, lambda effect: effect.kind != "reads")


def check_transactions(asked: PlayedRun) -> None:
    """Refuse operations that end the transaction by which the server refuses writes.

    Raises:
        UsageError: If statements are refused. The error message has file, line and reason of each,
            and the option that allows them.
    """
    lines = _lines(asked, lambda effect: effect.rollback == "ends")
    if lines:
        raise UsageError(
            "the server refuses writes only within a transaction around each operation, as a pooler"
            f" stands between, and {_counted(lines)} would end it:\n{_listed(lines)}\nNothing was"
            " played. Name the server itself in --dsn, or say --allow-writes"
        )


def _refuse(asked: PlayedRun, refused: Callable[[Effect], bool]) -> None:
    lines = _lines(asked, refused)
    if lines:
        raise UsageError(
            f"the tables are not Assay's, and {_counted(lines)} may write into them:\n"
            f"{_listed(lines)}\n{MENDS}"
        )


def check_others(asked: PlayedRun) -> None:
    """Refuse writing statements on a user's tables, because Assay cannot load them again.

    Raises:
        UsageError: If statements are refused, like `check_writes`.
    """
    lines = _lines(asked, lambda effect: effect.kind != "reads")
    if lines and not asked.request.allow_writes:
        raise UsageError(
            f"nothing can be loaded there, so {asked.workload.facts.name} asks what is there, and"
            f" {_counted(lines)} may write into it:\n{_listed(lines)}\nNothing was played."
            " --allow-writes lets them write"
        )


def writing_facts(asked: PlayedRun, begin: str | None) -> dict[str, Any] | None:
    """Return the permission to write to the user's tables, for the record; None for other tables.

    `begin` is the statement that begins a read-only transaction around each operation. `begin` is
    None if connections keep a read-only setting or may write. `kept` are the effects that a
    rollback does not undo, by operation.
    """
    request = asked.request
    if not asks_others(asked):
        return None
    leave = ALLOWED if request.allow_writes else ROLLED_BACK if request.roll_back else READ_ONLY
    kept = []
    if leave == ROLLED_BACK:
        kept = [
            {"operation": statement.operation, "reason": effect.why_it_lasts}
            for statement, effect in _effects(asked)
            if effect.rollback == "kept"
        ]
    told = None
    if leave == READ_ONLY and isinstance(asked.behaviour, ReadsOnly | OpensFiles):
        told = begin or asked.behaviour.reads_only_by
    return {"leave": leave, "server_told": told, "by_transaction": begin is not None, "kept": kept}


def _check_options(asked: PlayedRun) -> None:
    """Refuse permission to write in a run without a user's tables."""
    request = asked.request
    for name, given in (
        ("--allow-writes", request.allow_writes),
        ("--roll-back", request.roll_back),
    ):
        if given and request.dsn is None:
            raise UsageError(
                f"{name} needs --dsn: a private engine has only tables that Assay makes. Leave it"
                f" out"
            )
        if given and asked.workload.makes_data and not isinstance(asked.behaviour, TellsIfItLoads):
            raise UsageError(
                f"{name}: {asked.workload.facts.name} writes into tables that Assay makes, which"
                " needs no leave. Leave it out"
            )
    if request.allow_writes and request.roll_back:
        raise UsageError(
            "--allow-writes and --roll-back: what is written either stays or is rolled back; leave"
            " one of the two out"
        )


def _check_rollback(asked: PlayedRun) -> None:
    title = asked.engine.facts.title
    if not asked.engine.facts.transactions:
        raise UsageError(
            f"--roll-back: {title} has no transactions; say --allow-writes, or leave it out"
        )
    programs = [op.name for op in asked.plain_script.operations if op.program is not None]
    if programs:
        raise UsageError(
            f"--roll-back: {programs[0]} is a program of the driver with a transaction of its own;"
            " say --allow-writes"
        )
    lines = _lines(asked, lambda effect: effect.rollback == "ends")
    if lines:
        raise UsageError(
            f"--roll-back: {_counted(lines)} cannot be rolled back on {title}:\n{_listed(lines)}\n"
            "Nothing was played. Take them out, or say --allow-writes"
        )


def _effects(asked: PlayedRun) -> list[tuple[PlayedStatement, Effect]]:
    grammar = asked.dialects
    if isinstance(asked.behaviour, TellsDialects) and asked.request.dsn is not None:
        grammar = asked.behaviour.dialects_at(asked.request.dsn)
    return [
        (statement, effect_of(statement.text, grammar))
        for statements in played_statements(asked)
        for statement in statements
    ]


def _lines(asked: PlayedRun, refused: Callable[[Effect], bool]) -> list[str]:
    """Return file, line and reason of each refused statement."""
    rolls_back = asked.request.roll_back
    return [
        f"{statement.place()}: {effect.why_it_lasts if rolls_back else effect.reason}"
        for statement, effect in _effects(asked)
        if refused(effect)
    ]


def _counted(lines: Sequence[str]) -> str:
    return "a statement" if len(lines) == 1 else f"{len(lines)} statements"


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)
