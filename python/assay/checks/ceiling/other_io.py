"""Checks that no other programs used the disk during its trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.ceiling.trials import DIRECT, read_ceiling
from assay.checks.thresholds import CEILING_DISTURBED_SHARE_MAX, CEILING_OTHERS_BYTES_SHARE_MAX
from assay.model.units import percent_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "other_io"


def check(run: Run) -> CheckResult:
    """Return unknown if other programs used the disk in too many trials."""
    trials = read_ceiling(run).disk.filter(
        pl.col("cache") == DIRECT, pl.col("others_bytes").is_not_null()
    )
    if trials.is_empty():
        reason = (
            "requests of other programs are not measured: the file system of the test file has"
            " no block device that counts them"
        )
        return CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    own = (pl.col("requests") + pl.col("requests_outside")) * pl.col("size_bytes")
    others = pl.col("others_bytes") + pl.col("device_other_bytes")
    is_disturbed = others > CEILING_OTHERS_BYTES_SHARE_MAX * own
    share = trials.select(is_disturbed.mean()).item()
    seen = f"other programs read or wrote on the device in {percent_text(share)} of the trials"
    if share > CEILING_DISTURBED_SHARE_MAX:
        reason = (
            f"{seen}: the disk can do more than these figures; repeat the trials while no"
            f" other program uses it"
        )
        return _disturbance(Verdict.UNKNOWN, reason, share)
    return _disturbance(Verdict.VALID, seen, share)


def _disturbance(verdict: Verdict, reason: str, share: float) -> CheckResult:
    return CheckResult(NAME, verdict, reason, value=share, threshold=CEILING_DISTURBED_SHARE_MAX)
