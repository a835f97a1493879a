"""Finds how little work each thread did that was started for a part of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.counters.meters import FORK, scaled_text
from assay.model.finding import Evidence, Finding
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

METHOD = "forks"
FORKS_MIN = 100
# A thread is worth starting for at least this much work, by the article "Benchmarks, Redux".
WORK_MIN_S = 0.005
ENGINE = "engine"


def find(case: Case) -> list[Finding]:
    """Return a finding of the CPU time per started thread, if it is little."""
    counted = ((case.counters or {}).get("activity") or {}).get("counted") or {}
    forks = counted.get(FORK)
    cpu_s = None if case.accounts is None else case.accounts.by_process.get(ENGINE)
    if forks is None or forks < FORKS_MIN or not cpu_s:
        return []
    each_s = cpu_s / forks
    claim = (
        f"Queries started {scaled_text(forks).strip()} threads for parts of their work, with at "
        f"most {seconds_text(each_s)} of CPU time each"
    )
    if each_s < WORK_MIN_S:
        claim += (
            f", less than the {seconds_text(WORK_MIN_S)} that make it worthwhile to start a thread"
        )
    share = min(1.0, forks * WORK_MIN_S / cpu_s)
    sentence = (
        f"with {seconds_text(WORK_MIN_S)} of CPU time each, the threads would have used "
        f"{percent_text(share)} of the engine's {seconds_text(cpu_s)} of CPU time"
    )
    finding = Finding(
        claim=claim,
        effect_share=share,
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        tells="shape",
        evidence=(Evidence(sentence, "counter:activity"),),
    )
    return [finding]
