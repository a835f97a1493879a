"""CPU time of the whole (a transaction, or a pass over all operations) by kind of work."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.compare.account import account_of, wholes_of
from assay.analysis.profile.samples import matrix, read_profile

if TYPE_CHECKING:
    from assay.record.reader import Run


@lru_cache(maxsize=64)
def cpu_by_work(run: Run) -> dict[str, float]:
    """CPU seconds of the whole by word of work; empty without samples."""
    profile, account = read_profile(run), account_of(run)
    if profile is None or account is None:
        return {}
    counts = dict(profile.passes["operation"].value_counts().iter_rows())
    wholes = wholes_of(run, account)
    found: dict[str, float] = {}
    for operation, work, seconds in (
        matrix(profile).select("operation", "work", "seconds").iter_rows()
    ):
        own = account.operations.get(operation)
        if own is not None:
            each = own.weight * seconds / counts[operation]
        elif not profile.sampling.told_apart:
            each = seconds / wholes
        else:
            continue
        found[work] = found.get(work, 0.0) + each
    return found
