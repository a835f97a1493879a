"""CPU samples in words: how many of what, how they were taken, what to believe of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text, grouped_text, percent_text, seconds_text
from assay.report.words.wrapping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.profile import ProfileSection, SamplingSection


FEW = 0.0005


AGREES_WITHIN = 0.1


# Kinds of symbols that are bounds of a function, or an address, and what is said of them. Where a
# function ends is left out: it has no other that begins there.
NAMELESS, NAMELESS_NOTE, BOUNDS = ("bounds", "none"), " (no name)", "..0x"


# What samples are where an embedded engine served several sessions.
TOGETHER = "of several sessions: the samples are not told apart by operation"


def no_samples(told: ProfileSection) -> str:
    """Why there is no sample to show, with the mend, in one sentence."""
    sampling = told["sampling"]
    within = told["operation"] or "an operation"
    if sampling["artefacts"]:
        return f"every sample of {within} is one that was left out, so there is nothing to share."
    if sampling["unplaced"]:
        return (
            "no sample is known to be of an operation, since nothing tells which session the"
            " engine's processes worked for: measure with --clients 1."
        )
    return (
        f"no sample fell into {within}, which is on a CPU for too short a time at"
        f" {grouped_text(sampling['frequency_hz'])} Hz: measure longer (--min-time 30s), or sample"
        " more often (--profile-hz)."
    )


def headline(told: ProfileSection) -> str:
    """How many samples of what, in one line."""
    of = f"of {told['operation']}" if told["operation"] else "within operations"
    words = f"{samples_text(told['samples'])} {of}, {seconds_text(told['seconds'])} of CPU time"
    if not told["sampling"]["told_apart"]:
        return f"{words}, {TOGETHER}"
    return f"{words} in {passes_text(told['passes'])}"


def samples_text(samples: int, noun: str = "CPU sample") -> str:
    """How many samples, in words."""
    return f"{samples:,} {noun}{'s' if samples != 1 else ''}"


def passes_text(passes: int) -> str:
    """How many passes, in words."""
    return f"{passes:,} pass{'es' if passes != 1 else ''}"


def share_text(share: float) -> str:
    """A share in per cent; what is less than can be said with one digit is told as such."""
    return "< 0.1 %" if 0 < share < FEW else f"{share * 100:.1f} %"


def facts(told: ProfileSection) -> Iterator[tuple[str, str]]:
    """What a reader must know to believe the table: label and sentence."""
    yield "Explained", explained_text(told)
    if told["sampling"]["artefacts"]:
        yield "Left out", artefacts_text(told)
    yield "Not in it", outside_text(told["sampling"])
    yield "Sampled", sampled_text(told["sampling"])
    yield "Lost or cut", lost_text(told["sampling"])
    yield "CPU time", metered_text(told)


def explained_text(told: ProfileSection) -> str:
    """How much of the samples has a kind of work, and a name."""
    if told["classified"] is None:
        return "nothing: there are no samples within operations"
    of = "of all samples" if told["operation"] else "of the samples"
    unclassified = next((r["share"] for r in told["work"] if r["work"] == "unclassified"), 0.0)
    words = f"{share_text(told['classified'])} {of} by a kind of work"
    if told["named"] is not None:
        words += f"; {share_text(told['named'])} have a function's name"
    if unclassified:
        words += (
            f". Unclassified: {share_text(unclassified)};"
            " `assay explain --unclassified` prints the rules to write next"
        )
    return words


def artefacts_text(told: ProfileSection) -> str:
    """What was taken out of the denominator, and why."""
    found = told["sampling"]["artefacts"]
    everything = told["samples"] + sum(row["samples"] for row in found)
    parts = [
        f"{samples_text(row['samples'], 'sample')} ({share_text(row['samples'] / everything)}):"
        f" {one_line(row['why']).rstrip('.')}"
        for row in found
    ]
    return "; ".join(parts)


def outside_text(sampling: SamplingSection) -> str:
    """Samples that are not of operations."""
    parts = [
        (sampling["ours"], "of Assay's own threads"),
        (sampling["others"], "of other processes"),
        (sampling["other_clients"], "of what the server did for probes and other clients"),
        (sampling["background"] - sampling["unplaced"], "of the engine between operations"),
        (sampling["unplaced"], "of the engine that could not be placed"),
        (sampling["torn"], "whose stack is not in the record"),
    ]
    known = [f"{count:,} {words}" for count, words in parts if count]
    if known:
        return ", ".join(known)
    return "every sample is of an operation" if sampling["taken"] else "no sample was taken"


def sampled_text(sampling: SamplingSection) -> str:
    """Event, rate, what was seen."""
    seen = "user and kernel" if sampling["kernel"] else "user code only"
    stacks = f"stacks by {sampling['stacks']}"
    if sampling["copied_bytes"] is not None:
        stacks = f"stacks by copies of {bytes_text(sampling['copied_bytes'])}"
    rate = grouped_text(sampling["frequency_hz"])
    named = "" if sampling["symbols"] else "; functions were not named, the run ended before"
    return f"{sampling['event']}, {rate} Hz a thread on a CPU, {seen}, {stacks}{named}"


def lost_text(sampling: SamplingSection) -> str:
    """What sampling lost in the measured part."""
    counts = (
        (sampling["lost"], "lost for want of room"),
        (sampling["throttled"], "times paused by the kernel"),
        (sampling["cut"], "with a stack deeper than its copy"),
        (sampling["broken"], "with a stack that ended at code without unwind rules"),
    )
    if sampling["lost"] is None:
        return "not recorded: sampling ended before it could tell"
    found = [f"{count:,} {said}" for count, said in counts if count]
    if sampling["lost"] and sampling.get("elsewhere"):
        found[0] += " (which other processes share)"
    return ", ".join(found) or "nothing: no sample, no pause, no stack cut"


def metered_text(told: ProfileSection) -> str:
    """Sampled CPU time beside the kernel's own counters."""
    if not told["metered_s"]:
        return (
            f"{seconds_text(told['sampled_s'])} sampled; not compared, the kernel's counters were"
            " not read around these operations"
            if told["sampling"]["told_apart"]
            else f"{seconds_text(told['sampled_s'])} sampled; not compared, the kernel's counters"
            " of operations that overlap hold the same threads"
        )
    ratio = told["sampled_s"] / told["metered_s"]
    of = "" if told["operation"] is None else "all operations: "
    words = (
        f"{of}{seconds_text(told['sampled_s'])} sampled, {seconds_text(told['metered_s'])} by the"
        f" kernel's counters: {percent_text(ratio)}"
    )
    difference = abs(ratio - 1)
    if difference <= AGREES_WITHIN:
        return words
    if told["by_chance"] is not None and difference <= told["by_chance"]:
        return f"{words}. Samples are too few to be compared: measure longer (--min-time 30s)"
    return f"{words}. They disagree, and so may the shares with the truth"
