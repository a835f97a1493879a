"""Phrases on the thread time of plans by kind of work, if function names are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.counters.meters import activity_line
from assay.model.units import percent_text, seconds_text
from assay.report.words.profile import share_text

if TYPE_CHECKING:
    from assay.report.documents.plans.plan_work import PlanWorkOperation, PlanWorkSection
    from assay.report.documents.plans.plans import StatementPlan
    from assay.report.documents.profile.profile import ProfileSection
    from assay.report.documents.run import RunDocument

# If a smaller share of samples is classified, samples alone explain too little.
CLASSIFIED_ENOUGH = 0.5
ABOUT = (
    "Thread time of one captured execution of each operation. An operator's time includes "
    "everything that it called and waited for, which CPU samples would separate."
)


def is_wanted(profile: ProfileSection | str | None) -> bool:
    """Return True if plan times are needed because CPU samples explain too little."""
    if not isinstance(profile, dict):
        return True
    return profile["classified"] is None or profile["classified"] < CLASSIFIED_ENOUGH


def why_words(profile: ProfileSection | str | None) -> str:
    """Return text on why plan times are shown instead of CPU samples."""
    if not isinstance(profile, dict) or profile["classified"] is None:
        return "The kinds of work come from plans, as there are no CPU samples."
    named = profile["named"] or 0.0
    return (
        f"Only {share_text(profile['classified'])} of the CPU samples have a kind of work: "
        f"{share_text(1 - named)} fell into functions without names. The plans show the kinds "
        "of work."
    )


def mixed_words(plan_work: PlanWorkSection) -> list[str]:
    """Return sentences on time that includes several kinds of work."""
    whole_s = sum(row["seconds"] for row in plan_work["work"])
    return [
        f"{percent_text(mixed['seconds'] / whole_s)} is {mixed['work']} with"
        f" {' and '.join(mixed['also'])} in it, which plans do not separate."
        for mixed in plan_work["mixed"]
        if whole_s
    ]


def plan_work_about(document: RunDocument) -> str:
    """Return the page's paragraph on plan times: source, and work that is not separated."""
    profile = document["profile"]
    why = [why_words(profile)] if is_wanted(profile) else []
    return " ".join([*why, ABOUT, *mixed_words(document["plan_work"])])


def plan_work_rows(document: RunDocument) -> list[dict[str, str]]:
    """Return page rows of plan times by kind of work."""
    plan_work = document["plan_work"]
    longest = max((row["share"] for row in plan_work["work"]), default=0.0)
    return [
        {
            "work": row["work"],
            "share": share_text(row["share"]),
            "seconds": seconds_text(row["seconds"]),
            "width": f"{100 * row['share'] / longest:.1f}%" if longest else "0%",
            "operations": _most(plan_work["operations"], row["work"]),
        }
        for row in plan_work["work"]
    ]


def activity_words(plan: StatementPlan) -> str:
    """Return a captured statement's activity counters as text, or empty."""
    counted = plan["details"].get("activity")
    if not isinstance(counted, dict) or not counted:
        return ""
    return " ".join(activity_line(counted).split())


def _most(rows: list[PlanWorkOperation], work: str) -> str:
    """Return text on the operations with most seconds of a kind of work."""
    of_work = sorted((row for row in rows if row["work"] == work), key=lambda row: -row["seconds"])
    whole_s = sum(row["seconds"] for row in of_work)
    shares = [f"{row['operation']} {percent_text(row['seconds'] / whole_s)}" for row in of_work[:4]]
    left = len(of_work) - len(shares)
    return ", ".join(shares) + (f", {left} more" if left > 0 else "")
