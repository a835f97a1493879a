"""Measures the share of CPU samples that rules explain, and their agreement with counters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.host.task_counters import readings
from assay.analysis.operations import NS
from assay.analysis.profile.frames import NOT_NAMED
from assay.analysis.profile.tables import within_operations
from assay.analysis.work.rules import UNCLASSIFIED

if TYPE_CHECKING:
    from assay.analysis.profile.profile import Profile
    from assay.record.reader import Run

# Half the width of the 95 % interval of a normal distribution, in standard deviations.
QUANTILE = 1.96


@dataclass(frozen=True)
class Shares:
    """The explained shares of the CPU samples within operations; None without samples.

    Attributes:
        samples: Number of samples without artefacts: the denominator of the shares.
        classified: Share of samples with a kind of work.
        named: Share of samples whose innermost frame has a name.
        seconds_each: CPU seconds that one sample represents.
        sampled_s: CPU seconds of the samples in operations whose CPU time was metered, including
            artefacts. Of all operations if samples cannot be assigned to single ones.
        metered_s: CPU seconds of these operations by counters around them; None if not metered.
    """

    samples: int
    classified: float | None
    named: float | None
    seconds_each: float
    sampled_s: float
    metered_s: float | None

    @property
    def agreement(self) -> float | None:
        """Sampled CPU seconds divided by metered CPU seconds; None if not metered."""
        return self.sampled_s / self.metered_s if self.metered_s else None

    @property
    def by_chance(self) -> float | None:
        """The distance of `agreement` from 1 that chance explains, at 95 % confidence.

        The distance is None if CPU time was not metered.
        """
        if not self.metered_s:
            return None
        return QUANTILE * math.sqrt(self.seconds_each / self.metered_s)


def shares(record: Run, profile: Profile) -> Shares:
    """Return the explained shares of a CPU profile, and its agreement with CPU counters."""
    within = within_operations(profile)
    not_named = profile.frames.filter(pl.col("kind").is_in(NOT_NAMED)).select("frame")
    named = within.join(not_named, left_on="leaf", right_on="frame", how="anti")
    classified = within.filter(pl.col("work") != UNCLASSIFIED)
    metered = metered_cpu(record)
    sampled = profile.samples.join(metered.select("sequence"), on="sequence", how="semi")
    if not profile.sampling.told_apart:
        # Counters around overlapping operations count the same threads more than once.
        metered, sampled = metered.clear(), profile.samples.drop_nulls("operation")
    return Shares(
        samples=within.height,
        classified=classified.height / within.height if within.height else None,
        named=named.height / within.height if within.height else None,
        seconds_each=profile.seconds_each,
        sampled_s=sampled.height * profile.seconds_each,
        metered_s=float(metered["cpu_ns"].sum()) * NS if metered.height else None,
    )


def metered_cpu(record: Run) -> pl.DataFrame:
    """Return the counted CPU time of each operation in ns.

    The source is the scheduler's clock if all operations have it. Like the samples, it leaves
    out Assay's own threads, and it is exact where user and system time are rounded to ticks.
    """
    if not record.has("tasks"):
        return pl.DataFrame(schema={"sequence": pl.UInt64, "cpu_ns": pl.UInt64})
    table = readings(record.table("events"), record.table("tasks"))
    ticks = pl.col("user_ns") + pl.col("system_ns")
    by_scheduler = table.height > 0 and table["on_cpu_ns"].null_count() == 0
    cpu_ns = pl.col("on_cpu_ns") if by_scheduler else ticks
    return table.select("sequence", cpu_ns.alias("cpu_ns")).drop_nulls()
