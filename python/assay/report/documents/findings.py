"""Types of a run's document on its findings."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from annotated_types import Ge, Le, Len
from typing_extensions import TypedDict

from assay.model.finding import AdviceKind
from assay.report.documents.figures import MeasuredValue


class FindingEvidence(TypedDict):
    """One piece of evidence for or against a finding."""

    witness: str
    """Kind of the witness that gave the evidence, such as plan or profile."""
    contradicts: bool
    """Whether the evidence contradicts the finding's claim."""
    says: str
    at: str
    """Place of the evidence in the report, such as plan:q18."""


class AlsoAdvice(TypedDict):
    """A change of another table that belongs to the advised change."""

    subject: str
    values: dict[str, str]


class FindingAdvice(TypedDict):
    """The change that a finding advises, with its predicted saving."""

    kind: AdviceKind
    subject: str
    """Subject of the change: the role or name of a setting, the limited resource, or a table."""
    values: dict[str, str]
    gain_share: MeasuredValue
    """Predicted share of the run's time that the change saves."""
    also: list[AlsoAdvice]
    """Changes of the same kind in other tables, without which the change does not help."""


class FindingChange(TypedDict):
    """SQL statements that make the advised change on a server, ready to be pasted."""

    sql: str
    undo: str | None
    """Statement that reverts the change; null if no statement can."""
    costs: str | None
    """Disadvantages of the change; null without any."""


class FindingRow(TypedDict):
    """A claim about the run, with its evidence and its advice."""

    key: str
    """Name of the finding in commands."""
    claim: str
    effect_share: float
    """Time in the cause as a share of the run's wall time: a part of the node `part`."""
    part: str | None
    """Path of the time tree's node that contains the finding's effect; null if no single node
    contains it."""
    saved: Annotated[list[float], Len(2, 2)] | None
    """Lower and upper bound of the run's share of time that removing the cause would save; null if
    not known."""
    certainty: Literal["seen", "suspected"]
    """`seen` if two independent witnesses support it, `suspected` if only one does."""
    settle: str | None
    """Evidence that would confirm a suspected cause; null for other findings."""
    shares_with: list[str]
    """Keys of larger causes that claim the same time. The cause is an alternative to these."""
    witnesses: list[str]
    """Kinds of independent witnesses that support the finding."""
    interval: Annotated[list[float], Len(2, 2)] | None
    """95 % interval of the effect over repeated runs; null for one run."""
    interval_words: str
    runs: Annotated[list[str], Len(1)]
    """Ids of the runs that support the finding."""
    method: str
    """Heading in docs/numbers/findings that describes the finding's method."""
    to_try: str | None
    tells: Literal["bound", "cause", "shape"]
    """Kind of claim: the bound of the run, a cause of its duration, or the shape of its time."""
    operations: list[str]
    """Operations that the claim concerns; empty means the whole run."""
    fractions: dict[str, Annotated[float, Ge(0), Le(1)]]
    """Share of each operation's own time that the claim concerns, for operations with a known
    share.
    """
    evidence: list[FindingEvidence]
    """Evidence for and against the finding's claim."""
    advice: FindingAdvice | None
    """Change that `assay try` would make; null without one."""
    change: NotRequired[FindingChange | None]
    """Statements that make the change on a running server. Documents of older versions lack this
    key."""
