"""Results of `assay explain`, with the documents that `--json` prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.report.sections.operation import operation_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from assay.report.documents.before_after import BeforeAfter
    from assay.report.documents.plans.plan_difference import PlanDifferenceRow
    from assay.report.documents.profile.profile import ProfileSection, UnclassifiedRow
    from assay.report.documents.profile.profile_difference import ProfileDifference
    from assay.report.documents.run import RunDocument

# Sections of a run's document that `assay explain` shows.
SECTIONS = (
    *("where", "operations", "findings", "plans", "plan_work", "plan_capture"),
    *("engine_counters", "storage"),
)


@dataclass(frozen=True)
class ExplainedRun:
    """The explanation of a whole run by `assay explain`.

    Attributes:
        report: The document of the run.
        profile: CPU samples of the run; None means no samples.
        no_profile: Reason why there are no CPU samples; empty if there are some.
        tried: Sentence on the results of earlier trials, by method of findings.
    """

    report: RunDocument
    profile: ProfileSection | None
    no_profile: str
    tried: Mapping[str, str] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """Return the JSON document that explains a run, with its CPU samples."""
        report: Mapping[str, object] = self.report
        sections = {name: report[name] for name in SECTIONS}
        return {"run": self.report["run"], **sections, "profile": self.profile}


@dataclass(frozen=True)
class ExplainedOperation:
    """The explanation of one operation of a run.

    Attributes:
        report: The document of the run.
        operation: Name of the operation.
        profile: CPU samples of the run; None means no samples.
        no_profile: Reason why there are no CPU samples; empty if there are some.
    """

    report: RunDocument
    operation: str
    profile: ProfileSection | None
    no_profile: str

    @property
    def document(self) -> dict[str, Any]:
        """Return the JSON document of an operation: findings, plans and CPU samples."""
        explained = operation_of(self.report, self.operation)
        return {"run": self.report["run"], **explained, "profile": self.profile}


@dataclass(frozen=True)
class ExplainedSamples:
    """The CPU samples of a run as the only result of `assay explain`.

    Attributes:
        report: The document of the run.
        profile: Its CPU samples.
    """

    report: RunDocument
    profile: ProfileSection

    @property
    def document(self) -> dict[str, Any]:
        """Return the JSON document of the CPU samples."""
        return {"run": self.report["run"], "profile": self.profile}


@dataclass(frozen=True)
class MissingRules:
    """Functions of a run's CPU samples that no rule assigns to a kind of work.

    Attributes:
        run: Id of the run.
        outermost: Outermost functions, which rules may not match alone.
    """

    run: str
    rows: list[UnclassifiedRow]
    outermost: Collection[str]

    @property
    def document(self) -> dict[str, Any]:
        """Return the JSON document of functions that no rule assigns to a kind of work."""
        return {"run": self.run, "unclassified": self.rows}


@dataclass(frozen=True)
class ExplainedDifference:
    """The difference between two runs as a result of `assay explain`.

    Attributes:
        ours: The document of this run.
        theirs: The document of the other run.
        operation: The compared operation; None means all of them.
        samples: Differences of the CPU samples; None if a run has no samples.
        plans: Differences of the plans.
        no_plans: Reason why plans are not compared; None if both runs have plans.
        durability: Level of durability by the run's id.
        unequal: Sentence on different durability levels; None if they are equal.
        page: File of the differential flame graph; None if not requested.
        times: Each operation's time in both runs.
    """

    ours: RunDocument
    theirs: RunDocument
    operation: str | None
    samples: ProfileDifference | None
    plans: list[PlanDifferenceRow]
    no_plans: str | None
    durability: Mapping[str, str | None]
    unequal: str | None
    page: Path | None
    times: BeforeAfter

    @property
    def document(self) -> dict[str, Any]:
        """Return the JSON document of two runs' times, CPU samples and plans."""
        return {
            "run": self.ours["run"],
            "against": self.theirs["run"],
            "durability": self.durability,
            "operations": self.times["operations"],
            "difference": self.samples,
            "plans": self.plans,
            "html": None if self.page is None else str(self.page),
        }


Explanation = (
    ExplainedRun | ExplainedOperation | ExplainedSamples | MissingRules | ExplainedDifference
)
