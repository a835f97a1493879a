"""Finds what of a query can be written in another form, with the same result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.record.layout import (
    ARRAY_ELEMENT,
    COUNTED_ROWS,
    DISTINCT_JOIN,
    EITHER_JOIN,
    FAR_PAGE,
    RUNNING_TOTAL,
)
from assay.workloads.rewriting.array_element import array_element
from assay.workloads.rewriting.counted_rows import counted_rows
from assay.workloads.rewriting.distinct_join import distinct_join
from assay.workloads.rewriting.either_join import either_join
from assay.workloads.rewriting.far_page import far_page
from assay.workloads.rewriting.running_total import running_total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.workloads.rewriting.blocks import Query
    from assay.workloads.rewriting.pieces import Piece

FORMS: Mapping[str, Callable[[Query, Sequence[str]], Piece]] = {
    ARRAY_ELEMENT: array_element,
    COUNTED_ROWS: counted_rows,
    DISTINCT_JOIN: distinct_join,
    EITHER_JOIN: either_join,
    FAR_PAGE: far_page,
    RUNNING_TOTAL: running_total,
}


def forms_of(query: Query, dialects: Sequence[str]) -> Iterator[Piece]:
    """Yield the parts of a query that can be written in another form."""
    for form in FORMS.values():
        try:
            yield form(query, dialects)
        except UsageError:
            continue
