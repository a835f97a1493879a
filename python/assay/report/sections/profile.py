"""Makes the document section `profile` of a run from its CPU samples.

Terminal and page render this section and compute nothing. Shares refer to `samples`, which excludes
artefacts. Separate counts show the excluded samples.
"""

from __future__ import annotations

import logging
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from assay.analysis.profile.samples import matrix, read_profile, shares, symbols_table, work_table
from assay.model.errors import RecordUnreadableError, UsageError

if TYPE_CHECKING:
    import polars as pl

    from assay.analysis.profile.profile import Profile
    from assay.record.reader import Run
    from assay.report.documents.profile.profile import (
        ArtefactRow,
        ProfileOperation,
        ProfileSection,
        SamplingSection,
        SymbolMember,
        SymbolRest,
        SymbolRow,
        WorkRow,
    )

log = logging.getLogger(__name__)

SYMBOLS_MAX = 200
MEMBERS_MAX = 12
SYMBOL_KEYS = ("samples", "share", "seconds", "work", "symbol", "module", "kind", "says")


@lru_cache(maxsize=1)
def profile_of(run: Run) -> Profile | None:
    """Return the CPU profile of a run with the recorded rules; None without samples."""
    try:
        return read_profile(run)
    except (RecordUnreadableError, UsageError) as error:
        log.warning("the CPU profile of run %s cannot be read: %s", run.id, error)
        return None


def section(
    run: Run, profile: Profile, operation: str | None = None, symbols_max: int | None = SYMBOLS_MAX
) -> ProfileSection:
    """Return the CPU profile of a run, or of one operation, as plain values.

    Args:
        run: Run of the profile. The run's counters have the CPU time.
        profile: The CPU samples of the run.
        operation: Name of the only operation to include; None includes all.
        symbols_max: Maximum number of symbols; None means all.
    """
    works = work_table(profile, operation)
    explained = shares(run, profile)
    sampling = asdict(profile.sampling)
    artefacts = _artefacts(profile, operation)
    samples = int(works["samples"].sum())
    symbols, rest = _symbols(profile, operation, symbols_max)
    return {
        "operation": operation,
        "samples": samples,
        "seconds": samples * profile.seconds_each,
        "passes": _passes(profile),
        "sampling": cast(
            "SamplingSection",
            sampling | {"notes": list(profile.sampling.notes), "artefacts": artefacts},
        ),
        "classified": explained.classified,
        "named": explained.named,
        "sampled_s": explained.sampled_s,
        "metered_s": explained.metered_s,
        "by_chance": explained.by_chance,
        "work": _work_rows(works),
        "symbols": symbols,
        "rest": rest,
        "operations": _operations(profile, operation),
    }


def _passes(profile: Profile) -> int:
    """Return the number of executions of the operation that was measured most often."""
    counts = profile.passes.group_by("operation").len()["len"].to_list()
    return max(counts, default=0)


def _artefacts(profile: Profile, operation: str | None) -> list[ArtefactRow]:
    """Return the CPU samples that no share includes, by reason, most first."""
    import polars as pl

    artefacts = profile.samples.filter(
        pl.col("artefact").is_not_null() & pl.col("operation").is_not_null()
    )
    if operation is not None:
        artefacts = artefacts.filter(pl.col("operation") == operation)
    counted = artefacts.group_by("artefact").len("samples").sort("samples", descending=True)
    rows = counted.select(pl.col("artefact").cast(pl.String).alias("why"), "samples")
    return cast("list[ArtefactRow]", rows.to_dicts())


def _work_rows(table: pl.DataFrame) -> list[WorkRow]:
    return cast("list[WorkRow]", table.select("work", "samples", "share", "seconds").to_dicts())


def _symbols(
    profile: Profile, operation: str | None, symbols_max: int | None
) -> tuple[list[SymbolRow], SymbolRest]:
    """Return the functions with most CPU samples, and the sum of the others."""
    table = symbols_table(profile, operation)
    shown = table if symbols_max is None else table.head(symbols_max)
    members = _members(profile, operation)
    rest = table.slice(shown.height)
    return [_symbol(row, members) for row in shown.iter_rows(named=True)], {
        "symbols": rest.height,
        "samples": int(rest["samples"].sum()),
        "share": float(rest["share"].sum()),
    }


def _symbol(
    row: dict[str, Any], members: dict[tuple[str, str, str], list[SymbolMember]]
) -> SymbolRow:
    family = members.get((row["work"], row["symbol"], row["module"]), [])
    alone = len(family) == 1 and family[0]["symbol"] == row["symbol"]
    symbol: dict[str, object] = {key: row[key] for key in SYMBOL_KEYS} | {
        "operations": row["operations"],
        "operations_all": row["operations_all"],
        "members": [] if alone else family[:MEMBERS_MAX],
        "members_count": 1 if alone else len(family),
    }
    return cast("SymbolRow", symbol)


def _members(
    profile: Profile, operation: str | None
) -> dict[tuple[str, str, str], list[SymbolMember]]:
    """Return the functions of each family (variants of one template) that share a row."""
    families = dict(profile.frames.select("label", "family").unique("label").iter_rows())
    families_of: dict[tuple[str, str, str], list[SymbolMember]] = {}
    for row in symbols_table(profile, operation, families=False).iter_rows(named=True):
        key = (row["work"], families.get(row["symbol"], row["symbol"]), row["module"])
        member: SymbolMember = {
            "symbol": row["symbol"],
            "samples": row["samples"],
            "share": row["share"],
        }
        families_of.setdefault(key, []).append(member)
    return families_of


def _operations(profile: Profile, operation: str | None) -> list[ProfileOperation]:
    """Return each operation's CPU time by kind of work."""
    if not profile.sampling.told_apart:
        return []
    table = matrix(profile)
    names = table["operation"].unique(maintain_order=True).to_list()
    return [
        _operation(str(name), table.filter(table["operation"] == name))
        for name in names
        if operation in (None, name)
    ]


def _operation(name: str, rows: pl.DataFrame) -> ProfileOperation:
    return {
        "operation": name,
        "samples": int(rows["samples"].sum()),
        "seconds": float(rows["seconds"].sum()),
        "work": _work_rows(rows),
    }
