"""Assigns the CPU time of processes that ended between two samples to their owners.

The kernel adds the CPU time of ended children to their parent, without naming the child.
Parallel workers of a short query live shorter than the sampling interval, so most of them are
never sampled. But samples of sessions name some workers, with their leader. The unsampled time
is divided in proportion to the known processes that started and ended meanwhile: of workers,
clients or the server itself. With fewer than KNOWN_MIN known processes it is not assigned.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

# With six known processes, one of the server's own would get a sixth of the time by chance. With
# 20, the standard error of a share is at most 11 points.
KNOWN_MIN = 20
KEYS = ["owner", "session", "is_worker"]


@dataclass(frozen=True)
class Ended:
    """CPU time of processes that ended before they were sampled, by owning session.

    Attributes:
        parts: owner, session, is_worker, cpu_s.
        processes: Number of known processes that determine the parts.
        cpu_s: Sum of the parts in seconds.
    """

    parts: pl.DataFrame
    processes: int
    cpu_s: float

    def of(self, owner: str) -> float:
        """Return the CPU seconds of an owner's processes that ended unsampled."""
        return float(self.parts.filter(pl.col("owner") == owner)["cpu_s"].sum())

    def of_session(self, session: int, *, workers: bool = False) -> float:
        """Return the CPU seconds of a session's processes, or workers, that ended unsampled."""
        own = self.parts.filter(pl.col("session") == session)
        return float((own.filter("is_worker") if workers else own)["cpu_s"].sum())


def ended_by_owner(
    owners: pl.DataFrame, owned: pl.DataFrame, outlasting: pl.Series, unseen_s: float
) -> Ended:
    """Return the CPU time of processes that ended unsampled, divided among their owners.

    Args:
        owners: pid, owner, session, is_worker of processes whose owner is known.
        owned: Sampled processes with their owner. Only these owners get a part.
        outlasting: Pids of processes that existed when the measured part began or ended.
        unseen_s: The CPU seconds to divide.
    """
    # A new process has its parent's title until it sets its own.
    lasting = owned.filter(pl.col("pid").is_in(outlasting.implode()))["title"].drop_nulls()
    is_named = pl.col("title").is_not_null() & ~pl.col("title").is_in(lasting.implode())
    background = owned.filter(is_named).select("pid", *KEYS)
    brief = (
        pl.concat([owners.select("pid", *KEYS), background])
        .unique("pid", keep="first")
        .filter(~pl.col("pid").is_in(outlasting.implode()))
        .join(owned.select("owner", "session").unique(), on=["owner", "session"], nulls_equal=True)
    )
    if brief.height < KNOWN_MIN:
        brief = brief.clear()
    counted = brief.group_by(KEYS, maintain_order=True).agg(pl.len().alias("processes"))
    share = pl.col("processes") / max(1, brief.height)
    parts = counted.select(*KEYS, (share * unseen_s).alias("cpu_s"))
    return Ended(parts, brief.height, unseen_s if brief.height else 0.0)
