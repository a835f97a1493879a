"""Main program of the process that slows an engine by stopping it repeatedly.

However the slower ends, the engine continues. It resumes stopped processes when it is told to end,
when its channel closes and when the guardian ends; if it is killed, the guardian resumes them.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

from assay import _core
from assay.running.processes.control import Channel

log = logging.getLogger("assay.slower")

# A real-time priority above time-sharing processes: a stop must end in time on a busy host.
PRIORITY = 1
NICE = -20


def main() -> int:
    """Slow the processes that the run names, until it requests the end.

    Returns the exit status.
    """
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s %(name)s %(levelname)s %(message)s",
    )
    # The guardian sends SIGTERM to request the end, and the kernel does when the guardian dies.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    channel = Channel(socket.socket(fileno=int(os.environ.pop("ASSAY_CONTROL_FD"))))
    try:
        job = channel.receive()
        if job is not None:
            _slow(channel, job)
    except KeyboardInterrupt:
        log.warning("the run ended early on request")
    return 0


def _slow(channel: Channel, job: dict[str, Any]) -> None:
    if job["cpus"]:
        os.sched_setaffinity(0, job["cpus"])
    scheduled = _before_others()
    try:
        slower = _core.Slower(
            job["raw_dir"],
            [(pid, start_ticks) for pid, start_ticks in job["processes"]],
            job["factors"].get("cpu", 1.0),
            job["factors"].get("disk", 1.0),
            job["roots_listen"],
            job["data"],
        )
    except OSError as error:
        channel.send("failed", message=str(error))
        return
    try:
        channel.send("slowing", scheduled=scheduled)
        channel.receive()
    finally:
        report = slower.stop()
    if report["error"]:
        log.error("ended early: %s", report["error"])
    # A process that closed the channel reads no answer.
    with suppress(OSError):
        channel.send("slowed", report=dict(report))


def _before_others() -> str:
    """Have the kernel schedule this process before the engine; return which way worked."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        pass
    else:
        return "real time"
    try:
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
    except OSError:
        return "as all others"
    return f"nice {NICE}"


if __name__ == "__main__":
    sys.exit(main())
