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
from assay.workloads.effect_facts import Effect
from assay.workloads.effects import effect_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engines.contract import Address
    from assay.running.asked.played import PlayedRun, PlayedStatement

READ_ONLY, ROLLED_BACK, ALLOWED = "read only", "rolled back", "allowed"
MENDS = (
    "Nothing was run. Add --roll-back to roll back each operation, or --allow-writes to permit "
    "the writes"
)


def asks_others(asked: PlayedRun) -> bool:
    """Return True if the run queries existing tables of a running server."""
    return asked.request.dsn is not None and not asked.workload.makes_data


def reads_only(asked: PlayedRun) -> bool:
    """Return True if the run has no permission to write, so that sessions are read only."""
    request = asked.request
    return asks_others(asked) and not (request.allow_writes or request.roll_back)


def guarded(asked: PlayedRun, address: Address) -> Address:
    """Return the address for read-only connections if the run may not write.

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
            "Assay connects through a pooler, so each operation needs a read-only transaction, "
            f"and {_counted(lines)} would end that transaction:\n{_listed(lines)}\nNothing was "
            "run. Name the server itself in --dsn, or add --allow-writes"
        )


def _refuse(asked: PlayedRun, refused: Callable[[Effect], bool]) -> None:
    lines = _lines(asked, refused)
    if lines:
        raise UsageError(
            f"the tables were not created by Assay, and {_counted(lines)} may write into them:\n"
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
            f"Assay cannot load data into this server, so {asked.workload.facts.name} queries "
            f"existing data, and {_counted(lines)} may write into "
            f"it:\n{_listed(lines)}\nNothing was run. To permit the writes, add --allow-writes"
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
    means = None
    if leave == READ_ONLY and isinstance(asked.behaviour, ReadsOnly | OpensFiles):
        means = begin or asked.behaviour.reads_only_by
    return {"leave": leave, "server_told": means, "by_transaction": begin is not None, "kept": kept}


def _check_options(asked: PlayedRun) -> None:
    """Refuse the options that permit writing in a run without a user's tables."""
    request = asked.request
    for name, given in (
        ("--allow-writes", request.allow_writes),
        ("--roll-back", request.roll_back),
    ):
        if given and request.dsn is None:
            raise UsageError(
                f"{name} needs --dsn: a private engine has only tables that Assay created. "
                f"Remove {name}"
            )
        if given and asked.workload.makes_data and not isinstance(asked.behaviour, TellsIfItLoads):
            raise UsageError(
                f"{name}: {asked.workload.facts.name} writes into tables that Assay created, "
                "which needs no permission. Remove the option"
            )
    if request.allow_writes and request.roll_back:
        raise UsageError(
            "--allow-writes keeps what operations write, and --roll-back reverts it: remove "
            "one of the two"
        )


def _check_rollback(asked: PlayedRun) -> None:
    title = asked.engine.facts.title
    if not asked.engine.facts.transactions:
        raise UsageError(
            f"--roll-back: {title} has no transactions: use --allow-writes, or remove --roll-back"
        )
    programs = [op.name for op in asked.plain_script.operations if op.program is not None]
    if programs:
        raise UsageError(
            f"--roll-back: the operation {programs[0]} is a program that ends its own "
            "transaction: use --allow-writes"
        )
    lines = _lines(asked, lambda effect: effect.rollback == "ends")
    if lines:
        raise UsageError(
            f"--roll-back: {title} cannot roll back {_counted(lines)}:\n{_listed(lines)}\n"
            "Nothing was run. Remove the statements, or use --allow-writes"
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
    """Return file, line and reason of each refused SQL statement."""
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
