"""Splits each statement's CPU time by kind of work, with its share of planning.

Statements of one session follow each other. The driver records the start and end of each, by the
clock of the samples. So each sample of the engine within that time belongs to the statement, in
any thread. The engine's work after the answer belongs to no statement.

Work before execution is assigned by its caller, not by its kind: memory that the analyser
allocates belongs to the analyser. The deciding frame is the innermost one that belongs to a
*step* (parse, name resolution, optimise) or to an operator of the executor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import NS, is_measured
from assay.analysis.profile.difference import SAMPLES_MIN
from assay.analysis.profile.placing import place
from assay.analysis.profile.samples import judged, read_profile
from assay.analysis.stats.student import student_quantile
from assay.analysis.work.rules import AS_ITS_CALLER, DRIVER, PLANNING, STEPS, Rule, Rules
from assay.record.layout import STATEMENTS_STREAM

if TYPE_CHECKING:
    from assay.analysis.profile.profile import Profile
    from assay.record.reader import Run

KEYS = ["operation", "statement"]
# Kinds of work of the executor's operators. Other kinds serve their caller, including the
# planner.
EXECUTING = (
    "scan",
    "filter",
    "join",
    "hash build",
    "hash probe",
    "join filter",
    "aggregate",
    "sort",
    "window",
    "exchange",
    "result",
    "update",
)
# Kinds of work that belong to no caller if no frame names one, as in threads of a collector.
SERVING = ("memory", "scheduling", "locking", "kernel memory", "idle")
# Work on plans outside of all steps: a cached plan is prepared and released.
SET_UP = "setting up plans"
# Kinds of work that are never done for a statement.
BESIDE = ("maintenance", "idle", DRIVER)


@dataclass(frozen=True)
class StatementWork:
    """The CPU time of statements, by kind of work and step of planning.

    Attributes:
        executions: operation, statement (null for an operation of one statement), executions,
            mean_s (wall time).
        work: operation, statement, work, samples, seconds (CPU of an execution): the work that
            was done for the statement. Planning is excluded, with all work that serves it; work
            on plans outside of its steps is `SET_UP`.
        planning: operation, statement, step, samples, seconds, low_s, high_s (95 % interval;
            null for a single execution). `step` is `optimiser/parse` if rules do not distinguish
            steps; null is all of planning.
        beside: operation, statement, samples, seconds: the engine's work meanwhile for no
            caller, such as garbage collection in threads of its own.
    """

    executions: pl.DataFrame
    work: pl.DataFrame
    planning: pl.DataFrame
    beside: pl.DataFrame


def executed(run: Run) -> pl.DataFrame | None:
    """Return the measured executions of statements in successful operations, by start.

    Columns: sequence (of the operation), session, operation, statement (null for an operation of
    one statement), started_ns, finished_ns; None if statements of a session overlap.
    """
    if run.facts["request"].get("pipeline"):
        return None
    events = run.table("events")
    done = events.filter(is_measured(events) & (pl.col("outcome") == "ok")).select(
        "sequence",
        pl.col("session").cast(pl.UInt32),
        pl.col("operation").cast(pl.String),
        "started_ns",
        "finished_ns",
    )
    columns = ["sequence", "session", *KEYS, "started_ns", "finished_ns"]
    whole = done.with_columns(pl.lit(None, dtype=pl.String).alias("statement"))
    if not run.has(STATEMENTS_STREAM):
        return whole.select(columns).sort("started_ns")
    statements = run.table(STATEMENTS_STREAM).select(
        "sequence", pl.col("statement").cast(pl.String), "started_ns", "finished_ns"
    )
    of_programs = statements.join(done.select("sequence", "session", "operation"), on="sequence")
    alone = whole.join(statements.select("sequence"), on="sequence", how="anti")
    parts = [of_programs.select(columns), alone.select(columns)]
    return pl.concat(parts).sort("started_ns")


@lru_cache(maxsize=16)
def statement_work(run: Run) -> StatementWork | None:
    """Return the CPU time of each statement by work and by step of planning.

    None for a run without CPU samples, with several sessions, or with overlapping statements.
    """
    profile, executions = read_profile(run), executed(run)
    if profile is None or executions is None or executions["session"].n_unique() != 1:
        return None
    executions = executions.with_row_index("execution")
    passes = executions.select(
        pl.col("execution").cast(pl.UInt64).alias("sequence"),
        "session",
        "operation",
        "started_ns",
        "finished_ns",
    )
    within = profile.samples.filter(
        pl.col("operation").is_not_null() & pl.col("work").is_not_null()
    )
    placed, _ = place(within.drop("session", "sequence", "operation"), passes, None)
    assigned = placed.drop_nulls("operation").select(
        pl.col("sequence").cast(pl.UInt32).alias("execution"), "stack", "work"
    )
    sampled = assigned.join(executions.select("execution", *KEYS), on="execution").join(
        _steps(profile), on="stack", how="left"
    )
    counts = executions.group_by(KEYS, maintain_order=True).agg(
        pl.len().alias("executions"),
        ((pl.col("finished_ns") - pl.col("started_ns")).mean() * NS).alias("mean_s"),
    )
    is_beside = pl.col("work").is_in(BESIDE) | (
        pl.col("work").is_in(SERVING) & ~pl.col("is_claimed")
    )
    planned = sampled.filter(pl.col("step").is_not_null())
    other = sampled.filter(pl.col("step").is_null()).with_columns(
        pl.col("work").replace(PLANNING, SET_UP)
    )
    each_s = profile.seconds_each
    return StatementWork(
        counts,
        _seconds(other.filter(~is_beside), counts, [*KEYS, "work"], each_s),
        _with_ends(planned, counts, each_s),
        _seconds(other.filter(is_beside), counts, KEYS, each_s),
    )


def _seconds(
    sampled: pl.DataFrame, counts: pl.DataFrame, by: list[str], each_s: float
) -> pl.DataFrame:
    return (
        sampled.group_by(by, maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("samples"))
        .join(counts.select(*KEYS, "executions"), on=KEYS, nulls_equal=True)
        .select(
            *by, "samples", (pl.col("samples") * each_s / pl.col("executions")).alias("seconds")
        )
    )


def _with_ends(planned: pl.DataFrame, counts: pl.DataFrame, each_s: float) -> pl.DataFrame:
    """Return steps and their total (null), with intervals from the variation of executions.

    The variance of a mean is that of the executions' counts, and at least that of a Poisson
    count, because a few executions show too little of a rare sample.
    """
    both = pl.concat([planned, planned.with_columns(pl.lit(None, dtype=pl.String).alias("step"))])
    of_each = both.group_by(*KEYS, "step", "execution", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("samples")
    )
    sums = of_each.group_by(*KEYS, "step", maintain_order=True).agg(
        pl.col("samples").sum(), (pl.col("samples") ** 2).sum().alias("squares")
    )
    counted = sums.join(counts.select(*KEYS, "executions"), on=KEYS, nulls_equal=True)
    count, mean = pl.col("executions"), pl.col("samples") / pl.col("executions")
    scatter = (pl.col("squares") - pl.col("samples") * mean) / (count - 1) / count
    variance = pl.max_horizontal(scatter, mean / count)
    quantile = (count - 1).cast(pl.Float64).map_elements(_quantile, return_dtype=pl.Float64)
    half_s = pl.when(count > 1).then(quantile * variance.sqrt() * each_s)
    return counted.select(
        *KEYS,
        "step",
        "samples",
        (mean * each_s).alias("seconds"),
        (mean * each_s - half_s).clip(lower_bound=0.0).alias("low_s"),
        (mean * each_s + half_s).alias("high_s"),
    )


def _quantile(freedom: float) -> float:
    return student_quantile(max(1.0, freedom))


def is_sampled(samples: int) -> bool:
    """Return True if there are enough CPU samples for a claim about time."""
    return samples >= SAMPLES_MIN


def _steps(profile: Profile) -> pl.DataFrame:
    """Return for each call stack the planning step, and whether a rule matched."""
    told_apart = any(rule.step for rule in profile.rules.rules)
    asked = replace(
        profile.rules,
        rules=tuple(_passed_on(rule, told_apart=told_apart) for rule in profile.rules.rules),
    )
    steps = pl.DataFrame(
        {
            "rule": range(len(asked.rules)),
            "step": [_step(rule) for rule in asked.rules],
        },
        schema={"rule": pl.UInt32, "step": pl.String},
    )
    claimed = _claimed(profile.rules)
    for_whom = judged(profile.stacks, profile.frames, asked).select("stack", "rule")
    for_work = judged(profile.stacks, profile.frames, claimed).select(
        "stack", pl.col("rule").is_not_null().alias("is_claimed")
    )
    return for_whom.join(steps, on="rule", how="left").join(for_work, on="stack").drop("rule")


def _passed_on(rule: Rule, *, told_apart: bool) -> Rule:
    """Return a rule for the purpose of work: the rule itself, or one that defers to the caller."""
    if rule.work in EXECUTING or (rule.work == PLANNING and (rule.step or not told_apart)):
        return rule
    return replace(rule, work=AS_ITS_CALLER, artefact=None, step=None)


def _claimed(rules: Rules) -> Rules:
    """Return rules that assign work such as allocation to its caller, or else to nobody."""
    return replace(
        rules,
        rules=tuple(
            replace(rule, work=AS_ITS_CALLER) if rule.work in SERVING else rule
            for rule in rules.rules
        ),
    )


def _step(rule: Rule) -> str | None:
    if rule.work != PLANNING:
        return None
    return rule.step or PLANNING


def step_order(step: str | None) -> int:
    """Return the position of a planning step among all steps; 0 for their total."""
    return 0 if step is None else 1 + (STEPS.index(step) if step in STEPS else len(STEPS))
