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
    """Geometric mean over the passes of the earlier run; of a load, over batches."""
    after_s: MeasuredValue
    factor: MeasuredValue
    """`after_s` divided by `before_s`."""
    interval: Annotated[list[float], Len(2, 2)] | None
    """95 % interval of the factor over passes; null: fewer than three in a run."""
    verdict: ChangeVerdict
    """other text: the statement was changed between the runs."""
    plan: str | None
    """What changed in its plan; null: nothing, or there is no plan of both."""


class BeforeAfter(TypedDict):
    """All operations of two runs, in the order of this one."""

    before: str
    """Id of the earlier run."""
    after: str
    earlier_s: MeasuredValue
    """Time between the beginnings of the two runs."""
    operations: list[BeforeAfterRow]
