"""Reads plans from DuckDB in the host process, on a separate cursor that changes nothing."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from assay.engines.plan_reading import Explained

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CONF = Path(__file__).parent / "conf" / "plans"
SETTING = {duckdb.StatementType.SET, duckdb.StatementType.VARIABLE_SET}
OF_SETTINGS = "DuckDB makes no plan for settings; it was executed without"
OF_ESTIMATES = "estimates were asked for, and it was not executed"
OF_TRANSACTIONS = "it steers a transaction, and the capture has one of its own"


class DuckPlans:
    """Reads plans of DuckDB."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        connection.execute(_file("coverage.sql"))

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain an operation by executing its statements in a transaction that is rolled back."""
        failed: str | None = None
        self._connection.begin()
        try:
            for text, values in statements:
                begun_s = time.monotonic()
                if failed is None:
                    native, reason, is_broken = self._explained_statement(text, values, limit_s)
                    failed = "a statement before it failed" if is_broken else None
                else:
                    native, reason = None, failed
                yield Explained(native, reason, time.monotonic() - begun_s)
        finally:
            with contextlib.suppress(duckdb.Error):
                self._connection.rollback()

    def close(self) -> None:
        """Close DuckDB's cursor."""
        self._connection.close()

    def _explained_statement(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None, bool]:
        """Return a statement's plan, why it is missing or estimated, and if the transaction failed.

        An error aborts the transaction, so later statements cannot be explained.
        """
        estimated = None
        try:
            if (why := self._without_plan(text)) is not None:
                return None, why, False
            estimated = self._explain_text("estimated.sql", text, values)
            if not limit_s:
                return estimated, OF_ESTIMATES, False
            profile = self._within(limit_s, "executed.sql", text, values)
        except duckdb.InterruptException:
            return estimated, f"it was cancelled after {limit_s:.3g} s", True
        except duckdb.Error as error:
            return estimated, f"DuckDB said: {' '.join(str(error).split())}", True
        if "operator" in json.loads(profile):
            return profile, None, False
        return estimated, "DuckDB told no profile of it", False

    def _without_plan(self, text: str) -> str | None:
        """Return why a statement has no plan; None if it has one."""
        kinds = {statement.type for statement in self._connection.extract_statements(text)}
        if duckdb.StatementType.TRANSACTION in kinds:
            return OF_TRANSACTIONS
        if not kinds or not kinds <= SETTING:
            return None
        self._connection.execute(text)
        return OF_SETTINGS

    def _within(self, limit_s: float, how: str, text: str, values: Sequence[object]) -> str:
        timer = threading.Timer(limit_s, self._connection.interrupt)
        timer.start()
        try:
            return self._explain_text(how, text, values)
        finally:
            timer.cancel()

    def _explain_text(self, how: str, text: str, values: Sequence[object]) -> str:
        asked = self._connection.execute(f"{_file(how)}\n{text}", list(values) or None)
        row = asked.fetchone()
        return "" if row is None else str(row[-1])


def _file(name: str) -> str:
    return (CONF / name).read_text(encoding="utf-8").strip()
