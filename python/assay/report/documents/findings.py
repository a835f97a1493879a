"""Findings in the document of a run."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from annotated_types import Ge, Le, Len
from typing_extensions import TypedDict

from assay.model.finding import AdviceKind
from assay.report.documents.figures import MeasuredValue


class FindingEvidence(TypedDict):
    """One piece of evidence for a finding or against it."""

    witness: str
    """Kind of the witness."""
    contradicts: bool
    """Whether it speaks against the claim."""
    says: str
    at: str
    """Where a reader sees it, such as plan:q18."""


class FindingAdvice(TypedDict):
    """The change that a finding advises."""

    kind: AdviceKind
    subject: str
    """The role of a setting, the name of one, what is limited, or a table."""
    values: dict[str, str]
    gain_share: MeasuredValue
    """Share of the run's time that it is predicted to save."""


class FindingChange(TypedDict):
    """Statements that make the advised change on a server, ready to be pasted."""

    sql: str
    undo: str | None
    """Takes it back; null: no statement does."""
    costs: str | None
    """What it costs beside its gain."""


class FindingRow(TypedDict):
    """A claim about the run, its evidence and its advice."""

    key: str
    """What it is called on the command line."""
    claim: str
    effect_share: float
    """Time in the cause as a share of the run's wall time: a part of the node `part`."""
    part: str | None
    """Path of the node of the time tree that the effect is a part of; null: of no one node."""
    saved: Annotated[list[float], Len(2, 2)] | None
    """Share of the run's time that its removal would save, at least and at best; null:
    not known."""
    certainty: Literal["seen", "suspected"]
    """seen: by two independent witnesses."""
    settle: str | None
    """What would turn a suspicion into a certainty."""
    shares_with: list[str]
    """Keys of larger causes that claim the same time: alternatives."""
    witnesses: list[str]
    """Kinds of independent witnesses that support it."""
    interval: Annotated[list[float], Len(2, 2)] | None
    """95 % over repeated runs; null for one run."""
    interval_words: str
    runs: Annotated[list[str], Len(1)]
    """Ids of the runs that support it."""
    method: str
    """Heading in docs/numbers/findings."""
    to_try: str | None
    tells: Literal["bound", "cause", "shape"]
    """What bounds the run, why it takes so long, or where its time goes."""
    operations: list[str]
    """Those that it is about; empty: the whole run."""
    fractions: dict[str, Annotated[float, Ge(0), Le(1)]]
    """Of these operations how much of the own time it is about, as far as known."""
    evidence: list[FindingEvidence]
    """What it rests on."""
    advice: FindingAdvice | None
    """What `assay try` would carry out."""
    change: NotRequired[FindingChange | None]
    """Statements that make it on a running server; documents of older versions have no such key."""
