"""What a cluster's nodes did, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.cluster.words import WORDS
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from assay.report.documents.cluster import (
        BarrierRow,
        BarriersSection,
        ClusterSection,
        ClusterSpan,
        NodeSkew,
    )


# So many intervals and barriers are told in lines; the page's chart has all of them.
INTERVALS_MAX = 10


BARRIERS_MAX = 5


OF_ONE_CORE = "100 % cpu is one core"


def cores_words(cluster: ClusterSection) -> str:
    """How much CPU there could be at most."""
    cores = cluster["platform_cores"]
    if cores is None:
        return f"{OF_ONE_CORE}; how many all nodes may use is not known"
    return f"{OF_ONE_CORE}, and the nodes may use {cores:g}: {100 * cores:g} %"


def skew_words(told: ClusterSpan) -> list[str]:
    """What is uneven: the largest over the mean, and whose it is."""
    uneven = [
        f"{one['measure']} {one['ratio']:.3g} times the mean on {one['node']}{_often(one)}"
        for one in told["skew"]
        if one["is_skewed"]
    ]
    return [f"skew: {', '.join(uneven)}"] if uneven else []


def _often(one: NodeSkew) -> str:
    share = percent_text(one["often"])
    return f" (in {share} of executions)" if one["often"] < 1 else ""


def barrier_words(barriers: BarriersSection) -> list[str]:
    """What barriers took, then the longest of them; or why nobody knows."""
    if barriers["missing"] is not None:
        return [f"barriers: not measured: {barriers['missing']}"]
    if barriers["lost_share"] is None:
        return ["barriers: not measured: no execution was long enough for ten looks at its CPUs"]
    if not barriers["count"]:
        return ["barriers: none"]
    count = barriers["count"]
    lead = (
        f"barriers: {count}, to which {percent_text(barriers['lost_share'])} of the time was lost"
    )
    longest = sorted(barriers["found"], key=lambda one: -one["lost_s"])[:BARRIERS_MAX]
    return [lead, *(_barrier(one) for one in longest)]


def _barrier(one: BarrierRow) -> str:
    lasted = seconds_text(one["ended_s"] - one["begun_s"])
    of = f" {one['operation']}" if one["operation"] else ""
    return (
        f"at {one['begun_s']:.1f} s{of} for {lasted}: {one['cores']:.2g} cores at work,"
        f" {one['peak_cores']:.2g} around it"
    )


def interval_rows(cluster: ClusterSection) -> list[tuple[str, str]]:
    """Lines of all nodes through the measured part, evenly chosen where there are many."""
    every = cluster["intervals"]
    step = max(1, -(-len(every) // INTERVALS_MAX))
    return [
        (f"{one['begun_s']:.1f} to {one['ended_s']:.1f} s", one["whole"]["text"])
        for one in every[::step]
    ]


def word_rows(cluster: ClusterSection) -> list[tuple[str, str]]:
    """What each word counts, and why others are not measured."""
    told = {word: cluster["says"].get(word, WORDS[word][0]) for word in WORDS}
    told |= {word: f"not measured: {why}" for word, why in cluster["missing"].items()}
    return [(word.removesuffix("_ns").replace("_", " "), words) for word, words in told.items()]
