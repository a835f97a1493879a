"""Advice of findings: an index, a named setting, and what can be advised for a running server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from assay.analysis.findings.changing import is_of_session
from assay.model.finding import BY_PLANS, BY_VALUES, Advice, TableChange
from assay.record.repeating import options_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.model.finding import Change

# Kinds of advice that change tables.
STATEMENTS = get_args(TableChange)
# Kinds of advice that change a setting.
SETTINGS = ("setting", "named-setting")
# Changes that no run makes on a server that Assay did not start: they alter tables for good, and
# the durability of such a server is its owner's choice.
NOT_ON_SERVERS = (
    *("durability", "row-order", "trigger", "dropped-index", "stored-values", "alike-columns"),
    *("stable-function", "stored-views"),
)
# The command that carries out advice, as `try_words` writes it.
TRY = re.compile(r"assay try \S+ [^`]+(?=`)")
# Beginning of the command, with the words that join it to other advice.
COMMAND = re.compile(r"(?:; )?`assay try ")


def index_advice(
    table: str,
    columns: Sequence[str],
    schema: str | None,
    gain_share: float,
    *,
    predicate: str | None = None,
) -> Advice:
    """Return the advice to create an index on these columns of a table.

    Args:
        table: Name of the table.
        columns: Columns of the index.
        schema: Schema of the table; None if it is not known.
        gain_share: Share of the run's time that the index would save.
        predicate: Condition of the rows in a partial index; None means all rows.
    """
    values = {"columns": ",".join(columns)} | ({} if schema is None else {"schema": schema})
    values |= {} if predicate is None else {"predicate": predicate}
    return Advice("index", table, values, gain_share)


def expression_advice(
    table: str,
    expression: str,
    schema: str | None,
    gain_share: float,
    *,
    method: str | None = None,
) -> Advice:
    """Return the advice to create an index on an SQL expression.

    Args:
        table: Name of the table.
        expression: Key of the index, with its operator class if that is not the default.
        schema: Schema of the table; None if it is not known.
        gain_share: Share of the run's time that the index would save.
        method: Access method of the index, such as `gin`; None means the engine's default.
    """
    values = {"expression": expression} | ({} if schema is None else {"schema": schema})
    values |= {} if method is None else {"method": method}
    return Advice("index", table, values, gain_share)


def computed_index_advice(
    engine: Mapping[str, Any],
    operation: str,
    table: str,
    expression: str,
    schema: str | None,
    gain_share: float,
) -> Advice | None:
    """Return the advice to index an expression; None if the engine has no way to do it.

    An engine without indexes on expressions can index a column that stores the expression, which
    the operation's query then reads.

    Args:
        engine: The engine's facts on advice, as the record has them.
        operation: Operation whose query computes the expression.
        table: Name of the table.
        expression: SQL expression of the table's columns.
        schema: Schema of the table; None if it is not known.
        gain_share: Share of the run's time that the index would save.
    """
    if engine.get("expressions"):
        return expression_advice(table, expression, schema, gain_share)
    if "stored-values" in engine.get("statements", {}):
        return Advice("stored-values", operation, {"indexed": expression}, gain_share)
    return None


def index_words(advice: Advice, expression: str) -> str:
    """Return the end of a sentence that begins with the command that tries such an index."""
    if advice.kind == "stored-values":
        return f"stores {expression} in a column with an index"
    return f"makes an index of {advice.subject} ({expression})"


def named_setting_advice(
    setting: str,
    value: str,
    gain_share: float | None,
    *,
    by_plan: bool = False,
    by_values: bool = False,
) -> Advice:
    """Return the advice to set a named setting.

    Args:
        setting: Name of the setting.
        value: Its advised value.
        gain_share: Share of the run's time that the setting would save; None if not known.
        by_plan: Whether the setting acts only by the choice of plans.
        by_values: Whether it changes the plans of some parameter values only.
    """
    values = {"value": value, **(BY_PLANS if by_plan else {}), **(BY_VALUES if by_values else {})}
    return Advice("named-setting", setting, values, gain_share)


@dataclass(frozen=True)
class ServerLimits:
    """Rights of a run's connections on a server that Assay did not start.

    Attributes:
        own_tables: Whether the run queried existing tables, which Assay did not create.
        alterable: False if the run's role may not change the tables.
        pooled: Whether a connection pooler drops the settings of sessions.
    """

    own_tables: bool
    alterable: bool = True
    pooled: bool = False


def for_server(
    advice: Advice,
    change: Change | None,
    to_try: str | None,
    facts: Mapping[str, Any],
    limits: ServerLimits,
) -> tuple[Advice | None, str | None]:
    """Return the advice and the `assay try` command for a server that Assay did not start.

    The advice is None, and its words are without a command, if `assay try` would refuse the change:
    a setting that no session can change for itself, or a change of tables that cannot be undone.

    Args:
        advice: The advised change.
        change: Its statements; None if the engine declares none.
        to_try: The command of `try_words`.
        facts: `engine.advice` of the record.
        limits: What the run's connections may do.
    """
    by_statement = advice.kind in STATEMENTS and limits.own_tables
    is_undone = change is not None and change.undo is not None
    if by_statement:
        is_tried = is_undone and limits.alterable and "statement" not in advice.values
    elif advice.kind in SETTINGS:
        is_tried = not limits.pooled and _is_of_one_session(advice, facts)
    elif advice.kind == "technique":
        # It is switched off by settings of the session.
        is_tried = not limits.pooled
    else:
        is_tried = advice.kind not in NOT_ON_SERVERS and "statement" not in advice.values
    if not is_tried:
        return None, _without_command(to_try)
    if to_try is not None and by_statement:
        to_try = TRY.sub(r"\g<0> --allow-changes", to_try, count=1)
        to_try += ", measures, and takes it back"
    return advice, to_try


def _is_of_one_session(advice: Advice, facts: Mapping[str, Any]) -> bool:
    """Return True if each session can have the advised setting for itself."""
    if advice.kind == "setting":
        return is_of_session(advice, facts)
    # Each session can change settings of the optimiser. For other settings this is not known.
    return BY_PLANS.items() <= advice.values.items()


def try_command(run_id: str, key: str, request: Mapping[str, Any]) -> str:
    """Return the `assay try` command of a finding, with the options that have to be given again.

    Args:
        run_id: The run.
        key: Key of the finding.
        request: The run's request, as the record has it.
    """
    return f"assay try {run_id} {key}{options_words(request)}"


def _without_command(to_try: str | None) -> str | None:
    """Return advice in words without an `assay try` command, which would be refused."""
    words = COMMAND.split(to_try or "", maxsplit=1)[0]
    return words or None
