"""States the bottleneck of an operation in a sentence with the measured elasticities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.analysis.causes import TITLES as CAUSES
from assay.analysis.quantities import listed
from assay.analysis.why.demand import ON_CPU, WAITING
from assay.analysis.why.elasticity import PART_FROM
from assay.analysis.why.scarcity import DISK, SHORT, TITLES
from assay.model.limit import CPU
from assay.model.units import bytes_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.host.roofline import Placed
    from assay.analysis.why.demand import Demand
    from assay.analysis.why.diagnosis import Diagnosis, TimeResponse
    from assay.analysis.why.elasticity import Elasticity

BottleneckKind = Literal["bound", "shared", "partly", "none", "unclear"]

# From this share of the time on, a resource exceeds all others together, with a margin for
# noise.
BOUND_FROM = 0.6
# A smaller share of time without a resource is not mentioned.
MISSING_MIN = 0.1
# A sum with a wider interval does not show what is missing.
SUM_WIDTH_MAX = 0.5
CAUSES_MAX = 3
CAUSE_MIN = 0.02
# From this share on, the CPU time of an operation that reads is attributed to its reads.
KERNEL_MOST = 0.6
# From this share of waits for a CPU on, the host is too busy for a clear result.
WAITED_MIN = 0.03
# From this queue depth on, reads count as concurrent.
SEVERAL = 1.5


@dataclass(frozen=True)
class Bottleneck:
    """The resource that limits an operation, with a sentence about it.

    Attributes:
        kind: `bound` by one resource, `shared` by several, `partly` by one, by `none` of those
            that were varied; `unclear` if noise prevents a verdict.
        resources: Resources that the verdict names.
        sentence: A sentence with the figures.
        sum_words: Text on the sum of the elasticities, and on the missing rest.
        remarks: Remarks on single figures.
    """

    kind: BottleneckKind
    resources: tuple[str, ...]
    sentence: str
    sum_words: str | None
    remarks: tuple[str, ...]


def verdict_of(diagnosis: Diagnosis, place: str | None = None) -> Bottleneck:
    """Return the resource that limits an operation, with a sentence about it.

    Args:
        diagnosis: Diagnosis with at least the operation's time without limits.
        place: Its reads compared with the ceiling, such as `it runs at 96 % of ...`.
    """
    kind, resources = _kind(diagnosis)
    claim = _claim(kind, resources)
    if set(resources) == {CPU, DISK} and _computes_for_reads(diagnosis):
        claim = "is bound by reading, the disk and the kernel's work for it together"
    sentence = f"{diagnosis.operation} {claim}: {_figures(diagnosis)}"
    return Bottleneck(
        kind,
        resources,
        f"{sentence}; {place}." if place else f"{sentence}.",
        _sum(diagnosis),
        tuple(_remarks(diagnosis)),
    )


def place_words(placed: Placed | None) -> str | None:
    """Return text on random reads as a share of the disk's measured maximum; None if unmeasured."""
    if placed is None or placed.share is None:
        return None
    at_once = "one at a time" if placed.depth < SEVERAL else f"{placed.depth:.2g} at once"
    ends = placed.share_interval
    interval = "" if ends is None else f" [{percent_text(ends[0])}, {percent_text(ends[1])}]"
    return (
        f"it runs at {percent_text(placed.share)}{interval} of what this disk gives at"
        f" {bytes_text(placed.reads.size_bytes)} random, {at_once}"
    )


def elasticity_text(elasticity: Elasticity) -> str:
    """Return an elasticity as text with its 95 % interval, such as `-0.98 [-1.05, -0.91]`."""
    if elasticity.interval is None:
        return f"{_signed(elasticity.value)} (one round: no interval)"
    low, high = elasticity.interval
    return f"{_signed(elasticity.value)} [{_signed(low)}, {_signed(high)}]"


def _signed(value: float) -> str:
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def _kind(diagnosis: Diagnosis) -> tuple[BottleneckKind, tuple[str, ...]]:
    parts = sorted(
        (
            (-value, name)
            for name in diagnosis.chosen
            if (value := diagnosis.value(name)) is not None
        ),
        reverse=True,
    )
    if not parts:
        return "unclear", ()
    share, first = parts[0]
    worth = tuple(
        name for part, name in parts if part >= PART_FROM and _has_effect(diagnosis.chosen[name])
    )
    if not _has_effect(diagnosis.chosen[first]):
        return ("unclear", ()) if share >= PART_FROM else ("none", ())
    if share >= BOUND_FROM and len(worth) == 1:
        return "bound", worth
    if len(worth) > 1:
        # The first of two is named alone only if noise cannot have changed their order.
        apart = share >= BOUND_FROM and _apart(diagnosis, first, parts[1][1])
        return ("bound", (first,)) if apart else ("shared", worth)
    return ("partly", worth) if worth else ("none", ())


def _has_effect(answer: TimeResponse) -> bool:
    """Return True if an effect is larger than noise."""
    elasticity = answer.elasticity
    return elasticity is not None and elasticity.interval is not None and elasticity.interval[1] < 0


def _apart(diagnosis: Diagnosis, first: str, second: str) -> bool:
    left, right = (diagnosis.chosen[name].elasticity for name in (first, second))
    if left is None or right is None or left.interval is None or right.interval is None:
        return False
    return left.interval[1] < right.interval[0]


def _claim(kind: BottleneckKind, resources: tuple[str, ...]) -> str:
    titles = [TITLES[name] for name in resources]
    return {
        "bound": f"is bound by {titles[0] if titles else ''}",
        "shared": f"is bound by {listed(titles)} together",
        "partly": f"waits for {titles[0] if titles else ''} for a part of its time",
        "none": "is bound by nothing that was varied",
        "unclear": "has no bottleneck beyond noise",
    }[kind]


def _computes_for_reads(diagnosis: Diagnosis) -> bool:
    """Return True if the kernel takes most of the CPU time of an operation that reads."""
    share = None if diagnosis.demand is None else diagnosis.demand.kernel_share
    return share is not None and share >= KERNEL_MOST


def _figures(diagnosis: Diagnosis) -> str:
    """Return text with each resource and its elasticity, largest effect first."""
    measured = sorted(
        (response for response in diagnosis.chosen.values() if response.elasticity is not None),
        key=lambda response: response.elasticity.value if response.elasticity is not None else 0.0,
    )
    figures = [
        f"{SHORT[response.resource]} {elasticity_text(response.elasticity)}"
        for response in measured
        if response.elasticity is not None
    ]
    figures += [
        f"{SHORT[name]} not measured ({reason})" for name, reason in diagnosis.unmeasured.items()
    ]
    return ", ".join(figures)


def _sum(diagnosis: Diagnosis) -> str | None:
    """Return text with the sum of elasticities, and possible causes of the missing rest."""
    if diagnosis.total is None:
        return None
    interval = diagnosis.interval
    between = f" [{_signed(interval[0])}, {_signed(interval[1])}]" if interval else ""
    lead = f"Sum {_signed(diagnosis.total)}{between}"
    if interval is not None and interval[1] - interval[0] > SUM_WIDTH_MAX:
        return f"{lead}: noise hides whether something is missing from 1"
    missing = 1 + diagnosis.total
    if missing < -MISSING_MIN and (interval is None or interval[1] < -1):
        return (
            f"{lead}: more than 1, because one part of the time answers to two of them, or a"
            " scarce one made others scarce"
        )
    within = interval is not None and interval[0] <= -1 <= interval[1]
    if abs(missing) < MISSING_MIN or within:
        return f"{lead}: nothing to speak of is missing from 1"
    rest = _rest(diagnosis)
    return f"{lead}: {missing:.2f} is missing from 1{f', {rest}' if rest else ''}"


def _rest(diagnosis: Diagnosis) -> str:
    """Return text on time that threads neither computed nor read, if it was sampled."""
    demand = diagnosis.demand
    if demand is None or not demand.shares:
        return "and the waits of its threads were not sampled"
    varied = {*(ON_CPU if "cpu" in diagnosis.chosen else ())}
    varied |= {*(WAITING if "disk" in diagnosis.chosen else ())}
    others = sorted(
        (
            (share, cause)
            for cause, share in demand.shares.items()
            if cause not in varied and share >= CAUSE_MIN
        ),
        reverse=True,
    )
    causes = [f"{CAUSES[cause]} {percent_text(share)}" for share, cause in others[:CAUSES_MAX]]
    return f"as its threads show: {listed(causes)}" if causes else ""


def _remarks(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.waited_share >= WAITED_MIN:
        yield (
            f"{percent_text(diagnosis.waited_share)} of its time it was ready and had no CPU; that"
            " is taken out of the times that elasticities are made of"
        )
    demand, disk = diagnosis.demand, diagnosis.value(DISK)
    if demand is not None and disk is not None and -disk >= PART_FROM:
        yield from _kernel_remarks(demand)
    for answer in diagnosis.answers:
        yield from _level_remarks(answer)
        elasticity = answer.elasticity
        if elasticity is None:
            continue
        name = SHORT[answer.resource]
        if elasticity.binds_below is not None and answer.method == "limited":
            yield (
                f"a limit of the {name} binds only below {percent_text(elasticity.binds_below)} of"
                " what there is: above that there is some to spare, or the mixture is so fine that"
                " what was not used while computing is a credit"
            )
        elif elasticity.binds_below is not None:
            yield f"{name} binds only once it is {1 / elasticity.binds_below:.2g} times as scarce"
        if answer.at_most is not None and diagnosis.chosen.get(answer.resource) is answer:
            yield (
                f"the {name} was only limited, and a limit lets a fine mixture pass: its elasticity"
                f" may be anything from {_signed(answer.at_most)} to {_signed(0.0)}"
            )
        other = diagnosis.chosen.get(answer.resource)
        if answer.method == "slowed" and other is not answer and other is not None:
            yield (
                f"slowing the {name} shows {elasticity_text(elasticity)}, less than limiting: it"
                " reads ahead while the engine is stopped, or a read is also time on a CPU"
            )


def _kernel_remarks(demand: Demand) -> Iterator[str]:
    share = demand.kernel_share
    if share is not None and share >= KERNEL_MOST:
        own = demand.shares.get("cpu_user", 0.0)
        yield (
            f"{percent_text(share)} of its time on a CPU is the kernel's, which works for its"
            f" reads: what the engine itself computes is {percent_text(own)} of its time"
        )


def _level_remarks(answer: TimeResponse) -> Iterator[str]:
    for level in answer.levels:
        if level.left_out is not None:
            yield f"{level.name} is in no elasticity: {level.left_out}"
    doubted = next((level for level in answer.levels if level.doubt is not None), None)
    if doubted is not None:
        yield f"{doubted.name}: {doubted.doubt}"
