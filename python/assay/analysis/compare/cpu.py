"""Computes CPU time by kind of work, for a transaction or one execution of all operations."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.load.account import account_of, wholes_of
from assay.analysis.profile.samples import matrix, read_profile

if TYPE_CHECKING:
    from assay.record.reader import Run


@lru_cache(maxsize=64)
def cpu_by_work(run: Run) -> dict[str, float]:
    """Return CPU seconds by kind of work, for a transaction or one execution of all operations."""
    profile, account = read_profile(run), account_of(run)
    if profile is None or account is None:
        return {}
    counts = dict(profile.passes["operation"].value_counts().iter_rows())
    wholes = wholes_of(run, account)
    by_work: dict[str, float] = {}
    for operation, work, seconds in (
        matrix(profile).select("operation", "work", "seconds").iter_rows()
    ):
        own = account.operations.get(operation)
        if own is not None:
            work_s = own.weight * seconds / counts[operation]
        elif not profile.sampling.told_apart:
            work_s = seconds / wholes
        else:
            continue
        by_work[work] = by_work.get(work, 0.0) + work_s
    return by_work
