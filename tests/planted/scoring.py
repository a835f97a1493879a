"""Judges what a run's findings say of a cell: named, root, confidently wrong, silent, error."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.planted.cells import ANY_SHARE, Cause, Cell

# A cause is named where it stands among so many first ones.
RANK_MAX = 3
# What is claimed of less of the time than this says nothing of it.
SHARE_MIN = 0.05
SUSPECTED = "suspected"
# Methods whose findings are of the host: they are true wherever others had this share of it.
OF_THE_HOST = ("steal", "neighbours")
HOST_BUSY_MIN = 0.05
Z95 = 1.959964

Finding = dict[str, Any]


@dataclass(frozen=True)
class Score:
    """What the explanation of one run of an arm with its cause is worth.

    Attributes:
        named: Of each cause, whether it is named.
        root: Of each cause, whether what a ticket would name is named.
        wrong: Findings that are wrong and sound sure.
        silent: Whether no cause of `SHARE_MIN` is claimed at all.
        error: How far the time that would be saved is off; of cells of one cause that is named.
        error_effect: The same of the time that is claimed to be in the cause.
    """

    named: tuple[bool, ...]
    root: tuple[bool, ...]
    wrong: tuple[str, ...]
    silent: bool
    error: float | None
    error_effect: float | None


def scored(cell: Cell, findings: Sequence[Finding], share: float, host_busy: float) -> Score:
    """The score of a run whose cause costs `share` of the time."""
    first = causes(findings)[:RANK_MAX]
    right = [
        [finding for finding in first if finding["method"] in cause.methods]
        for cause in cell.causes
    ]
    error, error_effect = None, None
    if len(cell.causes) == 1 and right[0]:
        error, error_effect = errors(right[0][0], share)
    return Score(
        named=tuple(bool(findings) for findings in right),
        root=tuple(
            any(names_root(cause, finding) for finding in findings)
            for cause, findings in zip(cell.causes, right, strict=True)
        ),
        wrong=tuple(brief(finding) for finding in wrong(cell, findings, host_busy, planted=True)),
        silent=not [finding for finding in causes(findings) if effect(finding) >= SHARE_MIN],
        error=error,
        error_effect=error_effect,
    )


def causes(findings: Sequence[Finding]) -> list[Finding]:
    """Findings that tell causes, in the report's order."""
    return [finding for finding in findings if finding["tells"] == "cause"]


def wrong(
    cell: Cell | None, findings: Sequence[Finding], host_busy: float, *, planted: bool
) -> Iterator[Finding]:
    """Sure causes of `SHARE_MIN` or more that the arm does not have.

    Args:
        cell: Whose arm; None: a healthy run, which has none.
        findings: Of one run.
        host_busy: Share of the CPU time in use that the hypervisor and others took.
        planted: Whether the arm has the cell's causes.
    """
    right = cell.methods if cell is not None and planted else frozenset()
    also = cell.also if cell is not None else {}
    for finding in causes(findings):
        if not is_sure(finding) or effect(finding) < SHARE_MIN or finding["method"] in right:
            continue
        if finding["method"] in OF_THE_HOST and host_busy >= HOST_BUSY_MIN:
            continue
        least, most = also.get(finding["method"], (math.inf, -math.inf))
        if not least <= effect(finding) <= most:
            yield finding


def is_sure(finding: Finding) -> bool:
    """Whether a finding sounds sure."""
    return bool(finding.get("certainty") != SUSPECTED)


def effect(finding: Finding) -> float:
    """The share of the time that a finding claims; 0 where it claims none."""
    return float(finding["effect_share"] or 0.0)


def names_root(cause: Cause, finding: Finding) -> bool:
    """Whether a finding names what a ticket would name."""
    said = [finding["claim"], finding["to_try"] or ""]
    said += [entry["says"] for entry in finding["evidence"]]
    text = "\n".join(said)
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in cause.root)


def errors(finding: Finding, share: float) -> tuple[float, float]:
    """Distance of the true share from what would be saved, and from the time in the cause."""
    error_effect = abs(effect(finding) - share)
    saved = finding.get("saved")
    if saved is None:
        return error_effect, error_effect
    least, most = saved
    return max(0.0, least - share, share - most), error_effect


def brief(finding: Finding) -> str:
    """A finding in a line."""
    return f"{finding['method']} {effect(finding):.0%}: {finding['claim']}"


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """The 95 % bounds of a share by Wilson's score; 0 and 1 without trials."""
    if trials == 0:
        return ANY_SHARE
    rate, per = hits / trials, Z95**2 / trials
    middle = (rate + per / 2) / (1 + per)
    half = Z95 * math.sqrt(rate * (1 - rate) / trials + per / (4 * trials)) / (1 + per)
    return max(0.0, middle - half), min(1.0, middle + half)
