"""Reads plans from ClickHouse in the host process, on a separate connection."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING

from chdb import ChdbError

from assay.engines.chdb.database import asked
from assay.engines.chdb.session import bound
from assay.engines.chdb.statements import file_text, typed
from assay.engines.plan_reading import Explained

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engines.chdb.database import Database

# EXPLAIN ANALYZE executes its statement, and ClickHouse cannot roll back.
READS = re.compile(r"(?is)(?:\s|--[^\n]*\n|\()*(?:select|with)\b")
CHANGES = "it may change the data, and chDB has no transaction to take that back"


class ChdbPlans:
    """Reads plans of chDB."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._comment = database.session_comment()
        self._connection = database.connection(self._comment)

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain an operation's read-only statements by executing them."""
        for text, values in statements:
            begun_s = time.monotonic()
            native, reason = self._explained_statement(text, values, limit_s)
            yield Explained(native, reason, time.monotonic() - begun_s)

    def close(self) -> None:
        """Close nothing: the connection is closed with the database."""

    def _explained_statement(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None]:
        """Return a statement's plan, or the reason why it has none."""
        if READS.match(text) is None:
            return None, CHANGES
        kill = file_text("kill.sql", session=self._comment)
        timer = threading.Timer(limit_s, lambda: asked(self._database.own, kill))
        timer.start()
        try:
            explained = f"{file_text('plans/executed.sql')}\n{typed(text, values)}"
            table = asked(self._connection, explained, bound(values))
        except ChdbError as error:
            self._connection = self._database.again(self._connection, self._comment)
            message = " ".join(str(error).split())
            if "QUERY_WAS_CANCELLED" in message:
                return None, f"it was cancelled after {limit_s:.3g} s"
            return None, f"ClickHouse said: {message}"
        finally:
            timer.cancel()
        return None if table is None else "\n".join(table["explain"].to_pylist()), None
