"""Checks that every row that queries returned is right.

Where refresh functions change the data, an answer is right if it fits any state that was current
while the query ran.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.answers.compared import Compared, kept_answers
from assay.analysis.answers.states import Refresh, distinct, executions
from assay.model.verdict import NOT_COMPARED, CheckResult, Verdict
from assay.record.layout import changing_result

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "answers"
# Reason that the report shows after the number of right answers.
AS_KEPT = "as kept on "
TO_COMPARE = "Store the answers for the next runs with:"


def check(run: Run) -> CheckResult:
    """Return invalid at the first wrong row, unknown without rows to compare with."""
    if (reason := _no_answers(run)) is not None:
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    refresh = Refresh.of(run.facts.get("test"))
    counted = _not_to_compare(run)
    asked = executions(run.table("events"), refresh, without=counted)
    judgement = _Judgement(run, refresh, asked)
    if judgement.wrong:
        names = list(dict.fromkeys(mistake.operation for mistake in judgement.wrong))
        of = asked["operation"].n_unique()
        others = f" ({len(names)} of {of} operations are wrong: {', '.join(names)})"
        more = others if len(names) > 1 else ""
        first = judgement.wrong[0]
        reason = f"wrong answer: {first.difference}{more}{_kept_hint(run, first.operation)}"
        return CheckResult(NAME, Verdict.INVALID, reason)
    if (not_kept := _answers_not_kept(run, asked, judgement)) is not None:
        return not_kept
    why_unknown = _why_unknown(run, refresh, judgement)
    if why_unknown:
        return CheckResult(NAME, Verdict.UNKNOWN, why_unknown)
    if asked.is_empty():
        reason = "answers not compared: all values are drawn at each execution; rows are counted"
        if counted == _without_result(run):
            reason = "answers not compared: no operation returns rows"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    return CheckResult(NAME, Verdict.VALID, _all_right(run, asked, judgement))


def _no_answers(run: Run) -> str | None:
    """Return why no query result can be compared; None if one can."""
    if not run.facts["engine"]["answers"]:
        engine = run.facts["engine"]["name"]
        return f"answers not verified: engine {engine} returns no rows"
    if removed := changing_result(run.facts["request"].get("remove", [])):
        return f"answers not verified: --remove rewrote the queries without {', '.join(removed)}"
    return None


def _kept_hint(run: Run, operation: str) -> str:
    """Return text on the data state of a user's expected answer; empty for others."""
    kept = kept_answers(run).get(operation)
    if kept is None:
        return ""
    return (
        f". Compared with the rows stored on {kept.state}. If the data have changed since, "
        "store the rows again: assay answers ... --keep"
    )


def _answers_not_kept(run: Run, asked: pl.DataFrame, judgement: _Judgement) -> CheckResult | None:
    """Return the verdict on a user's own queries if some results were not compared.

    The result is None if all answers were compared, or if they are missing for another reason.
    """
    command = run.expected_origin.get("to_compare")
    unrepeatable = run.expected_origin.get("unrepeatable") or {}
    # An operation whose rows differ at each execution can return more distinct results than are
    # kept.
    left = {
        why: [name for name in names if why == "without" or name not in unrepeatable]
        for why, names in judgement.not_compared.items()
    }
    if command is None or {why for why, names in left.items() if names} - {"without"}:
        return None
    lacking = list(
        dict.fromkeys(name for names in judgement.not_compared.values() for name in names)
    )
    if not lacking:
        return None
    if set(lacking) & set(run.facts["workload"].get("drawn_operations", [])):
        return None
    of = asked["operation"].n_unique()
    unkept = [name for name in lacking if name in unrepeatable]
    outdated = [name for name in lacking if name in run.expected_origin.get("outdated", [])]
    if outdated:
        why = f"the query {', '.join(outdated)} changed after its answer was stored"
    elif len(lacking) == of:
        why = "there are no reference answers for these queries"
    else:
        why = f"there are no reference answers for {', '.join(lacking)}"
    reason = f"{NOT_COMPARED}{why}"
    if unkept:
        first = f"{unkept[0]}: {unrepeatable[unkept[0]]}"
        more = f", likewise {', '.join(unkept[1:])}" if len(unkept) > 1 else ""
        reason += (
            f". Rows that may differ at each execution cannot be stored as answers ({first}{more})"
        )
    if len(unkept) < len(lacking):
        reason += f". {TO_COMPARE} {command}"
    if len(lacking) == of:
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    right = of - len(lacking)
    return CheckResult(NAME, Verdict.VALID, f"{right} of {of} answers right, {reason}")


@dataclass(frozen=True)
class _Wrong:
    operation: str
    difference: str


@dataclass
class _Judgement:
    """Compares each distinct query result with the expected rows.

    Attributes:
        wrong: Answers that match none of the expected results.
        states: Data states that the answers match.
        right: Number of executions with a right answer.
        asked_again: Number of executions beside refreshes of one transaction per order, whose data
            state is unknown, although the queries gave right rows on a known state.
        not_compared: Number of executions whose answers were not compared, by reason: `lost` and
            `beside` (the state of the data is not known), `unseen` (rows were not kept), `without`
            (no expected rows exist).
    """

    run: Run
    refresh: Refresh | None
    asked: pl.DataFrame
    wrong: list[_Wrong] = field(default_factory=list)
    states: set[int] = field(default_factory=set)
    right: int = 0
    asked_again: int = 0
    not_compared: dict[str, Counter[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._fitted: set[tuple[str, int]] = set()
        self._compared = Compared(
            self.run, self.run.expected_origin.get("made", {}).get("ordered_by", {})
        )
        seen = self.asked.group_by("operation", "variant").agg(pl.len(), pl.col("digest").unique())
        self._seen = {
            (operation, variant): (executed, digests)
            for operation, variant, executed, digests in seen.iter_rows()
        }
        beside = []
        for answer in distinct(self.asked).iter_rows(named=True):
            if self._runs_beside(answer):
                beside.append(answer)
            else:
                self._judge(answer)
        self._leave_beside(beside)

    def _runs_beside(self, answer: dict[str, Any]) -> bool:
        """Return True if the data had too many possible states during the query."""
        first = answer["state_first"]
        many = self.refresh is not None and self.refresh.many
        return many and first is not None and first < answer["state_last"]

    def _leave_beside(self, answers: list[dict[str, Any]]) -> None:
        """Leave out results during refreshes if the same queries were right on known data."""
        for answer in answers:
            if (answer["operation"], answer["variant"]) in self._fitted:
                self.asked_again += answer["answers"]
            else:
                self._leave("beside", answer)

    def _judge(self, answer: dict[str, Any]) -> None:
        first, last = answer["state_first"], answer["state_last"]
        if first is None:
            self._leave("lost", answer)
        elif not self._compared.kept(answer["operation"], answer["digest"]):
            self._leave("unseen", answer)
        else:
            self._compare(answer, range(first, last + 1))

    def _compare(self, answer: dict[str, Any], states: range) -> None:
        operation, variant, digest = (answer[key] for key in ("operation", "variant", "digest"))
        files = {state: self.run.expected(operation, variant, state) for state in states}
        differences: list[str] = []
        for state, path in files.items():
            if path is None:
                continue
            different = self._compared.difference(operation, digest, path)
            if different is None:
                self.states.add(state)
                self._fitted.add((operation, variant))
                self._is_right(answer)
                return
            differences.append(different)
        if all(files.values()):
            difference = self._description(answer, states, differences[0])
            self.wrong.append(_Wrong(operation, difference))
        else:
            self._leave("without", answer)

    def _is_right(self, answer: dict[str, Any]) -> None:
        """Count a query result as right, or as not compared."""
        if self._may_be_more(answer["operation"], answer["variant"]):
            self._leave("unseen", answer)
        else:
            self.right += answer["answers"]

    def _may_be_more(self, operation: str, variant: int) -> bool:
        """Return True if the limit of stored query results was reached."""
        kept_at_most: int = self.run.facts["plan"]["results_kept"]
        executed, digests = self._seen[operation, variant]
        if executed < kept_at_most:
            return False
        return (
            sum(len(self._compared.kept(operation, digest)) for digest in digests) >= kept_at_most
        )

    def _leave(self, why: str, answer: dict[str, Any]) -> None:
        of = self.not_compared.setdefault(why, Counter())
        of[answer["operation"]] += answer["answers"]

    def _description(self, answer: dict[str, Any], states: range, different: str) -> str:
        operation = str(answer["operation"])
        if self.run.facts.get("test") is None:
            return f"{operation}, {different}"
        who = f"{operation} of stream {answer['variant']} in {answer['phase']}"
        if len(states) == 1:
            return f"{who}, {different}"
        return (
            f"{who} is right for no state of the data during the query (after {states[0]} to "
            f"{states[-1]} refresh steps); compared with the state after {states[0]}: {different}"
        )


def _all_right(run: Run, asked: pl.DataFrame, judgement: _Judgement) -> str:
    if run.facts.get("test") is None:
        operations = asked["operation"].n_unique()
        if operations == len(run.facts["workload"].get("checks", [])):
            summary = f"{operations} of {operations} answers to fixed values right"
            return f"{summary}; all other values are drawn at each execution"
        states = {kept.state for kept in kept_answers(run).values()}
        as_kept = f", {AS_KEPT}{max(states)}" if states else ""
        return f"{operations} of {operations} answers right{as_kept}, in every pass"
    summary = f"{judgement.right} of {judgement.right} answers right"
    if judgement.refresh is None:
        return summary
    summary += f", in {len(judgement.states)} state{'s' * (len(judgement.states) > 1)} of the data"
    if judgement.asked_again:
        summary += (
            f"; {judgement.asked_again} ran during refreshes with one transaction per order and "
            "were repeated afterwards to be compared"
        )
    return summary


def _why_unknown(run: Run, refresh: Refresh | None, judgement: _Judgement) -> str | None:
    """Return a sentence on query results that could not be compared; None without any."""
    functions = [] if refresh is None else list(refresh.functions)
    returned = (pl.col("outcome") == "ok") & ~pl.col("operation").is_in(functions)
    if not run.table("events").select(returned.any()).item():
        return "answers not verified: no operation succeeded"
    why = _not_compared(run, judgement)
    if run.facts.get("test") is not None:
        planned = _planned_executions(run, refresh)
        if why is None and judgement.right + judgement.asked_again < planned:
            why = "the other answers were not returned"
        return why and f"{judgement.right} of {planned} answers right; {why}"
    if why is not None:
        return f"answers not verified: {why}"
    answered = judgement.asked["operation"].n_unique()
    names = set(run.facts["plan"]["operations"])
    planned = len(names - _not_to_compare(run))
    # Forced plans that take too long are cut off; the outcomes check reports them.
    if answered < planned and not run.facts["request"].get("forced"):
        return f"{answered} of {planned} answers right; the other answers were not returned"
    return None


def _not_compared(run: Run, judgement: _Judgement) -> str | None:
    """Return why some query results were not compared, the worst reason first."""
    left = judgement.not_compared
    if "without" in left:
        return _without(run, judgement)
    if "unseen" in left:
        return f"{next(iter(left['unseen']))} returned more distinct results than Assay stores"
    if "lost" in left:
        return (
            f"{_executions(left['lost'])} followed a failed refresh function, so the "
            "state of their data is unknown"
        )
    if "beside" in left:
        return (
            f"{_executions(left['beside'])} ran during refreshes with one transaction per "
            "order, so the state of their data is unknown; use --refresh-batches 1"
        )
    return None


def _executions(counts: Counter[str]) -> str:
    """Return a number of executions as text."""
    number = counts.total()
    return f"{number} execution{'' if number == 1 else 's'}"


def _planned_executions(run: Run, refresh: Refresh | None) -> int:
    """Return the number of planned executions, including those that failed or were skipped."""
    functions = [] if refresh is None else list(refresh.functions)
    return run.table("events").filter(~pl.col("operation").is_in(functions)).height


def _not_to_compare(run: Run) -> set[str]:
    """Return operations without a result, or whose rows are only counted or read."""
    workload = run.facts["workload"]
    counted = {*workload.get("rows_expected", {}), *workload.get("programs", {})}
    drawn = counted & set(workload.get("drawn_operations", []))
    return (drawn & set(run.facts["plan"]["operations"])) | _without_result(run)


def _without_result(run: Run) -> set[str]:
    """Return operations that succeeded without any rows and columns, such as an UPDATE.

    Of a query without rows, the columns are stored as a result. Operations whose rows are expected
    are never among them.
    """
    returned = (
        run.table("events")
        .lazy()
        .filter(pl.col("outcome") == "ok")
        .group_by("operation")
        .agg(pl.max("rows"), pl.max("digest"))
        .filter((pl.col("rows") == 0) & (pl.col("digest") == 0))
        .select(pl.col("operation").cast(pl.String))
        .collect()
    )
    names = returned["operation"]
    return {name for name in names if not run.results(name) and run.expected(name) is None}


def _without(run: Run, judgement: _Judgement) -> str:
    """Return why there are no expected rows for a run's operations."""
    unknown = list(judgement.not_compared["without"])
    drawn = [name for name in unknown if name in run.facts["workload"].get("drawn_operations", [])]
    if drawn:
        return (
            f"the parameter values of {', '.join(drawn)} are drawn at each execution: set "
            "`rows` in workload.toml to the expected number of rows"
        )
    origin = run.expected_origin
    not_made = origin.get("made", {}).get("not_made", [])
    if why := origin.get("why") or _first_reason(not_made, unknown):
        return str(why)
    if not run.complete:
        return "the run ended before reference rows were made"
    if run.facts["request"]["parameters"] != "default":
        return "Assay has reference rows for default parameters only"
    if len(unknown) == judgement.asked["operation"].n_unique():
        return f"Assay has no reference rows for scale {run.facts['request']['scale']:g}"
    return f"Assay has no reference rows for {', '.join(unknown)}"


def _first_reason(not_made: list[dict[str, Any]], unknown: list[str]) -> str | None:
    """Return why the first of some operations has no expected rows."""
    reasons = [
        f"{operation['operation']}: {operation['why']}"
        for operation in not_made
        if operation["operation"] in unknown
    ]
    return reasons[0] if reasons else None
