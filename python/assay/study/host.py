"""The driver's host: a process of its own that holds the driver's loop and embedded engines.

It is started by the guardian, told what to do over its control socket, and ends when that closes.
It has two jobs. `load` makes a loaded data directory; `drive` plays a plan on a copy of it.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from assay import _core
from assay.engines.contract import BulkLoads, Engine, Instance, Place
from assay.engines.discovery import find_engine
from assay.model.errors import AssayError, RunFailedError
from assay.study.control import Channel
from assay.workloads.generate import table_stream

log = logging.getLogger("assay.host")

PROGRESS_INTERVAL_S = 0.2


def main() -> int:
    """Does the one job that it is asked for. Returns the exit status."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s %(name)s %(levelname)s %(message)s",
    )
    channel = Channel(socket.socket(fileno=int(os.environ.pop("ASSAY_CONTROL_FD"))))
    job = channel.receive()
    if job is None:
        return 1
    jobs = {"load": _load, "drive": _drive}
    try:
        jobs[job.pop("kind")](channel, job)
    except AssayError as error:
        log.exception("the job failed")
        channel.send("failed", message=str(error), exit_code=error.exit_code)
    except (OSError, ValueError, RuntimeError) as error:
        log.exception("the job failed")
        message = f"{type(error).__name__}: {error}"
        channel.send("failed", message=message, exit_code=RunFailedError.exit_code)
    except BaseException as error:
        # A defect of ours or of an engine's binding: told to the owner, with the trace in the log.
        log.exception("the job broke down")
        message = "".join(traceback.format_exception_only(error)).strip()
        channel.send("failed", message=message, exit_code=RunFailedError.exit_code)
        raise
    return 0


def _started(job: dict[str, Any]) -> tuple[Engine, Instance]:
    engine = find_engine(job["engine"]).engine()
    engine.obtain()
    place = Place(data=Path(job["data"]), scratch=Path(job["scratch"]))
    place.data.mkdir(parents=True, exist_ok=True)
    place.scratch.mkdir(parents=True, exist_ok=True)
    return engine, engine.start(place, job["settings"])


def _load(channel: Channel, job: dict[str, Any]) -> None:
    """Makes tables, loads them from the generator, counts rows; tells rows and checksums."""
    engine, instance = _started(job)
    if not isinstance(engine, BulkLoads):
        raise RunFailedError(f"engine {job['engine']} cannot load tables")
    engine.create_tables(instance, job["ddl"])
    tables = {}
    for table in job["tables"]:
        tables[table] = _load_table(channel, engine, instance, job, table)
    channel.send("phase", name="statistics and checkpoint")
    engine.finish_load(instance)
    engine.stop(instance)
    channel.send("loaded", tables=tables)


def _load_table(
    channel: Channel, engine: BulkLoads, instance: Instance, job: dict[str, Any], table: str
) -> dict[str, Any]:
    stream = table_stream(job["generator"], table, job["scale"], job["threads"])
    channel.send("rows", table=table, rows=0, expected=stream.rows_expected)
    begun_s = time.monotonic()
    done = threading.Event()
    telling = threading.Thread(target=_tell_rows, args=(channel, table, stream, done))
    telling.start()
    try:
        engine.load(instance, table, stream)
    finally:
        done.set()
        telling.join()
    counted = engine.count(instance, table)
    if counted != stream.rows:
        raise RunFailedError(
            f"{table}: {stream.rows} rows were sent and {counted} are in the table after loading"
        )
    channel.send("rows", table=table, rows=counted, expected=counted)
    seconds = time.monotonic() - begun_s
    return {"rows": counted, "checksum": stream.checksum, "seconds": seconds}


def _tell_rows(
    channel: Channel, table: str, stream: _core.TableStream, done: threading.Event
) -> None:
    while not done.wait(PROGRESS_INTERVAL_S):
        channel.send("rows", table=table, rows=stream.rows, expected=stream.rows_expected)


def _drive(channel: Channel, job: dict[str, Any]) -> None:
    """Starts the engine, waits for the word to go, plays the plan, tells the driver's report."""
    engine, instance = _started(job)
    settings = engine.effective_settings(instance)
    sessions = engine.sessions(instance, job["statements"], job["clients"])
    channel.send("ready", effective_settings=settings)
    go = channel.receive()
    if go is None or go["kind"] != "go":
        return
    cancel = _core.CancelFlag()
    threading.Thread(target=_hear_cancel, args=(channel, cancel), daemon=True).start()
    last_told_s = 0.0

    def tick(phase: str, ended: int, phase_ns: int) -> None:
        nonlocal last_told_s
        if time.monotonic() - last_told_s >= PROGRESS_INTERVAL_S:
            last_told_s = time.monotonic()
            channel.send("progress", phase=phase, ended=ended, phase_ns=phase_ns)

    report = _core.drive(
        json.dumps(job["plan"]), sessions, job["raw_dir"], cancel, tick, job["metered"]
    )
    del sessions
    engine.stop(instance)
    channel.send("driven", report=json.loads(report))


def _hear_cancel(channel: Channel, cancel: _core.CancelFlag) -> None:
    """Any message after 'go', and the end of the channel, ask for the end of the run."""
    channel.receive()
    cancel.cancel()


if __name__ == "__main__":
    sys.exit(main())
