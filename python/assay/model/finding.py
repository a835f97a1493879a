"""Findings of a report: claims with their evidence and advice."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping

# Kind of claim: what bounds the run, why it takes long, or where its time goes.
Tells = Literal["bound", "cause", "shape"]
TELLS: tuple[Tells, ...] = ("bound", "cause", "shape")

# Certainty of a cause: two independent witnesses support it, or only one does.
Certainty = Literal["seen", "suspected"]

# Kind of witness; witnesses of different kinds are independent.
Witness = Literal["wait", "plan", "sample", "counter", "setting", "catalogue", "session", "clock"]
# Witnesses by the first word of `Evidence.at`.
WITNESSES: Mapping[str, Witness] = {
    "where": "wait",
    "plan": "plan",
    "profile": "sample",
    "timeline": "counter",
    "counter": "counter",
    "check": "counter",
    "setting": "setting",
    "catalogue": "catalogue",
    "session": "session",
    "process": "session",
    "statements": "clock",
    "statement": "setting",
    "clock": "clock",
    "cluster": "counter",
    "steady": "counter",
}

# Kinds of changes of tables by SQL statements.
TableChange = Literal["index", "statistics", "extended-statistics", "histogram", "vacuum"]
# Kinds of changes that advice recommends. An engine's `advice.toml` says how the engine makes each
# change.
AdviceKind = Literal[
    TableChange,
    "setting",
    "named-setting",
    "default-setting",
    "state",
    "clients",
    "limit",
    "durability",
    "row-order",
    "trigger",
    "stable-function",
    "dropped-index",
    "ablation",
    "hint",
    "union-all",
    "array-element",
    "changed-rows",
    "temporary-statistics",
    "exists",
    "exists-for-count",
    "union-of-joins",
    "window-function",
    "late-look-up",
    "text-values",
    "stored-values",
    "stored-views",
    "alike-columns",
    "prepared",
    "pipeline",
    "one-transaction",
    "one-client",
    "technique",
    "slow",
]
# Mark in the values of advice about an optimiser setting, which acts only by the choice of plans.
BY_PLANS: Mapping[str, str] = {"acts": "through plans"}
# Mark of a change whose effect a plan for one row of parameter values may not show.
BY_VALUES: Mapping[str, str] = {"plans": "depend on values"}
# Mark in the values of advice whose effect no plan shows, such as the check of a foreign key.
UNSEEN: Mapping[str, str] = {"acts": "where no plan shows it"}


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence for or against a finding.

    Attributes:
        says: One sentence with the measured figure.
        at: Place where a reader can check it: `where:q18`, `plan:q18`, `profile:q18`, `timeline`,
            `counter:temporary_bytes`, `setting:work_mem`, `check:steal`, `catalogue:orders`
            (indexes and constraints), `session:4711` (another session), `process:backup` (another
            program of the host), `statement:q18` (its text), `statements:q18` and `clock:q18`
            (times of statements and of round trips).
        contradicts: Whether it contradicts the claim. One contradiction rules a cause out.
    """

    says: str
    at: str
    contradicts: bool = False

    @property
    def witness(self) -> Witness:
        """The kind of source of the evidence, from the prefix of `at`."""
        return WITNESSES[self.at.partition(":")[0]]


@dataclass(frozen=True)
class Advice:
    """A change that would help, in terms that do not depend on the engine.

    Attributes:
        kind: Kind of change.
        subject: Role (`work_memory`) or name of a setting, a limited resource, a durability level,
            or a table.
        values: Details of the change: `value` of a setting; `columns` of an index, separated by
            commas, or its `expression`, its `method` if that is not the default, and the table's
            `schema` if known; `tables`, separated by commas, if there are several; the column that
            another one is made `like`, as `table.column`.
        gain_share: Predicted share of the run's time that it saves; None if not predicted.
        also: Changes of the same kind in other tables, without which this change does not help.
    """

    kind: AdviceKind
    subject: str
    values: Mapping[str, str] = field(default_factory=dict)
    gain_share: float | None = None
    also: tuple[Advice, ...] = ()

    @property
    def parts(self) -> tuple[Advice, ...]:
        """The advised changes one by one: this one, and those in other tables."""
        return (replace(self, also=()), *self.also)

    @property
    def tables(self) -> list[str]:
        """The tables that the advice concerns."""
        named = [name.strip() for name in self.values.get("tables", "").split(",")]
        return list(filter(None, named)) or [self.subject]

    @property
    def columns(self) -> list[str]:
        """The columns that the advice names."""
        texts = self.values.get("columns", "").split(",")
        return [name.strip() for name in texts if name.strip()]

    @property
    def is_per_client(self) -> bool:
        """True if the change alters how many clients there are, to make each of them faster.

        Throughput, which falls with the number of clients, does not show the effect of such a
        change.
        """
        return self.kind == "one-client"


@dataclass(frozen=True)
class Change:
    """Statements that make an advised change on a server, ready to be pasted.

    Attributes:
        sql: Statement that makes the change.
        undo: Statement that reverts the change; None if no statement can.
        costs: Disadvantages of the change, as a clause.
    """

    sql: str
    undo: str | None = None
    costs: str | None = None

    def with_cost(self, clause: str) -> Change:
        """Return the change with another disadvantage, before the others."""
        return replace(self, costs="; ".join(filter(None, (clause, self.costs))))


@dataclass(frozen=True)
class Finding:
    """A claim about a run, with its evidence.

    Attributes:
        claim: The claim, with its numbers.
        effect_share: Time in the cause, as a share of the run's wall time, 0 to 1. The node `part`
            of the time tree contains it.
        interval: 95 % interval of the effect, over repeated runs or over passes; None without
            either.
        runs: Ids of the runs that support it.
        method: Heading in docs/numbers/findings that describes the method.
        to_try: Next step for the user, as a command if possible.
        tells: Kind of claim.
        operations: Operations that the claim concerns, largest share first; empty means the whole
            run.
        fractions: Share of each operation's own time that the claim concerns, 0 to 1, where known.
        evidence: Evidence for and against the claim.
        advice: Change that `assay try` would carry out.
        change: Statements that make the change on the running server; None if Assay started the
            server, or the engine declares no statements.
        part: Path of the time tree's node that contains the effect, such as `computing` or
            `waiting/lock`; None if no single node does.
        saved: Minimum and maximum share of the run's time that removing the cause would save; None
            if not known.
        certainty: `seen` if two independent witnesses support it, `suspected` if only one does.
        settle: Evidence that would confirm a suspected cause; None if the cause was seen.
        shares_with: Keys of larger causes that claim the same time. The causes are alternatives, so
            their times do not add up.
    """

    claim: str
    effect_share: float
    interval: tuple[float, float] | None
    runs: tuple[str, ...]
    method: str
    to_try: str | None = None
    tells: Tells = "cause"
    operations: tuple[str, ...] = ()
    fractions: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    advice: Advice | None = None
    change: Change | None = None
    part: str | None = None
    saved: tuple[float, float] | None = None
    certainty: Certainty = "seen"
    settle: str | None = None
    shares_with: tuple[str, ...] = ()

    @property
    def witnesses(self) -> tuple[Witness, ...]:
        """The kinds of independent sources that support the finding."""
        return tuple(
            dict.fromkeys(
                evidence.witness for evidence in self.evidence if not evidence.contradicts
            )
        )

    @property
    def contradictions(self) -> tuple[Evidence, ...]:
        """The evidence against the finding's claim."""
        return tuple(evidence for evidence in self.evidence if evidence.contradicts)

    @property
    def key(self) -> str:
        """The finding's key for the command line: `spill`, or `spill:q18`."""
        return f"{self.method}:{self.operations[0]}" if self.operations else self.method

    @property
    def interval_words(self) -> str:
        """The finding's 95 % interval as text."""
        if self.interval is None:
            return "one run, no interval"
        low, high = (percent_text(edge) for edge in self.interval)
        over = "passes" if len(self.runs) == 1 else "runs"
        return f"{low} to {high} over {over}"

    def without_interval(self) -> Finding:
        """Return the finding without an interval, for evidence that was gathered only once."""
        return replace(self, interval=None)

    def of(self, part: str, saved: tuple[float, float] | None = None) -> Finding:
        """Return the finding with its node of the time tree and the possible saving.

        Args:
            part: Path of the node.
            saved: Minimum and maximum share of the run's time that removing the cause would save.
        """
        return replace(self, part=part, saved=saved)

    def facts(self) -> dict[str, Any]:
        """Return the finding about a run as JSON values."""
        advice = self.advice
        return {
            "key": self.key,
            "claim": self.claim,
            "effect_share": self.effect_share,
            "interval": None if self.interval is None else list(self.interval),
            "interval_words": self.interval_words,
            "runs": list(self.runs),
            "method": self.method,
            "to_try": self.to_try,
            "tells": self.tells,
            "operations": list(self.operations),
            "fractions": dict(self.fractions),
            "part": self.part,
            "saved": None if self.saved is None else list(self.saved),
            "certainty": self.certainty,
            "settle": self.settle,
            "shares_with": list(self.shares_with),
            "witnesses": list(self.witnesses),
            "evidence": [
                {
                    "says": evidence.says,
                    "at": evidence.at,
                    "witness": evidence.witness,
                    "contradicts": evidence.contradicts,
                }
                for evidence in self.evidence
            ],
            "advice": None
            if advice is None
            else {
                "kind": advice.kind,
                "subject": advice.subject,
                "values": dict(advice.values),
                "gain_share": advice.gain_share,
                "also": [
                    {"subject": part.subject, "values": dict(part.values)} for part in advice.also
                ],
            },
            "change": None if self.change is None else asdict(self.change),
        }
