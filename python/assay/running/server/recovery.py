"""Queries a recovered database with the driver after a crash.

A database after a kill and restart, and one on a snapshot of its device, get the same queries:
which of the run's writes exist, and whether the conditions hold.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

from assay.model.errors import AssayError, RunFailedError
from assay.model.units import NS_PER_S
from assay.record.layout import DRIVER_FILE, PHASE_RECOVERED, RECOVERED_DIR
from assay.record.writer import write_json
from assay.running.asked.driver_plan import plan_of
from assay.running.processes.hosting import host

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from assay.record.writer import RunWriter
    from assay.running.asked.asked_run import Asked
    from assay.running.processes.launcher import Guardian
    from assay.running.server.subject import Subject

HOST_LOG = "host.log"


@dataclass
class Recovered:
    """One database recovered after a crash, in the form of run.json.

    Attributes:
        number: Number from 1, which is also its directory in `raw/recovered/`.
        kind: What it was recovered from: a `kill`, or a `copy` of the device.
        before_ns: Writes acknowledged before this time must exist; None means all acknowledged
            writes.
        recovery_s: Seconds from the engine's start to its first answer; None means it never
            answered.
        error: Reason why it could not be queried; None if it was queried.
    """

    number: int
    kind: str
    before_ns: int | None = None
    recovery_s: float | None = None
    error: str | None = None


class Recoveries:
    """All recovered databases of one run."""

    def __init__(self, asked: Asked, guardian: Guardian, run: RunWriter) -> None:
        self._asked = asked
        self._guardian = guardian
        self._run = run
        self._known: list[Recovered] = []

    def add(
        self, kind: str, before_ns: int | None, bring_up: AbstractContextManager[Subject]
    ) -> Recovered:
        """Recover and query a database; a failure of the engine is recorded.

        Args:
            kind: Source of the recovery, as in `Recovered.kind`.
            before_ns: Writes acknowledged before this time must exist; None means all.
            bring_up: Context that starts the engine on the remaining data, waits for its answer,
                and stops it at the end. The process that queries an embedded engine starts it.
        """
        recovered = self._begun(kind, before_ns)
        begun_ns = monotonic_ns()
        try:
            with bring_up as subject:
                took_s = (monotonic_ns() - begun_ns) / NS_PER_S
                started_s = ask_recovered(
                    self._asked, self._guardian, subject, self._run, recovered.number
                )
                # For an embedded engine only its own process can measure this.
                recovered.recovery_s = started_s if subject.embedded else took_s
        except AssayError as error:
            recovered.error = str(error)
        self._tell()
        return recovered

    def add_refused(self, kind: str, before_ns: int | None, error: AssayError) -> None:
        """Record a recovered database whose data could not be read."""
        self._begun(kind, before_ns).error = str(error)
        self._tell()

    def _begun(self, kind: str, before_ns: int | None) -> Recovered:
        recovered = Recovered(len(self._known) + 1, kind, before_ns)
        self._known.append(recovered)
        self._tell()
        return recovered

    def _tell(self) -> None:
        self._run.update(recovered=[asdict(recovered) for recovered in self._known])


def ask_recovered(
    asked: Asked, guardian: Guardian, subject: Subject, run: RunWriter, number: int
) -> float:
    """Query a recovered database, and return the seconds until it answered.

    The results are in `raw/recovered/<number>/` in the form of any load: `events.arrows`, and in
    `results/` the rows of each operation; see `Run.recovered`.

    Returns:
        The result is the seconds that the host took to start or reach the engine.

    Raises:
        AssayError: If the database cannot be queried, or an operation of the workload failed on it.
    """
    raw = run.raw / RECOVERED_DIR / str(number)
    raw.mkdir(parents=True)
    script = asked.workload.recovered_script(asked.dialects, asked.request.scale)
    job = subject.job() | _job(asked, [operation.name for operation in script.operations])
    job |= {"script": script.facts(), "raw_dir": str(raw)}
    with host(guardian, "drive", job, raw / HOST_LOG) as asking:
        ready = asking.next()
        asking.send("go")
        while (message := asking.next())["kind"] != "driven":
            pass
    report = message["report"]
    write_json(raw / DRIVER_FILE, report)
    if report["errors"]:
        first = report["errors"][0]
        raise RunFailedError(
            f"the server answers, but {script.operations[first['operation']].name} failed: "
            f"{first['class']}: {first['message']}"
        )
    return float(ready["started_s"])


def _job(asked: Asked, operations: list[str]) -> dict[str, Any]:
    """Return the driver's job that executes each recovery query once."""
    phase = {
        "name": PHASE_RECOVERED,
        "arrival": {"shape": "power"},
        "operations": list(range(len(operations))),
        "passes_min": 1,
    }
    return {
        "clients": 1,
        "plan": plan_of(asked.request, operations, [phase]),
        "metered": None,
        "reads_of": None,
        "counters": False,
        "probed_s": None,
        "tried": None,
        "device_stat": None,
        "explained": 0,
        "cpus": [],
        "plans": False,
        "plans_executed": False,
        "plans_only": False,
        "hypothetical_indexes": [],
        "filling": None,
        "looks_into_cache": False,
        "share": None,
    }
