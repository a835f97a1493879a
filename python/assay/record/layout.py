"""Names of the files in a run directory, and its schema version."""

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
# The engine's own status text, at the start and end of the measured part.
STATUS_FILES = {"start": "status-start.txt", "end": "status-end.txt"}
SAMPLING_FILE = "profile.json"
# Progress of mixes with the engine's reads so far, for clients that execute a sequence.
MIXES_STREAM = "mixes"
# Answered statements, each with its operation and time.
STATEMENTS_STREAM = "statements"
PLANS_DIR = "plans"
PLANS_FILE = "plans.json"
# Directory that holds one numbered directory for each recovered database.
RECOVERED_DIR = "recovered"
# Directory of files from other hosts, which are merged at the end of the run.
FLEET_DIR = "fleet"
# Samples of the host where the run was started, if the engine runs on another host.
RUN_HOST_DIR = "run-host"

# Names in streams of a plan's phases and of process accounts. In a power or throughput test, the
# name of a phase ends with a hyphen and its number.
PHASE_BEFORE = "before"
PHASE_WARMUP = "warmup"
PHASE_MEASURED = "measured"
PHASE_POWER = "power"
PHASE_THROUGHPUT = "throughput"
PHASE_AFTER = "after"
# Account of a recovered database, which has its own streams.
PHASE_RECOVERED = "recovered"
ACCOUNT_ENGINE_AND_DRIVER = "engine and driver"
ACCOUNT_ENGINE = "engine"
ACCOUNT_DRIVER = "driver"
ACCOUNT_PROBES = "probes"
ACCOUNT_BRIDGE = "bridge"
ENGINE_ACCOUNTS = (ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER)

# Kinds of records.
KIND_RUN = "run"
KIND_CEILING: Final = "ceiling"
# Record of other clients' statements on a server, without a load by Assay.
KIND_OBSERVED: Final = "observed"
# Record of plans that were captured without execution; nothing in it was timed.
KIND_PLANNED: Final = "planned"

# Value of `request.remove` for a query without its computation.
COMPUTATION = "computation"
# Values of `request.remove` for what is written in another form, with the same result.
ARRAY_ELEMENT: Final = "array-element"
COUNTED_ROWS: Final = "counted-rows"
DISTINCT_JOIN: Final = "distinct-join"
EITHER_JOIN: Final = "either-join"
FAR_PAGE: Final = "far-page"
RUNNING_TOTAL: Final = "running-total"
# Another form of an update: it changes fewer rows, and leaves the table with the same values.
CHANGED_ROWS: Final = "changed-rows"
# Statistics of an operation's temporary table: `analyzed:` and the engine's statement for them.
ANALYZED: Final = "analyzed"
# Tables in the place of views that rank rows: they have the rows of the views.
STORED_VIEWS: Final = "stored-views"
SAME_RESULT = (*(ARRAY_ELEMENT, COUNTED_ROWS, DISTINCT_JOIN, EITHER_JOIN, FAR_PAGE, RUNNING_TOTAL),)

STATUS_RUNNING = "running"
# The starting state that loading left.
LOADED = "loaded"
STATUS_COMPLETE = "complete"
STATUS_FAILED = "failed"
STATUS_INTERRUPTED = "interrupted"


def changing_result(removed: Iterable[str]) -> list[str]:
    """Return the values of `request.remove` with which queries may return other rows."""
    kinds = {part: part.rpartition("/")[2].partition(":")[0] for part in removed}
    return [
        part for part, kind in kinds.items() if kind not in (*SAME_RESULT, ANALYZED, STORED_VIEWS)
    ]


def measured_phases(names: Iterable[str]) -> tuple[str, ...]:
    """Return the phases of a run whose operations count in its results.

    For a test with several streams these are its power phases, because operations of concurrent
    streams slow each other.
    """
    ordered = sorted(set(names))
    for kind in (PHASE_MEASURED, PHASE_POWER, PHASE_THROUGHPUT):
        phases = tuple(name for name in ordered if name.partition("-")[0] == kind)
        if phases:
            return phases
    return ()
