"""Adds measurements of the host's hardware to a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.layout import KIND_CEILING
from assay.running.host.places import instances_dir
from assay.study.ceiling.trials import (
    FILE_BYTES,
    QUICK_BYTES,
    QUICK_ROUNDS,
    QUICK_TIME_S,
    ROUNDS,
    TIME_S,
    CeilingRequest,
)
from assay.study.declared.facts import PartFacts, run_keys
from assay.study.variants import Part, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    Problem = tuple[tuple[str | int, ...], str]


def ceiling_part(name: str, facts: PartFacts, seed: int, *, quick: bool) -> Part:
    """Return the section of a study that measures the host's hardware in each round."""
    # A quick ceiling has all sizes, too, because published figures need them; its trials are
    # shorter.
    request = CeilingRequest(
        instances_dir(),
        QUICK_BYTES if quick else FILE_BYTES,
        QUICK_TIME_S if quick else TIME_S,
        QUICK_ROUNDS if quick else ROUNDS,
        seed,
    )
    # A ceiling has rounds of its own, so one record is enough unless more are requested.
    repetitions = facts.repetitions or 1
    return Part(name, (Variant("host", request),), repetitions, facts.about, kind=KIND_CEILING)


def ceiling_problems(facts: PartFacts) -> Iterator[Problem]:
    """Yield problems with study keys that are valid for workloads only."""
    of_runs = [*run_keys(facts), *(key for key in ("factor", "exclude") if getattr(facts, key))]
    if facts.expects is not None:
        of_runs.append("expects")
    for key in of_runs:
        yield (key,), f"{key} is of a workload's runs, and a part of kind ceiling looks at the host"
