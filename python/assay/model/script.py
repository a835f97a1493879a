"""Scripts of a session: statements, and operations made of them.

A script is plain data. It is made from a workload's files, stored in the record as it was used, and
read by the driver (`assay-model`, `script.rs`), where each operation's values are drawn.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

# A value that a draw gives as it is.
Given = str | int | tuple[int, int] | None


@dataclass(frozen=True)
class Draw:
    """The rule by which a parameter is drawn at each execution, from the session's own stream.

    Attributes:
        name: As the text names it.
        integer: A whole number from the first to the second, both included, equally likely.
        choice: One of these, equally likely; a pair is a decimal, its digits and their scale, and
            None an absent value. Exactly one of `integer` and `choice` is given.
    """

    name: str
    integer: tuple[int, int] | None = None
    choice: tuple[Given, ...] | None = None


@dataclass(frozen=True)
class ScriptStatement:
    """One statement, sent and answered as a whole.

    Attributes:
        text: SQL with `$1`, `$2`, ... where values are bound, or SPARQL with `${1}`, `${2}`, ...
            where they are written.
        values: For `$1`, `$2`, ...: the index of the draw in its operation, or of the register
            where the operation has a program.
        name: What its program calls it; None: it is played in its turn.
        elements: How many elements of a list it has places for; None: it has no list.
    """

    text: str
    values: tuple[int, ...] = ()
    name: str | None = None
    elements: int | None = None


@dataclass(frozen=True)
class ScriptOperation:
    """An operation of a script: its draws, made at each execution, and its statements.

    Attributes:
        name: As in the plan.
        statements: Sent one after another, or as the program says.
        draws: Values that the statements share.
        program: Logic of the driver that says which statement is next and with which values, such
            as `tpcc.payment`; None: statements are played in order, with values that are drawn.
        registers: What statements of a program bind, as it calls them: `w_id`, or `i_id.3` for the
            third element of a list, from 1.
        fixed: Its values are the first that are drawn from seed 0, at each execution of any
            session: what it returns can be compared with rows that are known.
        joint: Draws are columns of one table: each execution has the values of one row.
    """

    name: str
    statements: tuple[ScriptStatement, ...]
    draws: tuple[Draw, ...] = ()
    program: str | None = None
    registers: tuple[str, ...] = ()
    fixed: bool = False
    joint: bool = False


@dataclass(frozen=True)
class Script:
    """Everything that a run's sessions can be asked to execute; operation `n` is the plan's.

    Attributes:
        operations: In the plan's order.
        prepared: Whether statements are prepared once a session; else each execution parses and
            plans anew, as a query that is asked once does.
        pipelined: Whether statements that need no earlier answer are sent before it has come.
        parameters: What programs are told, by name: numbers such as `warehouses`.
    """

    operations: tuple[ScriptOperation, ...]
    prepared: bool = False
    pipelined: bool = False
    parameters: dict[str, int] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """Return the script as JSON values, for the record and the driver."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> Script:
        """The script that `facts` was made from."""
        operations = tuple(_operation(operation) for operation in facts["operations"])
        return cls(
            operations,
            facts["prepared"],
            facts.get("pipelined", False),
            dict(facts.get("parameters", {})),
        )


def _operation(operation: dict[str, Any]) -> ScriptOperation:
    statements = tuple(
        ScriptStatement(
            statement["text"],
            tuple(statement["values"]),
            statement.get("name"),
            statement.get("elements"),
        )
        for statement in operation["statements"]
    )
    draws = tuple(
        Draw(draw["name"], _tuple(draw["integer"]), _choice(draw["choice"]))
        for draw in operation["draws"]
    )
    program, registers = operation.get("program"), tuple(operation.get("registers", ()))
    fixed, joint = operation.get("fixed", False), operation.get("joint", False)
    return ScriptOperation(operation["name"], statements, draws, program, registers, fixed, joint)


def _choice(values: list[Any] | None) -> tuple[Given, ...] | None:
    if values is None:
        return None
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)


def _tuple(values: list[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
