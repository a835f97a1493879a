"""Names of a run directory's parts and its schema version, shared by writer and reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA_VERSION = 1

RUN_FILE = "run.json"
ENVIRONMENT_FILE = "environment.json"
SEAL_FILE = "SEAL"
RAW_DIR = "raw"
RESULTS_DIR = "results"
EXPECTED_DIR = "expected"
EXPECTED_ORIGIN_FILE = "origin.json"
DERIVED_DIR = "derived"
LOG_FILE = "assay.log"
DRIVER_FILE = "driver.json"
# The engine's own text of how it stood, by edge of the measured part.
STATUS_FILES = {"start": "status-start.txt", "end": "status-end.txt"}
SAMPLING_FILE = "profile.json"
# How far mixes were, and what the engine had read by then; of clients that play an order.
MIXES_STREAM = "mixes"
# Answered statements, each with its operation and its time.
STATEMENTS_STREAM = "statements"
PLANS_DIR = "plans"
PLANS_FILE = "plans.json"
# Below it a directory for each database that was recovered, by its number.
RECOVERED_DIR = "recovered"
# What comes of other hosts lies there until the end, when it is merged.
FLEET_DIR = "fleet"
# Samples of the host that the run was started on, where the engine's is another one.
RUN_HOST_DIR = "run-host"

# Phases of a plan and accounts of processes, as streams name them. Of a power or a throughput test
# the name has its number after a hyphen.
PHASE_BEFORE = "before"
PHASE_WARMUP = "warmup"
PHASE_MEASURED = "measured"
PHASE_POWER = "power"
PHASE_THROUGHPUT = "throughput"
PHASE_AFTER = "after"
# Of a recovered database, whose streams are its own.
PHASE_RECOVERED = "recovered"
ACCOUNT_ENGINE_AND_DRIVER = "engine and driver"
ACCOUNT_ENGINE = "engine"
ACCOUNT_DRIVER = "driver"
ACCOUNT_PROBES = "probes"
ACCOUNT_BRIDGE = "bridge"
ENGINE_ACCOUNTS = (ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER)

# What a record is of, where it is not of a workload's run.
KIND_RUN = "run"
KIND_CEILING: Final = "ceiling"
# Of a server's own statements: nothing was driven.
KIND_OBSERVED: Final = "observed"

# What of a query `request.remove` names, beside single parts of it.
COMPUTATION = "computation"

STATUS_RUNNING = "running"
# The state that loading left, among those that a run can begin in.
LOADED = "loaded"
STATUS_COMPLETE = "complete"
STATUS_FAILED = "failed"
STATUS_INTERRUPTED = "interrupted"


def measured_phases(names: Iterable[str]) -> tuple[str, ...]:
    """Return the phases of a run whose operations count in its figures.

    For a test with several streams these are its power phases, because operations of concurrent
    streams slow each other.
    """
    ordered = sorted(set(names))
    for kind in (PHASE_MEASURED, PHASE_POWER, PHASE_THROUGHPUT):
        phases = tuple(name for name in ordered if name.partition("-")[0] == kind)
        if phases:
            return phases
    return ()
