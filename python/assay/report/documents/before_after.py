"""Types of `assay explain --against --json`: each operation's time in two runs."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Len
from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue

ChangeVerdict = Literal["faster", "slower", "within noise", "not known", "other text"]


class BeforeAfterRow(TypedDict):
    """The times of one operation in an earlier run and in this run."""

    operation: str
    before_s: MeasuredValue
    """Geometric mean of the operation's times over the passes of the earlier run; under a load,
    over the batches."""
    after_s: MeasuredValue
    factor: MeasuredValue
    """`after_s` divided by `before_s`."""
    interval: Annotated[list[float], Len(2, 2)] | None
    """95 % interval of the factor over passes; null if a run has fewer than three."""
    verdict: ChangeVerdict
    """Result of the comparison. `other text` means that the statement's text differs between the
    runs."""
    plan: str | None
    """Change of the operation's plan; null if the plan did not change, or if a run has no plan."""


class BeforeAfter(TypedDict):
    """The times of all operations in two runs, in the order of the later run."""

    before: str
    """Id of the earlier run."""
    after: str
    earlier_s: MeasuredValue
    """Seconds between the starts of the two runs."""
    operations: list[BeforeAfterRow]
