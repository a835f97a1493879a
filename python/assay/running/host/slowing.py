"""Makes a resource slower for the engine only: parses the request and executes it.

A separate process samples the engine's tasks and stops them in proportion to their resource use.
The guardian starts it and resumes all tasks that it leaves stopped.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay.model.errors import RunFailedError, UsageError, suggestion
from assay.record.layout import ACCOUNT_PROBES
from assay.running.processes.control import Channel
from assay.running.processes.process_table import live_descendants

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from assay.record.writer import RunWriter
    from assay.running.asked.request import RunRequest
    from assay.running.processes.launcher import Guardian
    from assay.running.server.subject import Subject

log = logging.getLogger(__name__)

CPU, DISK = "cpu", "disk"
NAMES = (CPU, DISK)
FACTOR_MAX = 100.0
COMMAND = [sys.executable, "-m", "assay.running.processes.slower"]
LOG_FILE = "slower.log"
GRACE_S = 5.0
ANSWER_PATIENCE_S = 30.0


def parse_slow(asked: Mapping[str, str]) -> dict[str, float]:
    """Return the slowing factors of `--slow` by the resource's name.

    Raises:
        UsageError: If a resource is unknown or a factor would slow nothing.
    """
    return {name: _factor(name, text.strip()) for name, text in asked.items()}


def _factor(name: str, text: str) -> float:
    if name not in NAMES:
        raise UsageError(f"--slow {name}={text}: unknown; {suggestion(name, list(NAMES))}")
    try:
        factor = float(text)
    except ValueError:
        factor = float("nan")
    if not 1.0 <= factor <= FACTOR_MAX:
        raise UsageError(
            f"--slow {name}={text}: write a factor from 1 (measured, not slowed) to "
            f"{FACTOR_MAX:g}, such as {name}=2"
        )
    return factor


def check_slow(request: RunRequest, kind: str) -> None:
    """Refuse to slow an engine without processes, or with processes of other users.

    Args:
        request: The request of the run.
        kind: Kind of engine: `embedded`, `server` or `none`.

    Raises:
        UsageError: If the request is refused. The error message says what to change.
    """
    if not request.slow:
        return
    names = ", ".join(request.slow)
    if request.dsn is not None:
        raise UsageError(
            f"--slow {names}: Assay does not pause the processes of a running server: remove "
            "--slow or --dsn"
        )
    if kind == "none":
        raise UsageError(
            f"--slow {names}: {request.engine} has no process of its own: remove --slow"
        )


@contextmanager
def slowed(
    request: RunRequest,
    guardian: Guardian,
    subject: Subject,
    host_pids: Sequence[int],
    data: Path,
    run: RunWriter,
) -> Iterator[dict[int, str]]:
    """Slow a resource of the engine during the block, by a separate process.

    run.json records the result. Without a request, nothing is slowed.

    Raises:
        RunFailedError: If the engine cannot be slowed.
    """
    if not request.slow:
        yield {}
        return
    pids = host_pids if subject.embedded else subject.pids
    job = {
        "raw_dir": str(run.raw),
        "processes": _known(pids),
        "roots_listen": not subject.embedded,
        "factors": request.slow,
        "data": str(data),
        "cpus": request.pin.get("client", []),
    }
    ours, theirs = socket.socketpair()
    child = guardian.start(
        COMMAND,
        env=os.environ,
        cwd=guardian.directory,
        log=run.raw / LOG_FILE,
        stop_grace_s=GRACE_S,
        control=theirs,
        stops_others=True,
    )
    theirs.close()
    channel = Channel(ours)
    try:
        channel.send("slow", **job)
        started = _answer(channel, run.raw / LOG_FILE)
        # Some of its processes may have ended before the slower opened them.
        if (ended := subject.last_words()) is not None:
            raise RunFailedError(f"--slow: the engine cannot be slowed: {ended}")
        yield {child.pid: ACCOUNT_PROBES}
        run.update(slowing=_done(channel, request, started["scheduled"]))
    finally:
        channel.close()
        guardian.stop(child)


def _known(pids: Sequence[int]) -> list[tuple[int, int]]:
    """Return pid and start of each process: no later process has both.

    Raises `RunFailedError` if none of them runs.
    """
    # Processes that Assay started are its descendants; a process that reuses the pid is not.
    started = live_descendants(os.getpid())
    known = [(process.pid, process.start_ticks) for process in started if process.pid in pids]
    if not known:
        numbers = ", ".join(map(str, pids))
        raise RunFailedError(
            f"--slow: the engine cannot be slowed: none of the processes {numbers} is there"
        )
    return known


def _answer(channel: Channel, log_file: Path) -> dict[str, Any]:
    answer = _next(channel)
    if answer is None or answer["kind"] == "failed":
        why = f"its last words are in {log_file}" if answer is None else answer["message"]
        raise RunFailedError(f"--slow: the engine cannot be slowed: {why}")
    return answer


def _done(channel: Channel, request: RunRequest, scheduled: str) -> dict[str, Any]:
    """Return the result of slowing in the form of run.json."""
    facts = {"asked": dict(request.slow), "scheduled": scheduled}
    try:
        channel.send("end")
        answer = _next(channel)
    except OSError:
        answer = None
    if answer is None:
        log.warning(
            "the process that slows the engine ended, so the rest of the run was not slowed"
        )
        return {**facts, "error": "the slower went away before the end"}
    return {**facts, **answer["report"]}


def _next(channel: Channel) -> dict[str, Any] | None:
    try:
        return channel.receive(ANSWER_PATIENCE_S)
    except TimeoutError:
        return None
