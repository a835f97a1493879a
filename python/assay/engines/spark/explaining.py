"""Reads plans from Spark, by executing statements and reading the driver's report."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.link import Link
from assay.engines.bridge.statements import bound, split
from assay.engines.plan_reading import Explained
from assay.engines.spark.connecting import filled
from assay.engines.spark.programs import HOST
from assay.engines.spark.rest import Rest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engines.contract import Address

NO_GRAPH = "the driver tells nothing of its execution"
NOT_OURS = "what a driver did is asked of clusters of ours only"
ENDED = "COMPLETED"
KEPT = ("planDescription", "duration", "nodes", "edges")
LIMIT_MIN_S, PATIENCE_S, LOOK_S = 0.001, 5.0, 0.05


class SparkPlans:
    """Reads plans of Spark.

    Args:
        address: Address of a cluster; plans have only estimates if it is not a private cluster.
    """

    def __init__(self, address: Address) -> None:
        self._link = Link.connect(address)
        self._is_ours = bool(address["ours"])
        self._rest = Rest.of({"ui": (HOST, 0), **address})

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain statements by executing them on Spark one by one."""
        failure: str | None = None
        for text, values in statements:
            begun_s = time.monotonic()
            native, reason = None, failure
            if failure is None:
                native, reason = self._explained(text, values, limit_s)
                if native is None:
                    failure = "a statement before it has no plan, so it was not executed"
            yield Explained(native, reason, time.monotonic() - begun_s)

    def close(self) -> None:
        """Close the connections to Spark's driver and the bridge."""
        self._rest.close()
        self._link.close()

    def _explained(
        self, text: str, values: Sequence[object], limit_s: float
    ) -> tuple[str | None, str | None]:
        """Return the plan in Spark's own form, or the reason why there is none."""
        asked, given = bound(split(text)[0], values)
        is_over = threading.Event()
        try:
            if limit_s <= 0 or not self._is_ours:
                return self._estimated(asked, given), None if self._is_ours else NOT_OURS
            before = self._last()
            with self._limited(limit_s, is_over):
                self._link.run(asked, given)
            execution = self._execution(before)
        except (BridgeError, OSError) as error:
            late = f"it was cancelled after {limit_s:.3g} s"
            return None, late if is_over.is_set() else " ".join(str(error).split())
        return (None, NO_GRAPH) if execution is None else (json.dumps(execution), None)

    def _estimated(self, asked: str, given: Sequence[object]) -> str:
        rows = self._link.ask(filled("explain.sql", statement=asked), given).to_pylist()
        return json.dumps({"planDescription": "\n".join(str(row["plan"]) for row in rows)})

    def _last(self) -> int:
        """Return the number of the latest SQL execution in Spark; -1 without any."""
        return max((int(execution["id"]) for execution in self._executions()), default=-1)

    def _executions(self) -> list[dict[str, Any]]:
        executions = self._rest.get("sql?details=false&planDescription=false&length=1000000")
        return list(executions or [])

    def _execution(self, before: int) -> dict[str, Any] | None:
        """Return the driver's report of the one execution since another one."""
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s:
            since = [execution for execution in self._executions() if int(execution["id"]) > before]
            if since and all(execution["status"] == ENDED for execution in since):
                number = max(int(execution["id"]) for execution in since)
                execution = self._rest.get(f"sql/{number}?details=true&planDescription=true")
                return {name: execution[name] for name in KEPT} if execution else None
            time.sleep(LOOK_S)
        return None

    @contextmanager
    def _limited(self, limit_s: float, is_over: threading.Event) -> Iterator[None]:
        """Cancel a Spark statement when its time limit is over, and then set the event."""

        def end() -> None:
            is_over.set()
            with suppress(BridgeError):
                self._link.cancel()

        timer = threading.Timer(max(LIMIT_MIN_S, limit_s), end)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
