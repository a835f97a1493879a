"""Makes the document section on how contiguous disk reads were."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import polars as pl

from assay.analysis.host.contiguity import ALL, contiguity

if TYPE_CHECKING:
    from assay.record.reader import Run
    from assay.report.documents.host.storage import (
        DistanceRow,
        RequestsRow,
        RequestsSection,
        RunLengthRow,
    )

PROBE = "requests"
NOT_ASKED = "block requests were not traced: `--block-trace` records them"


def requests_section(run: Run) -> RequestsSection | None:
    """Return the document section on traced disk reads; None if they were not traced."""
    if why_no_requests(run) is not None:
        return None
    reads = contiguity(run)
    if reads is None:
        return None
    whole = pl.col("operation") == ALL
    return {
        "devices": list(reads.devices),
        "operations": cast("list[RequestsRow]", reads.operations.to_dicts()),
        "distances": cast(
            "list[DistanceRow]", reads.distances.filter(whole).drop("operation").to_dicts()
        ),
        "run_lengths": cast(
            "list[RunLengthRow]", reads.run_lengths.filter(whole).drop("operation").to_dicts()
        ),
        "others_reads": reads.others_reads,
        "notes": list((run.facts["probes"] or {}).get(PROBE, {}).get("notes", ())),
    }


def why_no_requests(run: Run) -> str | None:
    """Return why disk reads were not traced; None if they were."""
    probe = (run.facts.get("probes") or {}).get(PROBE)
    if probe is None:
        return NOT_ASKED
    return f"requests could not be traced: {probe['error']}" if probe["error"] else None
