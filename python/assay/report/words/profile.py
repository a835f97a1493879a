"""Phrases on CPU samples: their number, method and reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text, grouped_text, percent_text, seconds_text
from assay.report.words.wrapping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.profile.profile import ProfileSection, SamplingSection


FEW = 0.0005


AGREES_WITHIN = 0.1


# Kinds of symbols that are an address range or an address, and their note. The end of a function's
# range is omitted, because no other function begins at the same address.
NAMELESS, NAMELESS_NOTE, BOUNDS = ("bounds", "none"), " (no name)", "..0x"


# Note on samples of an embedded engine that served several sessions.
TOGETHER = "of several sessions: the samples cannot be split by operation"


def no_samples(profile: ProfileSection) -> str:
    """Return a sentence on why there are no CPU samples, with the remedy."""
    sampling = profile["sampling"]
    within = profile["operation"] or "an operation"
    if sampling["artefacts"]:
        return f"all samples of {within} were excluded, so there are no shares to show."
    if sampling["unplaced"]:
        return (
            "no sample can be assigned to an operation, as it is unknown which session the"
            " engine's processes worked for: measure with --clients 1."
        )
    return (
        f"no sample fell into {within}, which uses too little CPU time at"
        f" {grouped_text(sampling['frequency_hz'])} Hz: measure longer (--min-time 30s), or sample"
        " more often (--profile-hz)."
    )


def headline(profile: ProfileSection) -> str:
    """Return one line of text on the number of CPU samples and what they cover."""
    of = f"of {profile['operation']}" if profile["operation"] else "within operations"
    text = (
        f"{samples_text(profile['samples'])} {of}, {seconds_text(profile['seconds'])} of CPU time"
    )
    if not profile["sampling"]["told_apart"]:
        return f"{text}, {TOGETHER}"
    return f"{text} in {passes_text(profile['passes'])}"


def samples_text(samples: int, noun: str = "CPU sample") -> str:
    """Return the number of CPU samples as text."""
    return f"{samples:,} {noun}{'s' if samples != 1 else ''}"


def passes_text(passes: int) -> str:
    """Return a number of passes as text."""
    return f"{passes:,} pass{'es' if passes != 1 else ''}"


def share_text(share: float) -> str:
    """Return a share in per cent; one below the last digit is written as "less than"."""
    return "< 0.1 %" if 0 < share < FEW else f"{share * 100:.1f} %"


def facts(profile: ProfileSection) -> Iterator[tuple[str, str]]:
    """Yield label and sentence for each fact on the reliability of CPU samples."""
    yield "Explained", explained_text(profile)
    if profile["sampling"]["artefacts"]:
        yield "Left out", artefacts_text(profile)
    yield "Not in it", outside_text(profile["sampling"])
    yield "Sampled", sampled_text(profile["sampling"])
    yield "Lost or cut", lost_text(profile["sampling"])
    yield "CPU time", metered_text(profile)


def explained_text(profile: ProfileSection) -> str:
    """Return text on the share of CPU samples with a known kind of work and function."""
    if profile["classified"] is None:
        return "nothing: there are no samples within operations"
    of = "of all samples" if profile["operation"] else "of the samples"
    unclassified = next((r["share"] for r in profile["work"] if r["work"] == "unclassified"), 0.0)
    text = f"{share_text(profile['classified'])} {of} by a kind of work"
    if profile["named"] is not None:
        text += f"; {share_text(profile['named'])} have a function's name"
    if unclassified:
        text += f". Unclassified: {share_text(unclassified)}"
    if unclassified and profile["sampling"]["symbols"]:
        text += "; `assay explain --unclassified` prints the rules to write next"
    return text


def artefacts_text(profile: ProfileSection) -> str:
    """Return text on CPU samples that no share includes, with the reason."""
    artefacts = profile["sampling"]["artefacts"]
    everything = profile["samples"] + sum(row["samples"] for row in artefacts)
    parts = [
        f"{samples_text(row['samples'], 'sample')} ({share_text(row['samples'] / everything)}):"
        f" {one_line(row['why']).rstrip('.')}"
        for row in artefacts
    ]
    return "; ".join(parts)


def outside_text(sampling: SamplingSection) -> str:
    """Return text on the number of CPU samples outside of operations."""
    parts = [
        (sampling["ours"], "of Assay's own threads"),
        (sampling["others"], "of other processes"),
        (sampling["other_clients"], "of what the server did for probes and other clients"),
        (sampling["background"] - sampling["unplaced"], "of the engine between operations"),
        (sampling["unplaced"], "of the engine that could not be placed"),
        (sampling["torn"], "whose stack is not in the record"),
    ]
    phrases = [f"{count:,} {label}" for count, label in parts if count]
    if phrases:
        return ", ".join(phrases)
    return "every sample is of an operation" if sampling["taken"] else "no sample was taken"


def sampled_text(sampling: SamplingSection) -> str:
    """Return text on the sampling event, its rate, and the kind of call stacks."""
    seen = "user and kernel" if sampling["kernel"] else "without kernel code"
    stacks = f"stacks by {sampling['stacks']}"
    if sampling["copied_bytes"] is not None:
        stacks = f"stacks by copies of {bytes_text(sampling['copied_bytes'])}"
    rate = grouped_text(sampling["frequency_hz"])
    named = "" if sampling["symbols"] else "; functions were not named, the run ended before"
    return f"{sampling['event']}, {rate} Hz a thread on a CPU, {seen}, {stacks}{named}"


def lost_text(sampling: SamplingSection) -> str:
    """Return text on CPU samples that were lost or cut in the measured part."""
    counts = (
        (sampling["lost"], "lost because the buffer was full"),
        (sampling["throttled"], "times paused by the kernel"),
        (sampling["cut"], "with a stack deeper than its copy"),
        (sampling["broken"], "with a stack that ended at code without unwind rules"),
    )
    if sampling["lost"] is None:
        return "not recorded: sampling ended before that"
    losses = [f"{count:,} {said}" for count, said in counts if count]
    if sampling["lost"] and sampling.get("elsewhere"):
        losses[0] += " (which other processes share)"
    return ", ".join(losses) or "nothing: no sample, no pause, no stack cut"


def metered_text(profile: ProfileSection) -> str:
    """Return text that compares sampled CPU time with the kernel's own counters."""
    sampled = seconds_text(profile["sampled_s"])
    if not profile["metered_s"]:
        return (
            f"{sampled} sampled; not compared, the kernel's counters were"
            " not read around these operations"
            if profile["sampling"]["told_apart"]
            else f"{sampled} sampled; not compared, the kernel's counters"
            " of operations that overlap hold the same threads"
        )
    ratio = profile["sampled_s"] / profile["metered_s"]
    of = "" if profile["operation"] is None else "all operations: "
    text = (
        f"{of}{sampled} sampled, {seconds_text(profile['metered_s'])} by the kernel's counters:"
        f" {percent_text(ratio)}"
    )
    difference = abs(ratio - 1)
    if difference <= AGREES_WITHIN:
        return text
    if profile["by_chance"] is not None and difference <= profile["by_chance"]:
        return f"{text}. Samples are too few to be compared: measure longer (--min-time 30s)"
    return f"{text}. The two figures disagree, so the shares may be wrong"
