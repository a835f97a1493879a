"""Tries whether a kept change is still needed after a later step kept another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import names_text
from assay.model.finding import Finding
from assay.study.diagnosing.candidates import Candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run
    from assay.running.asked.request import RunRequest

SUPERFLUOUS = "superfluous"
# Experiments whose change can be left out again without effect on other kept changes, and the
# options of a run that they alter.
ALTERED = {
    "setting": ("settings",),
    "named-setting": ("settings",),
    "index": ("prepare", "changes"),
}
SETTLE = "a trial without the change, which this is"


@dataclass(frozen=True)
class Kept:
    """A change that a step of a diagnosis kept.

    Attributes:
        step: Number of the step, from 1.
        candidate: The change, with the request of a run that has it.
        before: Request of a run without it.
        operations: Operations of the cause for which it was kept; empty means all.
    """

    step: int
    candidate: Candidate
    before: RunRequest
    operations: tuple[str, ...]


def superfluous_candidates(run: Run, base: RunRequest, kept: Sequence[Kept]) -> list[Candidate]:
    """Return the run without each kept change that a later one may have made superfluous.

    This is possible if a later change was kept for one of the same operations. Without a later
    change, the step that kept a change has measured just this.

    Args:
        run: Run that was explained.
        base: Request of the run, which includes all kept changes.
        kept: Kept changes in their order.
    """
    candidates = []
    for number, earlier in enumerate(kept):
        later = [each for each in kept[number + 1 :] if _share_operations(earlier, each)]
        request = _without(base, earlier)
        if later and request is not None:
            candidates.append(_candidate(run, earlier, later, request))
    return candidates


def _share_operations(earlier: Kept, later: Kept) -> bool:
    if not (earlier.operations and later.operations):
        return True
    return bool(set(earlier.operations).intersection(later.operations))


def _without(base: RunRequest, kept: Kept) -> RunRequest | None:
    """Return a request with the options that a kept change altered as they were before it.

    The result is None if the change altered other options, or a later change altered the same ones.
    """
    request, with_it = base, kept.candidate.request.changed(undo=kept.before.undo)
    for option in ALTERED.get(kept.candidate.kind, ()):
        before, after = getattr(kept.before, option), getattr(with_it, option)
        altered = {name for name in before | after if before.get(name) != after.get(name)}
        values = getattr(request, option)
        if any(values.get(name) != after.get(name) for name in altered):
            return None
        left = {name: value for name, value in values.items() if name not in altered}
        restored = {name: before[name] for name in before if name in altered}
        request = request.changed(**{option: left | restored})
        with_it = with_it.changed(**{option: before})
    return request if with_it == kept.before and request != base else None


def _candidate(run: Run, kept: Kept, later: Sequence[Kept], request: RunRequest) -> Candidate:
    change = kept.candidate.change
    reasons = names_text([f"{each.candidate.change} (step {each.step})" for each in later])
    cause = Finding(
        f"step {kept.step} kept {change}; {reasons} may have made it superfluous",
        0.0,
        None,
        (run.id,),
        SUPERFLUOUS,
        operations=kept.operations,
        certainty="suspected",
        settle=SETTLE,
    )
    return Candidate(
        cause,
        f"without {change}",
        kept.candidate.kind,
        request,
        by_plan=False,
        stays=True,
        expected=0.0,
        takes_back=change,
    )
