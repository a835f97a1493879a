"""Plans of requests in SPARQL: the server compiles them into SQL, and is asked them over SQL.

What is executed is what a request over HTTP is compiled to: its text with `sparql` before it, and
with the graph in its text that is a parameter there.
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
    """Reads plans of SPARQL queries; implements `PlanReader` and `PlaysPrograms`.

    Args:
        link: A connection of its own.
        query_log: The server's file of it, where the server may read files.
        written: A request with its values in it, as sessions write them; raises `ValueError`.
    """

    def __init__(
        self, link: Link, query_log: str, written: Callable[[str, Sequence[object]], str]
    ) -> None:
        super().__init__(link, query_log)
        self._written = written

    def asked(self, text: str, values: Sequence[object]) -> Asked:
        """A request with its values, as a statement without any."""
        written = self._written(text, values)
        return Asked(f"sparql define input:default-graph-uri <{GRAPH}> {written}", ())

    def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
        """Executes statements to explain and undoes each; a program gets no rows."""
        for asked in statements:
            explained: Explained | None = None
            if asked.explained:
                (explained,) = self.explain([(asked.text, asked.values)], limit_s)
            yield PlanAnswer(explained)
