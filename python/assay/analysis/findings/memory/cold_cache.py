"""Finds time spent waiting for reads of data that were not in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.findings.memory.cache import evicts, storage_bytes, unnamed_reads
from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.waiting.waits import waited, waiting_evidence
from assay.analysis.operations import is_measured
from assay.model.finding import Advice, Evidence
from assay.model.units import bytes_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "cold-cache"
EFFECT_MIN = 0.05
# With fewer bytes read from storage, the waits were not for data.
STORAGE_BYTES_MIN = 1 << 20
# Data count as cached if later passes read less than this share of the first pass's bytes.
WARMED_SHARE = 0.1
# Warm-up of a load after which most data that it needs are in memory.
WARM_UP_S = "60"


def find(case: Case) -> list[Finding]:
    """Return a finding of the time spent waiting for reads, and whether it decreased."""
    if evicts(case):
        return []
    parts, read, warmed = ("disk_read", *unnamed_reads(case)), storage_bytes(case), _is_warmed(case)
    case = case.with_measured(*parts)
    fractions = waited(case, *parts)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN or (read is not None and read < STORAGE_BYTES_MIN):
        return []
    when = {True: ", in the first pass", False: ", pass after pass", None: ""}[warmed]
    if case.asked_to_read and warmed is None:
        when = f": the run had --state {case.state}"
    amount = "" if read is None else f": {bytes_text(read)} were not in memory{when}"
    claim = (
        f"Waiting for reads from storage took {percent_text(effect)} of the time{amount}; most "
        f"in {names_text(case.largest_first(fractions))}"
    )
    evidence = waiting_evidence(case, fractions, ("disk_read", "disk"))
    if read is not None:
        evidence.append(Evidence(f"{bytes_text(read)} read from storage", "timeline"))
    advice = None
    to_try = "use a host with more memory, or stop the program that empties its page cache"
    if case.load is not None:
        advice = Advice("state", "warm", {"warmup_s": WARM_UP_S}, effect)
        does = f"warms up for {WARM_UP_S} s before the measurement"
        to_try = case.try_words(METHOD, fractions, does)
    elif case.asked_to_read:
        to_try = "use --state hot to measure with the data in memory"
    elif warmed:
        to_try = "use a longer --min-time: later passes find the data in memory"
    part = "waiting" if "disk" in parts else "waiting/disk_read"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return [finding.of(part)]


def _is_warmed(case: Case) -> bool | None:
    """Return True if later passes found the data in memory; None if there is only one pass."""
    passes = (
        case.executions.filter(is_measured(case.executions))
        .drop_nulls("read_bytes")
        .group_by("pass", maintain_order=True)
        .agg(pl.col("read_bytes").sum())
        .sort("pass")["read_bytes"]
    )
    if len(passes) < 2 or not passes[0]:  # noqa: PLR2004 - a first one and a later one
        return None
    later = passes[1:].median()
    return isinstance(later, float) and later < WARMED_SHARE * passes[0]
