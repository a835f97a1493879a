"""Traces all requests to block devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._core import RequestTracer
from assay.probes.contract import Cost

if TYPE_CHECKING:
    from assay.probes.contract import Target

FLUSH_INTERVAL_S = 1.0


class RequestsProbe:
    """Traces all requests to block devices by the kernel."""

    name = "requests"
    stream = "probe-requests"
    cost = "some hundred nanoseconds in the kernel at each request, and a row of the record"

    def __init__(self) -> None:
        self._tracer: RequestTracer | None = None

    def applies(self, target: Target) -> bool:
        """Return True if a trace of block requests was requested."""
        return target.block_trace

    def refusal(self, target: Target) -> str | None:  # noqa: ARG002 - where it was asked for it runs
        """Return None, because a requested trace is always attempted."""
        return None

    def start(self, target: Target) -> None:
        """Start tracing disk requests, and wait until the streams exist.

        Raises:
            OSError: If the kernel refuses. The error message says how to allow it.
        """
        self._tracer = RequestTracer(target.raw_dir)

    def stop(self) -> Cost:
        """Read the remaining requests and end tracing."""
        if self._tracer is None:
            raise RuntimeError("probe requests was stopped before it was started")
        report = self._tracer.stop()
        self._tracer = None
        return Cost(
            report["samples"],
            report["cpu_ns"],
            report["longest_ns"],
            report["error"],
            FLUSH_INTERVAL_S,
            notes=tuple(report["notes"]),
        )


probe = RequestsProbe
