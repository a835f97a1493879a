"""Computes the share of an operation's time that its threads spent on a kind of work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.findings.shape.work import work_shares
from assay.analysis.profile.tables import matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case


def work_fractions(case: Case, works: Sequence[str]) -> dict[str, float]:
    """Return the share of each operation's time that went into the given kinds of work.

    Samples measure CPU time, so the share of samples is multiplied by the share of time on a CPU.
    An operation whose time was not split counts as always on a CPU. The result is empty with too
    few samples, or if samples are not assigned to operations.
    """
    if (
        case.profile is None
        or not case.profile.sampling.told_apart
        or not work_shares(case.profile)
    ):
        return {}
    on_cpu = case.part("cpu_user", "cpu_system")
    by_operation = (
        matrix(case.profile)
        .filter(pl.col("work").is_in(list(works)))
        .group_by("operation", maintain_order=True)
        .agg(pl.col("share").sum())
    )
    return {
        name: share * min(1.0, on_cpu.get(name, 1.0))
        for name, share in by_operation.select("operation", "share").iter_rows()
        if name in case.shares
    }
