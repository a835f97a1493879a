"""Types for a session's script: operations and their statements.

A script is plain data. A script is made from a workload's files, stored in the record, and read by
the driver (`assay-model`, `script.rs`), where each operation's values are drawn.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

# A value in the form in which a draw returns it.
Given = str | int | tuple[int, int] | None


@dataclass(frozen=True)
class Draw:
    """Rule that draws a parameter's value at each execution.

    Attributes:
        name: Name of the parameter in the text.
        integer: Bounds of a uniformly drawn integer, both included.
        choice: Values of which one is drawn uniformly. A pair is a decimal, as digits and scale;
            None is SQL's NULL. Exactly one of `integer` and `choice` is given.
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
        values: For each of `$1`, `$2`, ... the index of the operation's draw, or of its register if
            the operation has a program.
        name: Name that the program uses; None if the statement is executed in its turn.
        elements: Number of list elements that it has places for; None if it has no list.
    """

    text: str
    values: tuple[int, ...] = ()
    name: str | None = None
    elements: int | None = None


@dataclass(frozen=True)
class ScriptOperation:
    """A script's operation: the parameters drawn at each execution, and its statements.

    Attributes:
        name: Name in the load plan.
        statements: Statements, which are sent in order, or as the program decides.
        draws: Values that the statements share.
        program: Driver program that chooses the next statement and its values, such as
            `tpcc.payment`; None if statements are executed in order, with drawn values.
        registers: The program's names of bound values: `w_id`, or `i_id.3` for the third element of
            a list.
        fixed: Whether each execution of any session uses the first values drawn from seed 0. The
            result of a fixed operation can then be compared with known rows.
        joint: Whether the draws are columns of one table. Each execution then has the values of one
            row.
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
    """All operations that a run's sessions can execute, in the order of the load plan.

    Attributes:
        operations: The operations, in the order of the load plan.
        prepared: Whether statements are prepared once per session; otherwise each execution parses
            and plans the statement again.
        pipelined: Whether statements that do not depend on an earlier answer are sent before that
            answer arrives.
        parameters: Parameters of programs by name: numbers such as `warehouses`.
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
        """Return the script from the JSON values of `facts`."""
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
