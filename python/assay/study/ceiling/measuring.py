"""Measures the maximum speed of a host's hardware and writes a record.

Invariant: only Assay's own file is read or written. The file has no name, so it disappears with
    this process, however the process ends.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay import _core
from assay.model.errors import RunFailedError
from assay.record.layout import KIND_CEILING
from assay.record.writer import RunWriter, ensure_runs_dir, new_run_id
from assay.running.host.environment import describe_host, describe_ourselves
from assay.study.ceiling.place import check_place, describe_medium, last_cache_bytes
from assay.study.ceiling.trials import Machine, in_order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.running.telling import Teller
    from assay.study.ceiling.trials import CeilingRequest

# Bytes that are written between two checks for a requested end.
FILL_BYTES = 64 << 20


def measure_ceiling(request: CeilingRequest, runs: Path, teller: Teller) -> Path:
    """Make all trials of the host's hardware, and return the directory of the record.

    Raises:
        UsageError: If the directory cannot hold such a file. In this case nothing was written.
        RunFailedError: If the run ended early. The partial record of a failed run is kept.
        KeyboardInterrupt: On Ctrl-C, after the record was ended.
    """
    directory = request.directory.absolute()
    check_place(directory, request.size_bytes)
    asked = {"kind": KIND_CEILING, "request": request.facts()}
    run_id = new_run_id(KIND_CEILING, "host")
    with RunWriter(ensure_runs_dir(runs), run_id, asked) as run, _os_errors_reported():
        teller.record(run.dir)
        sweep = _core.CeilingSweep(run.raw, request.seed)
        try:
            file = _filled(sweep, directory, request, teller)
            ring_refusal = _core.io_uring_refusal()
            environment = _environment(directory, file, ring_refusal)
            run.write_environment(environment)
            _play(sweep, request, _machine(environment), teller)
        finally:
            sweep.finish()
        teller.phase("seal")
        run.seal()
        return run.dir


@contextmanager
def _os_errors_reported() -> Iterator[None]:
    """Raise `RunFailedError` with the message of an `OSError`."""
    try:
        yield
    except OSError as error:
        raise RunFailedError(str(error)) from error


def _filled(
    sweep: _core.CeilingSweep, directory: Path, request: CeilingRequest, teller: Teller
) -> dict[str, Any] | None:
    """Create the trial file with bytes that no disk can compress or deduplicate.

    The result is None if the disk is not measured.
    """
    if "disk" not in request.parts:
        return None
    teller.phase("file")
    file = sweep.open(directory, request.size_bytes)
    written = 0
    while written < file["size_bytes"]:
        written = sweep.fill(FILL_BYTES)
        teller.amount(written / (1 << 20), file["size_bytes"] / (1 << 20), "MiB")
    return {name: file[name] for name in ("size_bytes", "direct_align_bytes")}


def _environment(
    directory: Path, file: dict[str, Any] | None, ring_refusal: str | None
) -> dict[str, Any]:
    host = describe_host(directory, directory)
    return {
        "host": host,
        "assay": describe_ourselves(),
        "medium": describe_medium(host["data_device"]),
        "file": file,
        "last_cache_bytes": last_cache_bytes(),
        "io_uring_refusal": ring_refusal,
    }


def _machine(environment: dict[str, Any]) -> Machine:
    return Machine(
        cpus=len(os.sched_getaffinity(0)),
        memory_bytes=environment["host"]["memory_bytes"],
        last_cache_bytes=environment["last_cache_bytes"],
        direct_align_bytes=(environment["file"] or {}).get("direct_align_bytes", 1),
        has_ring=environment["io_uring_refusal"] is None,
    )


def _play(
    sweep: _core.CeilingSweep, request: CeilingRequest, machine: Machine, teller: Teller
) -> None:
    teller.phase("trials")
    ordered = list(in_order(request, machine))
    make = {"disk": sweep.disk, "memory": sweep.memory, "core": sweep.core}
    begun_s = time.monotonic()
    for done, (round_number, trial) in enumerate(ordered):
        make[trial.of](json.dumps(trial.asked(round_number, request.time_s)))
        passed_s = time.monotonic() - begun_s
        teller.amount(passed_s, passed_s * len(ordered) / (done + 1), "s")
