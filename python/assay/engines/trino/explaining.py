"""Reads plans from a Trino cluster, by executing statements and reading their reports.

The coordinator keeps a report of each query, with its plan by stages and its operators' figures;
EXPLAIN ANALYZE prints the same as text. Statements that change data are not explained.
"""

from __future__ import annotations

import re
import time
from datetime import date, datetime
from decimal import Decimal
from types import NoneType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from assay.engines.bridge.statements import bound, split
from assay.engines.plan_reading import Explained
from assay.engines.trino.connecting import Rest, filled_text
from assay.engines.trino.plans import kept
from assay.engines.trino.query_counts import stages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.engines.contract import Address

# Without this property, a query's report has no estimates.
WITH_ESTIMATES = "collect_plan_statistics_for_all_queries=true"
STATEMENT, PREPARED = "/v1/statement", "assay"
READS = re.compile(r"\s*\(*\s*(select|with|values|table)\b", re.IGNORECASE)
TRANSACTION_WORDS = {"begin", "commit", "rollback", "start"}
OF_TRANSACTIONS = "it steers a transaction, and Trino has one for each statement"
CHANGES = "it changes data, which Trino would not take back, so it was not executed"
NOT_EXECUTED = "Trino tells a plan that it did not execute as text only, which is not read"
TOO_LATE = "it was cancelled after {0:.3g} s"
WHOLE_PATIENCE_S, LOOK_S = 2.0, 0.01


class RefusedError(Exception):
    """Error: Trino refuses a statement."""


class TrinoPlans:
    """Reads plans of Trino."""

    def __init__(self, address: Address) -> None:
        self._rest = Rest.of(address)
        self._headers = {
            "X-Trino-Catalog": address["catalog"],
            "X-Trino-Schema": address["schema"],
            "X-Trino-Source": "assay plans",
        }
        pairs = [pair for pair in address.get("session", "").split(";") if pair]
        properties = [pair.replace(":", "=", 1) for pair in pairs]
        self._headers["X-Trino-Session"] = ",".join([*properties, WITH_ESTIMATES])

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain statements by executing them on Trino, each in its own transaction."""
        for text, values in statements:
            begun_s = time.monotonic()
            try:
                native, reason = self._explained_statement(text, values, limit_s)
            except (OSError, RefusedError, ValueError) as error:
                native, reason = None, f"Trino said: {error}"
            yield Explained(native, reason, time.monotonic() - begun_s)

    def close(self) -> None:
        """Close the connection to Trino."""
        self._rest.close()

    def _explained_statement(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None]:
        """Return a statement's plan, and the reason if it is missing or estimated only."""
        marked, given = bound(split(text)[0], values)
        if (marked.split(maxsplit=1) or [""])[0].lower() in TRANSACTION_WORDS:
            return None, OF_TRANSACTIONS
        if not READS.match(marked):
            return None, CHANGES
        if limit_s <= 0:
            return None, NOT_EXECUTED
        query = self._run(marked, given, limit_s)
        if query is None:
            return None, TOO_LATE.format(limit_s)
        return kept(self._account(query)), None

    def _account(self, query: str) -> dict[str, Any]:
        """Return the report of a Trino query, once all its tasks have ended."""
        deadline_s = time.monotonic() + WHOLE_PATIENCE_S
        while True:
            account: dict[str, Any] = self._rest.get(f"/v1/query/{query}")
            if account["finalQueryInfo"] or time.monotonic() > deadline_s:
                return {**account, "stages": list(stages(account))}
            time.sleep(LOOK_S)

    def _run(self, sql: str, values: Sequence[object], limit_s: float) -> str | None:
        """Execute a statement to its end; return its query id, None if it took too long.

        Raises:
            RefusedError: If Trino refuses the statement; has Trino's message.
            OSError: If the coordinator does not answer.
        """
        headers, body = self._headers, sql
        if values:
            headers = headers | {"X-Trino-Prepared-Statement": f"{PREPARED}={quote(sql, safe='')}"}
            given = ", ".join(map(literal, values))
            body = filled_text("plans/execute.sql", name=PREPARED, values=given)
        deadline_s = time.monotonic() + limit_s
        answer = self._rest.ask("POST", STATEMENT, body, headers)
        while True:
            if "error" in answer:
                raise RefusedError(answer["error"]["message"])
            if "nextUri" not in answer:
                return str(answer["id"])
            following = urlsplit(answer["nextUri"]).path
            if time.monotonic() > deadline_s:
                self._rest.ask("DELETE", following)
                return None
            answer = self._rest.get(following)


def literal(value: object) -> str:
    """Return a value as a SQL literal.

    Raises `ValueError` for a value of another type.
    """
    for kind, written in LITERALS.items():
        if isinstance(value, kind):
            return str(written(value))
    raise ValueError(f"{value!r} cannot be used as a statement's parameter value")


# The first matching type is used, because in Python bool is an int and datetime is a date.
LITERALS: dict[type, Callable[..., object]] = {
    NoneType: lambda _: "null",
    bool: lambda value: str(value).lower(),
    int: str,
    Decimal: lambda value: f"decimal '{value:f}'",
    float: lambda value: f"double '{value!r}'",
    datetime: lambda value: f"timestamp '{value:%Y-%m-%d %H:%M:%S.%f}'",
    date: lambda value: f"date '{value.isoformat()}'",
    str: lambda value: "'" + value.replace("'", "''") + "'",
}
