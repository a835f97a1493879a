"""Checks that resource limits, read-ahead and device were in effect as requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.host.limits import limits_used, use_words
from assay.checks.thresholds import LIMIT_EXCESS_SHARE_MAX
from assay.model.limit import amount_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.host.limits import LimitsUsed, LimitUse
    from assay.record.reader import Run

NAME = "limits"


def check(run: Run) -> CheckResult:
    """Return invalid if the engine used more than its limit, unknown if not measured."""
    request = run.facts["request"]
    limited = limits_used(run)
    asked_for = request.get("limits") or {}
    changes = [*run.facts.get("changes", [])]
    if asked_for and limited is None:
        return CheckResult(
            NAME, Verdict.UNKNOWN, ("limits were requested, but the record contains no limit")
        )
    problems: list[CheckResult] = [
        *(_of_limits(limited) if limited else ()),
        *_of_changes(request, changes),
    ]
    if problems:
        return max(problems, key=lambda problem: problem.verdict)
    if limited is None and not changes:
        return CheckResult(
            NAME, Verdict.VALID, ("the run limited no resource and changed nothing on the host")
        )
    phrases = [use_words(use) for use in limited.uses] if limited else []
    phrases += [change["what"] for change in changes]
    excess = max((use.excess or 0.0 for use in limited.uses), default=None) if limited else None
    threshold = None if excess is None else LIMIT_EXCESS_SHARE_MAX
    return CheckResult(NAME, Verdict.VALID, "; ".join(phrases), value=excess, threshold=threshold)


def _of_limits(limited: LimitsUsed) -> Iterator[CheckResult]:
    for use in limited.uses:
        yield from _of_limit(use)


def _of_limit(use: LimitUse) -> Iterator[CheckResult]:
    asked = f"{use.name} {amount_text(use.name, use.asked)}"
    if not use.in_effect:
        effective = "no limit" if use.effective is None else amount_text(use.name, use.effective)
        reason = (
            f"the limit {asked} did not take effect: the kernel reported {effective} at the end"
        )
        yield CheckResult(NAME, Verdict.INVALID, reason)
    if use.used is None and use.name != "cpus":
        reason = (
            f"it is not known whether the limit {asked} held, because the kernel did not count "
            "the use"
        )
        yield CheckResult(NAME, Verdict.UNKNOWN, reason, measured=False)
    elif (excess := use.excess or 0.0) > LIMIT_EXCESS_SHARE_MAX:
        reason = (
            f"the limit {asked} did not take effect: {amount_text(use.name, use.used)} was used"
        )
        yield CheckResult(
            NAME, Verdict.INVALID, reason, value=excess, threshold=LIMIT_EXCESS_SHARE_MAX
        )


def _of_changes(request: dict[str, Any], changes: list[dict[str, Any]]) -> Iterator[CheckResult]:
    if (request.get("read_ahead_bytes") is not None or request.get("own_device")) and not changes:
        yield CheckResult(
            NAME,
            Verdict.UNKNOWN,
            ("a change of the host was requested, but the record contains none"),
        )
    for change in changes:
        if change["effective"] != change["asked"]:
            reason = (
                f"{change['what']} did not take effect: {change['asked']} was requested, and "
                f"{change['effective'] or 'nothing'} was read back"
            )
            yield CheckResult(NAME, Verdict.UNKNOWN, reason)
