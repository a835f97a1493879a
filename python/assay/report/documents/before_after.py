"""Each operation's time in two runs of the same statements: `assay explain --against --json`."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Len
from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue

ChangeVerdict = Literal["faster", "slower", "within noise", "not known", "other text"]


class BeforeAfterRow(TypedDict):
    """One operation in an earlier run and in this one."""

    operation: str
    before_s: MeasuredValue
    """Geometric mean over the passes of the earlier run; under a load, over its batches."""
    after_s: MeasuredValue
    factor: MeasuredValue
    """`after_s` divided by `before_s`."""
    interval: Annotated[list[float], Len(2, 2)] | None
    """95 % interval of the factor over passes; null if a run has fewer than three."""
    verdict: ChangeVerdict
    """Result of the comparison. `other text` means that the statement differs between the runs."""
    plan: str | None
    """Change of its plan; null if nothing changed or a run has no plan."""


class BeforeAfter(TypedDict):
    """All operations of two runs, in the order of this one."""

    before: str
    """Id of the earlier run."""
    after: str
    earlier_s: MeasuredValue
    """Time between the beginnings of the two runs."""
    operations: list[BeforeAfterRow]
