"""Phrases on the work of a cluster's nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.cluster.words import WORDS
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from assay.report.documents.host.cluster import (
        BarrierRow,
        BarriersSection,
        ClusterSection,
        ClusterSpan,
        NodeSkew,
    )


# Maximum number of intervals and of barriers in lines; the page's chart has all of them.
INTERVALS_MAX = 10


BARRIERS_MAX = 5


OF_ONE_CORE = "100 % cpu is one core"


def cores_words(cluster: ClusterSection) -> str:
    """Return text on the number of cores that a cluster's nodes could use."""
    cores = cluster["platform_cores"]
    if cores is None:
        return f"{OF_ONE_CORE}; the number of cores that all nodes may use is not known"
    return f"{OF_ONE_CORE}, and the nodes may use {cores:g}: {100 * cores:g} %"


def skew_words(span: ClusterSpan) -> list[str]:
    """Return text on unevenly spread work: largest node over mean, and that node's name."""
    uneven = [
        f"{skew['measure']} {skew['ratio']:.3g} times the mean on {skew['node']}{_frequency(skew)}"
        for skew in span["skew"]
        if skew["is_skewed"]
    ]
    return [f"skew: {', '.join(uneven)}"] if uneven else []


def _frequency(skew: NodeSkew) -> str:
    share = percent_text(skew["often"])
    return f" (in {share} of executions)" if skew["often"] < 1 else ""


def barrier_words(barriers: BarriersSection) -> list[str]:
    """Return texts on time lost at barriers and the longest barriers, or why unknown."""
    if barriers["missing"] is not None:
        return [f"barriers: not measured: {barriers['missing']}"]
    if barriers["lost_share"] is None:
        return ["barriers: not measured: no execution was long enough for ten samples of its CPUs"]
    if not barriers["count"]:
        return ["barriers: none"]
    count = barriers["count"]
    lead = (
        f"barriers: {count}, to which {percent_text(barriers['lost_share'])} of the time was lost"
    )
    longest = sorted(barriers["found"], key=lambda barrier: -barrier["lost_s"])[:BARRIERS_MAX]
    return [lead, *(_barrier(barrier) for barrier in longest)]


def _barrier(barrier: BarrierRow) -> str:
    lasted = seconds_text(barrier["ended_s"] - barrier["begun_s"])
    of = f" {barrier['operation']}" if barrier["operation"] else ""
    return (
        f"at {barrier['begun_s']:.1f} s{of} for {lasted}: {barrier['cores']:.2g} cores at work,"
        f" {barrier['peak_cores']:.2g} around it"
    )


def interval_rows(cluster: ClusterSection) -> list[tuple[str, str]]:
    """Return text lines of all cluster nodes over time, evenly chosen if many."""
    every = cluster["intervals"]
    step = max(1, -(-len(every) // INTERVALS_MAX))
    return [
        (f"{interval['begun_s']:.1f} to {interval['ended_s']:.1f} s", interval["whole"]["text"])
        for interval in every[::step]
    ]


def word_rows(cluster: ClusterSection) -> list[tuple[str, str]]:
    """Return each abbreviation in a cluster node's line with its meaning."""
    meanings = {word: cluster["says"].get(word, WORDS[word][0]) for word in WORDS}
    meanings |= {word: f"not measured: {why}" for word, why in cluster["missing"].items()}
    return [
        (word.removesuffix("_ns").replace("_", " "), meaning) for word, meaning in meanings.items()
    ]
