"""Queries without one of their parts, so that what the part costs can be measured.

`parts` says which a query has, `without` takes some of them away. All is done on the query's tree,
by its grammar; whether an engine then reads what it read before is for its plans to say
(`assay.analysis.ablation.removed`).
"""

from assay.workloads.rewriting.rewritten import (
    QueryPart,
    Rewritten,
    parts,
    without,
    without_computation,
    without_part,
)

__all__ = ["QueryPart", "Rewritten", "parts", "without", "without_computation", "without_part"]
