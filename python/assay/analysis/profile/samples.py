"""Reads the CPU samples of a run, and assigns them to operations and kinds of work.

An *operation* is what the driver sent. *Work* is what the engine's code did for the operation
(scan, hash probe, ...). Each sample represents `Profile.seconds_each` of CPU time. Shares refer
to the engine's samples within operations, without artefacts. Samples between operations, or of
the engine's background, are counted in `Sampling` and appear in no table.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.profile.call_tree import call_tree
from assay.analysis.profile.difference import compare
from assay.analysis.profile.frames import NOT_NAMED, named_frames
from assay.analysis.profile.placing import are_told_apart, as_one, measured_passes, place
from assay.analysis.profile.profile import Profile, Sampling
from assay.analysis.profile.shares import Shares, shares
from assay.analysis.profile.tables import matrix, symbols_table, unclassified, work_table
from assay.analysis.server.sessions import BESIDE, background, owners
from assay.analysis.work.classify import Places, classify
from assay.analysis.work.names import without_clone
from assay.analysis.work.rules import UNCLASSIFIED, Rules, combined, rules_of, shared_rules
from assay.record.layout import ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER

if TYPE_CHECKING:
    from assay.record.reader import Run

__all__ = [
    "UNCLASSIFIED",
    "Profile",
    "Sampling",
    "Shares",
    "call_tree",
    "compare",
    "matrix",
    "read_profile",
    "shares",
    "symbols_table",
    "unclassified",
    "work_table",
]

# Prefix of the names of Assay's threads in the process of an embedded engine.
OURS = "assay-"
# Source of a run's rules, as error messages name it.
RECORDED = "operations.toml of the record"
COUNTED = ("lost", "throttled", "cut", "broken", "elsewhere")


@lru_cache(maxsize=4)
def read_profile(record: Run, extra_rules: Rules | None = None) -> Profile | None:
    """Return the CPU profile of a run; None without a profile, or if nothing was measured.

    Args:
        record: The run.
        extra_rules: The user's own rules, which are applied before the recorded ones.

    Raises:
        UsageError: If a rule is invalid; the message has file, index and reason.
        RecordUnreadableError: If a stream is damaged.
    """
    facts = record.sampling
    needed = ("samples", "stacks", "frames", "modules")
    if facts is None or not all(record.has(stream) for stream in needed):
        return None
    passes = measured_passes(record.table("events"))
    if passes.is_empty():
        return None
    rules = _rules(record, extra_rules)
    frames = named_frames(
        record.table("frames"),
        record.table("modules"),
        _symbols(record),
        rules.families,
    )
    stacks = _tree(record.table("stacks"), frames)
    verdicts = judged(stacks, frames, rules)
    window = passes.select(pl.col("started_ns").min(), pl.col("finished_ns").max()).row(0)
    taken = record.table("samples").filter(pl.col("time_ns").is_between(*window)).sort("time_ns")
    of_engine, others, ours = _of_engine(record, taken, whole_machine=facts["whole_machine"])
    whole = of_engine.join(verdicts, on="stack", how="inner", maintain_order="left")
    served = owners_of(record)
    told_apart = are_told_apart(passes, served)
    placed, unplaced = place(whole, passes, served, _background(record))
    samples = _without_other_clients(placed.select(*_SAMPLE_COLUMNS), served)
    within = samples.filter(pl.col("operation").is_not_null())
    lost_it = pl.col("operation").is_null() & pl.col("sequence").is_not_null()
    sampling = replace(
        _sampling(record, facts, taken.height, window),
        ours=ours,
        others=others,
        torn=of_engine.height - whole.height,
        other_clients=samples.filter(lost_it).height,
        background=samples.height - within.height - samples.filter(lost_it).height,
        unplaced=unplaced,
        told_apart=told_apart,
        artefacts=dict(
            within.drop_nulls("artefact")["artefact"].value_counts(sort=True).iter_rows()
        ),
    )
    shown = passes if told_apart else as_one(passes)
    return Profile(sampling, samples, stacks, frames, shown, rules)


_SAMPLE_COLUMNS = (
    "time_ns",
    "pid",
    "tid",
    "stack",
    "session",
    "sequence",
    "operation",
    "work",
    "artefact",
    "rule",
    "leaf",
    "decided",
)


def _rules(record: Run, extra_rules: Rules | None) -> Rules:
    """Return the rules that classify code: the user's, then the engine's, then shared ones."""
    recorded = record.facts.get("engine", {}).get("operations")
    of_engine = rules_of(recorded, RECORDED) if recorded else Rules()
    return combined(extra_rules or Rules(), of_engine, shared_rules())


def _tree(stacks: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """Return the nodes of the tree of call stacks whose frame is known, callers first.

    The record has this order. A node whose caller is missing or comes later is damaged and left
    out.
    """
    rows = pl.int_range(pl.len(), dtype=pl.UInt32)
    nodes = stacks.unique("stack", keep="first", maintain_order=True).join(
        frames.select("frame"), on="frame", how="semi", maintain_order="left"
    )
    callers = nodes.select(pl.col("stack").alias("parent"), rows.alias("caller"))
    return nodes.join(callers, on="parent", how="left", maintain_order="left").select(
        "stack", pl.when(pl.col("caller") < rows).then("parent").alias("parent"), "frame"
    )


def judged(stacks: pl.DataFrame, frames: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return for each call stack node its kind of work, and the rule that classified it."""
    rows = pl.int_range(pl.len(), dtype=pl.Int64)
    tree = stacks.join(
        frames.select("frame", rows.alias("place")), on="frame", how="left", maintain_order="left"
    ).join(
        stacks.select("stack", rows.alias("caller")),
        left_on="parent",
        right_on="stack",
        how="left",
        maintain_order="left",
    )
    named = ~pl.col("kind").is_in(NOT_NAMED)
    about = frames.select(
        pl.when(named).then("label").alias("name"), pl.col("module").fill_null("")
    )
    names = [None if name is None else without_clone(name) for name in about["name"]]
    verdicts = classify(
        tree["caller"].fill_null(-1).to_list(),
        tree["place"].to_list(),
        Places(names, about["module"].to_list()),
        rules.rules,
    )
    kinds = pl.DataFrame(
        {
            "rule": range(len(rules.rules)),
            "work": [rule.work for rule in rules.rules],
            "artefact": [rule.artefact for rule in rules.rules],
        },
        schema={"rule": pl.UInt32, "work": pl.String, "artefact": pl.String},
    )
    decided = pl.Series("decided", verdicts.decided, dtype=pl.UInt32)
    return (
        stacks.select(
            "stack",
            pl.col("frame").alias("leaf"),
            pl.Series("rule", verdicts.rules, dtype=pl.UInt32),
            frames["frame"].gather(decided).alias("decided"),
        )
        .join(kinds, on="rule", how="left", maintain_order="left")
        .with_columns(
            pl.when(pl.col("artefact").is_null())
            .then(pl.col("work").fill_null(UNCLASSIFIED))
            .alias("work")
        )
    )


def _of_engine(
    record: Run, samples: pl.DataFrame, *, whole_machine: bool
) -> tuple[pl.DataFrame, int, int]:
    """Return the engine's CPU samples, and the number from other processes and from Assay."""
    others = ours = 0
    if whole_machine and record.has("processes"):
        # Processes that lived between two samples are in no table, but the sampler recorded
        # their start.
        of_engine = (
            pl.col("account").cast(pl.String).is_in([ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER])
        )
        owners = record.table("processes").select(pl.col("pid").cast(pl.UInt32), of_engine)
        strangers = (
            owners.group_by("pid", maintain_order=True)
            .agg(pl.col("account").any())
            .filter(~pl.col("account"))
        )
        kept = samples.join(strangers, on="pid", how="anti", maintain_order="left")
        others, samples = samples.height - kept.height, kept
    if record.has("threads"):
        kept = _without_ours(samples, record.table("threads"))
        ours, samples = samples.height - kept.height, kept
    return samples, others, ours


def _without_ours(samples: pl.DataFrame, threads: pl.DataFrame) -> pl.DataFrame:
    """Return CPU samples without those of threads that Assay had named at that time.

    A new thread has the name of its creator until it gets its own name, and a thread id may be
    reused. Before its first recorded name, a thread counts with that name.
    """
    named = threads.sort("time_ns").select(
        "time_ns", "pid", "tid", pl.col("name").str.starts_with(OURS).alias("is_ours")
    )
    first = named.group_by("pid", "tid", maintain_order=True).agg(
        pl.col("is_ours").first().alias("is_ours_at_first")
    )
    named_samples = samples.join_asof(
        named, on="time_ns", by=["pid", "tid"], strategy="backward", check_sortedness=False
    ).join(first, on=["pid", "tid"], how="left", maintain_order="left")
    is_ours = pl.coalesce("is_ours", "is_ours_at_first").fill_null(value=False)
    return named_samples.filter(~is_ours).drop("is_ours", "is_ours_at_first")


def owners_of(record: Run) -> pl.DataFrame | None:
    """Return the session that each server process works for; None if not recorded."""
    if not record.has("backends") or record.table("backends").is_empty():
        return None
    return owners(record.table("backends"), _table(record, "activity"), _table(record, "processes"))


def _background(record: Run) -> pl.Series:
    return background(_table(record, "activity"), _table(record, "processes"))


def _table(record: Run, stream: str) -> pl.DataFrame | None:
    return record.table(stream) if record.has(stream) else None


def _without_other_clients(samples: pl.DataFrame, served: pl.DataFrame | None) -> pl.DataFrame:
    """Return CPU samples; those of work for other clients get no operation.

    Assay's probes are among these clients. Such work is done during an operation, but not for
    it. Samples of other clients keep the sequence, which identifies them.
    """
    if served is None:
        return samples
    others = served.filter(pl.col("owner").is_in(BESIDE))["pid"].cast(pl.UInt32)
    is_other = pl.col("pid").is_in(others.implode())
    return samples.with_columns(pl.when(~is_other).then("operation").alias("operation"))


def _symbols(record: Run) -> pl.DataFrame | None:
    """Return functions by address; None where the run ended before it wrote the first one."""
    table = record.table("symbols") if record.has("symbols") else None
    return None if table is None or table.is_empty() else table


def _sampling(record: Run, facts: dict[str, Any], taken: int, window: tuple[int, int]) -> Sampling:
    grown: dict[str, int | None] = dict.fromkeys(COUNTED)
    if record.has("profile") and not record.table("profile").is_empty():
        counters = record.table("profile").sort("time_ns")
        before = counters.filter(pl.col("time_ns") <= window[0])[-1:]
        after = counters.filter(pl.col("time_ns") >= window[1])[:1]
        last = after if after.height else counters[-1:]
        columns = [name for name in COUNTED if name in counters.columns]
        grown |= {name: int(last[name].sum()) - int(before[name].sum()) for name in columns}
    return Sampling(
        event=str(facts["event"]),
        frequency_hz=float(facts["frequency_hz"]),
        kernel=bool(facts["kernel"]),
        stacks=str(facts["stacks"]),
        copied_bytes=facts.get("copied_bytes"),
        symbols=_symbols(record) is not None,
        notes=tuple(facts.get("notes", ())),
        taken=taken,
        lost=grown["lost"],
        throttled=grown["throttled"],
        cut=grown["cut"],
        broken=grown["broken"],
        elsewhere=grown["elsewhere"],
    )
