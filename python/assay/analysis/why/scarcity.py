"""Reads the factor by which a resource was scarce in a run, as requested and as achieved.

There are two methods. *Slowed*: the engine is stopped in proportion to its use of the resource,
so the resource's part of the time is multiplied, however finely CPU and disk use alternate.
Read-ahead by the disk during a stop is not slowed. *Limited*: the kernel allows a rate per
second. Unused allowance is kept for a while, so a limit slows a fine mixture less than a slower
device would. Each method can only underestimate an effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay.analysis.operations import NS
from assay.model.limit import CPU, CPUS, MEMORY, OF_DISK, READ_IOPS, READ_RATE, amount_text
from assay.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.host.roofline import Placed
    from assay.analysis.why.demand import Demand
    from assay.model.verdict import CheckResult

Method = Literal["slowed", "limited"]
DISK = "disk"
TITLES = {CPU: "CPU", DISK: "the disk", MEMORY: "memory"}
SHORT = {CPU: "CPU", DISK: "disk", MEMORY: "memory"}
RESOURCE_OF = {CPU: CPU, CPUS: CPU, **dict.fromkeys(OF_DISK, DISK), MEMORY: MEMORY}
# Less time on the resource is too little for an estimate of the factor.
TAKEN_MIN_S = 0.01
# For each check, the lowest verdict at which the requested scarcity took no effect.
FROM_VERDICT = {"limits": Verdict.UNKNOWN, "slowing": Verdict.INVALID}
NEVER = Verdict.INVALID + 1


@dataclass(frozen=True)
class Scarcity:
    """The resource that was scarce in a run.

    Attributes:
        resource: One of `TITLES`.
        option: Name in `--limit` or `--slow`.
        asked: Requested factor of slowing, or else an amount in the option's unit.
    """

    resource: str
    method: Method
    option: str
    asked: float

    @property
    def text(self) -> str:
        """The scarcity as text, such as `disk slowed 2 x`, `disk limited to 6,800/s`."""
        what = SHORT[self.resource]
        if self.method == "slowed":
            return f"{what} slowed {self.asked:g} x"
        unit = " CPUs" if self.option == CPUS else ""
        return f"{what} limited to {amount_text(self.option, self.asked)}{unit}"


def scarcity_of(request: Mapping[str, Any]) -> Scarcity | None:
    """Return the resource that a run's request made scarce; None for none or several."""
    scarcities = [
        *(
            Scarcity(name, "slowed", name, float(factor))
            for name, factor in (request.get("slow") or {}).items()
            if float(factor) > 1
        ),
        *(
            Scarcity(RESOURCE_OF[name], "limited", name, float(amount))
            for name, amount in (request.get("limits") or {}).items()
            if name in RESOURCE_OF
        ),
    ]
    return scarcities[0] if len(scarcities) == 1 and scarcities[0].asked > 0 else None


def is_unhindered(request: Mapping[str, Any]) -> bool:
    """Return True if a run's request makes no resource scarce."""
    slowed = any(float(factor) > 1 for factor in (request.get("slow") or {}).values())
    return not slowed and not request.get("limits")


def times_as_scarce(
    scarcity: Scarcity, facts: Mapping[str, Any], capacities: Mapping[str, float]
) -> float | None:
    """Return the achieved factor of scarcity; None if the capacity is not known.

    Args:
        scarcity: The requested scarcity.
        facts: Facts of the run's record.
        capacities: Capacities by option, in the option's unit.
    """
    if scarcity.method == "slowed":
        return achieved(facts, scarcity.resource) or scarcity.asked
    effective = (facts.get("limits") or {}).get("effective") or {}
    amount = effective.get(scarcity.option) or scarcity.asked
    capacity = capacities.get(scarcity.option)
    return capacity / amount if capacity else None


def achieved(facts: Mapping[str, Any], resource: str) -> float | None:
    """Return the achieved slowing factor: 1 plus the stopped seconds per second of use."""
    slowing = facts.get("slowing") or {}
    taken_ns, stopped_ns = slowing.get(f"taken_{resource}_ns"), slowing.get("stopped_ns")
    if not taken_ns or stopped_ns is None or taken_ns * NS < TAKEN_MIN_S:
        return None
    return 1 + float(stopped_ns) / float(taken_ns)


def capacities_of(demand: Demand | None, placed: Placed | None) -> dict[str, float]:
    """Return the capacity of each resource in the unit of its `--limit` option.

    For a disk it is the rate at which the operation reads while it reads, and at least the
    disk's rate for such reads at their queue depth. Read-ahead makes the first rate seem too
    high, so it is at most the disk's rate at a deep queue.

    Args:
        demand: Resource use of the operation without limits.
        placed: Its reads compared with the disk's ceiling; None if not measured.
    """
    capacities = {}
    own = None if demand is None else demand.reads_per_s_reading
    gives = None if placed is None or placed.random is None else placed.random.value
    per_s = max((rate for rate in (own, gives) if rate is not None), default=None)
    if placed is not None and placed.most is not None and per_s is not None:
        per_s = min(per_s, max(placed.most.value, gives or 0.0))
    size = placed.reads.size_bytes if placed is not None else None
    size = size if demand is None else demand.mean_read_bytes or size
    if per_s is not None:
        capacities[READ_IOPS] = per_s
        capacities |= {READ_RATE: per_s * size} if size else {}
    if demand is not None and demand.cores is not None:
        # Even a thread that computes only sometimes has a whole core while it computes.
        capacities[CPU] = max(1.0, demand.cores)
    return capacities


def without_effect(checks: Sequence[CheckResult]) -> str | None:
    """Return the reason why a limit or slowing took no effect; None if no check reports one.

    For slowing, the achieved factor is measured, so a missed factor is no reason. For a limit,
    use beyond the limit means that the actual limit is not known.
    """
    reasons = [
        result.reason
        for result in checks
        if result.verdict >= FROM_VERDICT.get(result.check, NEVER)
    ]
    return reasons[0] if reasons else None


def doubt_of(checks: Sequence[CheckResult]) -> str | None:
    """Return a check's doubt about a limit or slowing that took effect; None without one."""
    doubts = [
        result
        for result in checks
        if result.check in FROM_VERDICT and result.verdict and result.measured
    ]
    return doubts[0].reason if doubts and without_effect(checks) is None else None
