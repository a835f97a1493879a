"""Sentences on data that a record lacks, and how to measure it."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from assay.analysis.time.split import BY_DELAY_ACCOUNTING
from assay.analysis.time.where import BY_LOOKS
from assay.model.secrets import HIDDEN
from assay.record.layout import (
    ACCOUNT_DRIVER,
    ENGINE_ACCOUNTS,
    KIND_OBSERVED,
    STATUS_RUNNING,
)

if TYPE_CHECKING:
    from assay.record.reader import Run
    from assay.report.documents.run import RunDocument

STREAM_WORDS = {
    "events": "operations",
    "tasks": "where each operation's time went",
    "system": "memory and pressure of the whole machine",
    "cpus": "CPU time of the whole machine",
    "processes": "CPU time and memory of each account",
    "disks": "traffic of the disks",
}
# Methods of measuring disk waits that are exact enough to need no caveat.
EXACT_ENOUGH = {BY_DELAY_ACCOUNTING, BY_LOOKS}
OBSERVED_NO_PROFILE = "an observation takes no CPU samples of a running server."
WAITS = "waits"


def not_measured(run: Run, document: RunDocument) -> list[str]:
    """Return texts on the data that the record lacks, each with the reason."""
    absent = [
        f"{meaning.capitalize()}: the record has no stream {name}{_ended(document)}."
        for name, meaning in STREAM_WORDS.items()
        if not run.has(name)
    ]
    absent += [
        f"{result['reason'][:1].upper()}{result['reason'][1:]}."
        for result in document["checks"]
        if not result["measured"]
    ]
    absent += [
        f"{sentence[:1].upper()}{sentence[1:]}"
        for sentence in (
            why_no_profile(run, document),
            why_no_counters(run, document),
            why_no_sessions(run, document),
            why_no_waits(run, document),
            why_no_plans(document),
        )
        if sentence is not None
    ]
    return [*absent, *_disk_words(run, document)]


def why_no_profile(run: Run, document: RunDocument) -> str | None:
    """Return why there are no CPU samples, with the remedy; None if there are samples."""
    if document["profile"] is not None:
        return None
    return f"CPU samples: not measured, {no_profile(run)}"


def run_command(run: Run) -> str:
    """Return the command for a similar run: same workload, engine and data."""
    request = run.facts["request"]
    command = f"assay run {quote(request['workload'])}"
    if request.get("dsn") is not None:
        command += f" --dsn {'...' if HIDDEN in request['dsn'] else quote(request['dsn'])}"
    else:
        command += f" --engine {request['engine']}"
    if (run.facts.get("workload") or {}).get("own_tables"):
        return command
    return f"{command} --scale {request['scale']:g}"


def no_profile(run: Run) -> str:
    """Return why a record has no CPU samples, and the remedy."""
    return OBSERVED_NO_PROFILE if run.kind == KIND_OBSERVED else _run_without_profile(run)


def _run_without_profile(run: Run) -> str:
    """Return why a run has no CPU samples, and the remedy."""
    probe = run.facts.get("probes", {}).get("profile") or {}
    request = run.facts["request"]
    again = f"`{run_command(run)} --profile` takes them."
    if probe.get("error"):
        return f"{probe['error']}. `assay doctor` shows what this machine allows."
    if run.facts["status"] == STATUS_RUNNING and request.get("profile_hz") is not None:
        return (
            "no operation was measured yet: the run is in progress, or was killed before. Wait "
            f"for its end, or name another run; {again}"
        )
    asked_for = request.get("profile_hz") is not None and "probes" in run.facts
    untold = (asked_for and not probe) or _follows_no_engine(run)
    if untold and not run.has("samples"):
        were = "they were requested, but " if asked_for else ""
        return (
            f"{were}the engine's processes are not known on this host: measure where the server"
            " runs, or without --dsn."
        )
    if not run.has("samples"):
        return f"this run took no CPU samples: {again}"
    if not run.has("events"):
        return "the record has no events, so no sample can be assigned to an operation."
    return f"no operation was measured, or the record is damaged: {again}"


def _follows_no_engine(run: Run) -> bool:
    """Return True if the driver's processes were sampled and the engine's were not."""
    if not run.has("processes"):
        return False
    seen = set(run.table("processes")["account"].unique().to_list())
    return ACCOUNT_DRIVER in seen and seen.isdisjoint(ENGINE_ACCOUNTS)


def why_no_counters(run: Run, document: RunDocument) -> str | None:
    """Return why there are no engine counters; None if there are."""
    if document["engine_counters"] is not None:
        return None
    lead = "engine counters: not measured"
    probe = document["probes"]["each"].get("engine")
    if not run.facts["engine"].get("counters"):
        return f"{lead}, the engine offers none."
    if probe is not None and probe["error"]:
        return f"{lead}, probe engine failed: {probe['error']}"
    if not run.has("engine"):
        return f"{lead}, the record has no stream engine{_ended(document)}."
    return (
        f"{lead}, because no counters were read around the measured part, or their declaration "
        "cannot be read."
    )


def why_no_sessions(run: Run, document: RunDocument) -> str | None:
    """Return why the users of the server's CPU are unknown; None if they are known."""
    if document["sessions"] is not None:
        return None
    lead = "who used the server's CPU: not measured"
    if run.facts["engine"].get("kind") != "server":
        return (
            f"{lead}, {document['engine_title']} is no server: it runs within the load generator."
        )
    for stream in ("processes", "backends"):
        if not run.has(stream):
            return f"{lead}, the record has no stream {stream}{_ended(document)}."
    return f"{lead}, because no two samples enclose the measured part, or the record is older."


def _ended(document: RunDocument) -> str:
    return "" if document["status"] == "complete" else f" (the run is {document['status']})"


def _disk_words(run: Run, document: RunDocument) -> list[str]:
    """Return text on how disk waits were measured without the kernel's delay accounting."""
    off = run.environment.get("host", {}).get("delay_accounting") == "0"
    methods = sorted({op["disk_method"] for op in document["operations"]} - EXACT_ENOUGH)
    if not off or not methods:
        return []
    sentence = (
        "Waiting for disk, exactly: the kernel's delay accounting is off"
        f" (kernel.task_delayacct = 0); disk waits were estimated by: {'; '.join(methods)}."
    )
    return [sentence]


def why_no_waits(run: Run, document: RunDocument) -> str | None:
    """Return why the waits of the engine's threads are unknown; None if they are known."""
    if run.has(WAITS):
        return None
    lead = "reasons for which the engine's threads slept: not measured"
    probe = document["probes"]["each"].get(WAITS)
    if probe is not None and probe["error"]:
        return f"{lead}, probe {WAITS} failed: {probe['error']}"
    if probe is None:
        return (
            f"{lead}, because the probe {WAITS} did not run; time without a counter is "
            "unaccounted for."
        )
    return f"{lead}, the record has no stream {WAITS}{_ended(document)}."


def why_no_plans(document: RunDocument) -> str | None:
    """Return why plans are missing; None if every operation has a plan."""
    reason = document["plan_capture"]["reason"]
    if document["plans"] and reason is None:
        return None
    which = "not of all operations" if document["plans"] else "none in this record"
    return f"query plans: {which}, {(reason or 'none could be asked for').rstrip('.')}."


def why_no_what_if(document: RunDocument) -> str:
    """Return text on why there are no predictions."""
    if not document["operations"]:
        return "Nothing can be predicted, because no operation was measured."
    without = [op["name"] for op in document["operations"] if op["seconds"] is None]
    if without:
        return (
            f"Nothing can be predicted, because {', '.join(without)} never succeeded and every "
            "metric needs it."
        )
    return "Nothing can be predicted, because an older version of Assay made this document."
