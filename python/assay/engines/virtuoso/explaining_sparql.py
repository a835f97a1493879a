"""Reads plans of SPARQL requests, which the server compiles to SQL, over SQL.

A request is executed as SQL in the same way as over HTTP: its text has the prefix `sparql`, and
names the graph that HTTP has as a parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.plan_reading import Explained, PlanAnswer
from assay.engines.virtuoso.connecting import GRAPH
from assay.engines.virtuoso.explaining import Asked, VirtuosoPlans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.engines.bridge.link import Link
    from assay.engines.plan_reading import PlanAsked


class SparqlPlans(VirtuosoPlans):
    """Reads plans of SPARQL queries on Virtuoso.

    Args:
        link: Separate connection of this reader.
        query_log: Path of the server's query log, in a directory that the server may read.
        written: Returns a request with its values filled in, as sessions write them; raises
            `ValueError`.
    """

    def __init__(
        self, link: Link, query_log: str, written: Callable[[str, Sequence[object]], str]
    ) -> None:
        super().__init__(link, query_log)
        self._written = written

    def asked(self, text: str, values: Sequence[object]) -> Asked:
        """Return a SPARQL request with its values filled in."""
        written = self._written(text, values)
        return Asked(f"sparql define input:default-graph-uri <{GRAPH}> {written}", ())

    def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
        """Execute a program's SPARQL requests to explain them, and undo each."""
        for asked in statements:
            explained: Explained | None = None
            if asked.explained:
                (explained,) = self.explain([(asked.text, asked.values)], limit_s)
            yield PlanAnswer(explained)
