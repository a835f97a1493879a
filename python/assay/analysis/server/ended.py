"""Puts CPU time of processes that ended between two samples down to those they worked for.

The kernel tells a parent what its ended children used, and not which of them. Parallel workers of a
short query live for less than the time between two samples, so most of them are never sampled; but
looks at sessions name some, with their leader. Time that no sample saw is divided as the processes
are that are known to have begun and ended meanwhile: a worker's, a client's or the server's own.
Where fewer than KNOWN_MIN are known it stays with nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

# One of six known to be the server's own would give it a sixth of the time, by chance. The standard
# error of a share of 20 is at most 11 points.
KNOWN_MIN = 20
KEYS = ["owner", "session", "is_worker"]


@dataclass(frozen=True)
class Ended:
    """CPU time that no sample saw, by whose processes used it.

    Attributes:
        parts: owner, session, is_worker, cpu_s.
        processes: How many processes say so.
        cpu_s: Sum of the parts.
    """

    parts: pl.DataFrame
    processes: int
    cpu_s: float

    def of(self, owner: str) -> float:
        """CPU seconds of an owner."""
        return float(self.parts.filter(pl.col("owner") == owner)["cpu_s"].sum())

    def of_session(self, session: int, *, workers: bool = False) -> float:
        """CPU seconds of a session, or of its workers alone."""
        own = self.parts.filter(pl.col("session") == session)
        return float((own.filter("is_worker") if workers else own)["cpu_s"].sum())


def ended_by_owner(
    owners: pl.DataFrame, owned: pl.DataFrame, outlasting: pl.Series, unseen_s: float
) -> Ended:
    """Divide CPU time that no sample saw by owner.

    Args:
        owners: pid, owner, session, is_worker of processes whose owner is known.
        owned: Processes that samples saw, with their owner; only these owners are given anything.
        outlasting: Processes that were there when the measured part began or ended.
        unseen_s: The time to divide.
    """
    # A process that has just begun bears its parent's title until it gives itself one.
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
