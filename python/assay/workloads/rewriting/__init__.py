"""Rewrites queries without some of their parts, to measure the time of each part.

`parts` lists the parts of a query, and `without` removes some of them. Queries are rewritten as
syntax trees. Plans show whether an engine then reads the same as before
(`assay.analysis.ablation.removed`).
"""

from assay.workloads.rewriting.rewritten import (
    STORED_VALUES,
    QueryPart,
    Rewritten,
    indexes_for,
    parts,
    storable,
    without,
    without_computation,
    without_part,
)

__all__ = [
    "STORED_VALUES",
    "QueryPart",
    "Rewritten",
    "indexes_for",
    "parts",
    "storable",
    "without",
    "without_computation",
    "without_part",
]
