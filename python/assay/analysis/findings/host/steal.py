"""Time that the engine lost to the hypervisor, and to other programs on its CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.memory.cache import thread_seconds
from assay.analysis.findings.plans.plan_time import scaled
from assay.analysis.findings.waiting.waits import waited, waiting_evidence
from assay.model.finding import Evidence, Finding
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.host.accounts import Accounts
    from assay.model.neighbour import Neighbour

METHOD = "steal"
# Background work of an idle machine causes a smaller effect.
EFFECT_MIN = 0.05
# Other programs are a cause of waits for a CPU only if they used this share of the machine.
BACKGROUND_SHARE_MIN = 0.05
# Programs with a smaller share of the other programs' CPU time are not named.
NAMED_SHARE, NAMED_MAX = 0.2, 3
QUIETER = "a quieter host"
PINNED = ", or give the engine separate CPUs: --pin engine=..."


def find(case: Case) -> list[Finding]:
    """Return findings of CPU time stolen by the hypervisor and taken by other programs."""
    return [*_stolen(case), *_neighbours(case)]


def _stolen(case: Case) -> list[Finding]:
    case = case.with_measured("stolen")
    fractions = waited(case, "stolen")
    effect = case.of_run(fractions)
    used = case.accounts
    machine = None
    if used is not None and used.steal_s is not None and used.capacity_s > 0:
        machine = min(1.0, used.steal_s / used.capacity_s)
    evidence = waiting_evidence(case, fractions, ("stolen",))
    if machine is not None:
        sentence = f"the hypervisor took {percent_text(machine)} of the machine's CPU time"
        evidence.append(Evidence(sentence, "check:steal"))
    to_try = "use a host with fewer virtual machines"
    if effect >= EFFECT_MIN:
        claim = f"The hypervisor took {percent_text(effect)} of the time from the engine"
        finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
        return [finding.of("computing/steal")]
    if case.operations or machine is None or machine < EFFECT_MIN:
        return []
    claim = f"The hypervisor took {percent_text(machine)} of the machine's CPU time"
    finding = Finding(
        claim, machine, None, (case.run_id,), METHOD, to_try, evidence=tuple(evidence)
    )
    return [finding]


def _neighbours(case: Case) -> list[Finding]:
    case = case.with_measured("run_queue")
    used, queued = case.accounts, waited(case, "run_queue")
    if used is None or used.capacity_s <= 0:
        return []
    background = min(1.0, used.background_s / used.capacity_s)
    fractions = scaled(queued, blamed(case, used))
    effect = case.of_run(fractions)
    if background < BACKGROUND_SHARE_MIN or effect < EFFECT_MIN:
        return []
    others = f"other processes used {percent_text(background)} of the machine's CPU time"
    named = _named(case, used)
    who = f": {' and '.join(neighbour.text for neighbour in named)}" if named else ""
    claim = (
        f"The engine waited for a CPU for {percent_text(effect)} of the time, while {others}{who}"
    )
    evidence = [
        *waiting_evidence(case, queued, ("run_queue",)),
        Evidence(others, "check:background_load"),
        *(
            Evidence(
                f"{neighbour.text} used {percent_text(neighbour.cpu_s / used.window_s)} of a core",
                f"process:{neighbour.name}",
            )
            for neighbour in named
        ),
    ]
    finding = case.finding(METHOD, claim, fractions, to_try=_quieter(case), evidence=evidence)
    return [finding.of("computing/queue")]


def _quieter(case: Case) -> str:
    """Return the advice to give the engine its own CPUs, with `--pin` if Assay starts it."""
    return QUIETER if case.on_running_server else QUIETER + PINNED


def _named(case: Case, used: Accounts) -> list[Neighbour]:
    """Return the programs that used a large share of the other programs' CPU time."""
    neighbours = case.neighbours or ()
    return [
        neighbour for neighbour in neighbours if neighbour.cpu_s >= NAMED_SHARE * used.background_s
    ][:NAMED_MAX]


def blamed(case: Case, used: Accounts) -> float:
    """Return the share of CPU waits that other programs can have caused.

    A CPU second of others delays one waiting thread by a second. Threads that queue behind each
    other are all delayed, but never by more than the share of the CPUs that others used.
    """
    waited_s = _queued_seconds(case, used.window_s)
    if waited_s <= 0:
        return 0.0
    return min(1.0, max(used.background_s / waited_s, used.background_s / used.capacity_s))


def _queued_seconds(case: Case, window_s: float) -> float:
    """Return the seconds that all threads of the engine waited for a CPU.

    Executions of several clients overlap, so their times are summed. Without executions, one
    operation at a time is assumed.
    """
    shares, queued = case.shares, case.part("run_queue")
    threads = {op.name: op.threads_at_work or 0.0 for op in case.operations}
    seconds = thread_seconds(case) or {
        name: window_s * shares[name] * threads.get(name, 0.0) for name in queued
    }
    return sum(part * seconds.get(name, 0.0) for name, part in queued.items())
