"""Checks that CPU samples agree with the kernel's own count of CPU time, and were not lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.profile.samples import read_profile
from assay.analysis.profile.shares import shares
from assay.analysis.summarise import probe_core_shares
from assay.checks.thresholds import (
    PROFILE_CORE_SHARE_MAX,
    PROFILE_DIFFERENCE_MAX,
    SAMPLES_LOST_SHARE_MAX,
)
from assay.model.units import percent_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.analysis.profile.profile import Sampling
    from assay.analysis.profile.shares import Shares
    from assay.record.reader import Run

NAME = "profile_agrees"
PROBE = "profile"


def check(run: Run) -> CheckResult:
    """Return *unknown* if samples were lost, or if their sum is not the measured CPU time."""
    profile = read_profile(run)
    if profile is None:
        return CheckResult(NAME, Verdict.VALID, "not profiled: the run had no option --profile")
    lost = _lost_share(profile.sampling)
    if lost is not None and lost > SAMPLES_LOST_SHARE_MAX:
        reason = (
            f"{percent_text(lost)} of the CPU samples were lost: the profile may be skewed;"
            f" sample less often"
        )
        return CheckResult(
            NAME, Verdict.UNKNOWN, reason, value=lost, threshold=SAMPLES_LOST_SHARE_MAX
        )
    cost = probe_core_shares(run).get(PROBE, 0.0)
    if cost > PROFILE_CORE_SHARE_MAX:
        reason = (
            f"sampling used {percent_text(cost)} of a core, which may have slowed the engine: "
            "sample less often with --profile-hz"
        )
        return CheckResult(
            NAME, Verdict.UNKNOWN, reason, value=cost, threshold=PROFILE_CORE_SHARE_MAX
        )
    return _agreement(shares(run, profile))


def _lost_share(sampling: Sampling) -> float | None:
    """Return the share of lost samples among all samples of the host, which share buffers."""
    if sampling.lost is None:
        return None
    all_of_them = sampling.lost + sampling.taken + (sampling.elsewhere or 0)
    return sampling.lost / all_of_them if all_of_them else 0.0


def _agreement(explained: Shares) -> CheckResult:
    ratio, by_chance = explained.agreement, explained.by_chance
    if ratio is None or by_chance is None:
        reason = (
            "the samples cannot be verified, because CPU time was not counted around operations"
        )
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    difference = abs(ratio - 1)
    seen = (
        f"the CPU samples represent {explained.sampled_s:.3g} s of CPU time, and the kernel "
        f"counted {explained.metered_s:.3g} s"
    )
    is_far = difference > PROFILE_DIFFERENCE_MAX
    if is_far and difference <= by_chance:
        reason = f"{seen}: the samples are too few for a comparison; measure for longer"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False, value=difference)
    if is_far:
        reason = f"{seen}: the profile's shares cover only the sampled part of the CPU time"
        verdict = Verdict.UNKNOWN
    else:
        reason, verdict = seen, Verdict.VALID
    return CheckResult(NAME, verdict, reason, value=difference, threshold=PROFILE_DIFFERENCE_MAX)
