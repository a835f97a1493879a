"""The tests of TPC-H's specification.

A test needs a workload whose manifest has the orders of its streams and its refresh functions.
Parts of a test that are left out are recorded, because they change the metric's name. This module
has no side effects.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError
from assay.model.script import Script, ScriptOperation, ScriptStatement
from assay.record.layout import PHASE_AFTER, PHASE_POWER, PHASE_THROUGHPUT, PHASE_WARMUP
from assay.workloads import scripts
from assay.workloads.refreshing import refresh_statement
from assay.workloads.streams import is_standard, minimum_at, stream_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Workload
    from assay.workloads.texts import Statement

POWER, THROUGHPUT, FULL, STEADY = "power", "throughput", "full", "steady"
TESTS = (POWER, THROUGHPUT, FULL, STEADY)
# A result consists of two runs, each a power and a throughput test.
RUNS_OF_FULL = 2
# Passes are steady when the last three differ by at most this share; there are at most this many
# passes.
STEADY_PASSES = {"passes": 3, "within": 0.05, "passes_max": 30}

# An operation with the variant of its text: for a query the stream of its parameters, for a refresh
# function the number of its set.
Piece = tuple[str, int]


@dataclass(frozen=True)
class Refresh:
    """The refresh functions (insert and delete) of a TPC-H test.

    Attributes:
        insert, delete: Operations of the refresh functions.
        batches: Number of transactions of each refresh function; 0 means one per order.
        sets: Number of sets that the whole test uses, numbered from 1.
    """

    insert: str
    delete: str
    batches: int
    sets: int


@dataclass(frozen=True)
class SpecifiedTest:
    """A TPC-H test as a run executes it.

    Attributes:
        kind: One of `TESTS`.
        streams: Number of query streams of the throughput test; None without a throughput test.
        streams_minimum: Minimum number of streams that the specification requires at this scale;
            None means it requires none.
        scale_standard: Whether the specification allows results at this scale.
        parameters, seed: Parameters and seed of the request.
        refresh: Refresh functions; None if they are left out.
    """

    kind: str
    streams: int | None
    streams_minimum: int | None
    scale_standard: bool
    parameters: str
    seed: int
    refresh: Refresh | None

    def facts(self) -> dict[str, Any]:
        """Return the TPC-H test as JSON values."""
        return asdict(self)

    @property
    def runs(self) -> int:
        """The number of times that the power and throughput tests are made."""
        return RUNS_OF_FULL if self.kind == FULL else 1

    def stream(self, number: int) -> int:
        """Return the query variant of a TPC-H stream; stream 0 may use default parameters."""
        return number if self.parameters == "drawn" else 0


def specified(request: RunRequest, workload: Workload) -> SpecifiedTest | None:
    """Return the requested TPC-H test; None without one.

    Raises:
        UsageError: If the workload does not support the test.
    """
    kind, facts = request.test, workload.facts
    if kind is None:
        return None
    if facts.arrival != "power":
        raise UsageError(
            f"--test: {facts.name} is a mix, and a test runs operations in order: remove --test"
        )
    streams, minimum = None, None
    if facts.streams is not None:
        minimum = minimum_at(facts.streams, request.scale)
    if kind in (THROUGHPUT, FULL):
        if facts.streams is None:
            raise UsageError(
                f"--test {kind}: {facts.name} declares no order of operations for its streams: "
                "add [streams] to its workload.toml, or use --test power"
            )
        streams = request.streams or minimum
    elif request.streams is not None:
        raise UsageError(
            f"--streams applies to the throughput test and has no effect with --test {kind}: "
            "remove --streams"
        )
    return SpecifiedTest(
        kind=kind,
        streams=streams,
        streams_minimum=minimum,
        scale_standard=facts.streams is None or is_standard(facts.streams, request.scale),
        parameters=request.parameters,
        seed=request.seed,
        refresh=_refresh(request, workload, kind, streams or 0),
    )


def _refresh(request: RunRequest, workload: Workload, kind: str, streams: int) -> Refresh | None:
    """Return the refresh functions of a TPC-H test; None if left out or undeclared."""
    refresh = workload.facts.refresh
    if refresh is None or not request.refresh or kind == STEADY:
        if request.refresh_batches != 1:
            raise UsageError(
                "--refresh-batches: the run has no refresh functions: remove --refresh-batches"
            )
        return None
    sets = _sets(kind, streams)
    return Refresh(refresh.insert, refresh.delete, request.refresh_batches, sets)


def _sets(kind: str, streams: int) -> int:
    """Return the number of refresh sets of a TPC-H test: one per power test and stream."""
    return {POWER: 1, THROUGHPUT: streams, FULL: RUNS_OF_FULL * (1 + streams)}[kind]


def streams_max(kind: str, sets: int) -> int:
    """Return the maximum number of query streams for a number of refresh sets."""
    return sets if kind == THROUGHPUT else sets // RUNS_OF_FULL - 1


class PlannedTest:
    """The operations of a TPC-H test in the driver's order, and its phases."""

    def __init__(self, test: SpecifiedTest, workload: Workload, warmup_passes: int) -> None:
        self._test = test
        self._workload = workload
        self._numbers: dict[Piece, int] = {}
        self._sets_used = 0
        power_order = self._queries(0)
        # The power order is first, so that plans can be requested for it alone.
        self._numbered(power_order)
        self.phases: list[dict[str, Any]] = []
        if warmup_passes:
            self._power(PHASE_WARMUP, power_order, passes_min=warmup_passes)
        for number in range(1, test.runs + 1):
            self._run(number, power_order)
        if test.refresh is not None:
            # The state after the last refresh functions is also checked. These queries are not
            # timed, so memory can be read between them.
            pieces = [*power_order, *self._unchecked_streams()]
            self._power(PHASE_AFTER, pieces, memory=True)

    @property
    def power_queries(self) -> tuple[Piece, ...]:
        """The queries of the TPC-H power test."""
        return tuple(dict.fromkeys(self._queries(0)))

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The operations of a TPC-H test that sessions must be able to execute."""
        return tuple(self._numbers)

    def _run(self, number: int, power_order: list[Piece]) -> None:
        test = self._test
        if test.kind == STEADY:
            steady = {"steady": STEADY_PASSES, "passes_min": STEADY_PASSES["passes"]}
            self._power(f"{PHASE_POWER}-{number}", power_order, **steady)
        elif test.kind in (POWER, FULL):
            before, after = self._next_set()
            self._power(f"{PHASE_POWER}-{number}", [*before, *power_order, *after])
        if test.streams is not None:
            streams = [self._queries(stream) for stream in range(1, test.streams + 1)]
            sets = [piece for _ in streams for part in self._next_set() for piece in part]
            self._throughput(f"{PHASE_THROUGHPUT}-{number}", [*streams, *([sets] if sets else [])])

    def _queries(self, stream: int) -> list[Piece]:
        facts = self._workload.facts
        order = facts.order if facts.streams is None else stream_order(self._workload, stream)
        return [(name, self._test.stream(stream)) for name in order]

    def _next_set(self) -> tuple[list[Piece], list[Piece]]:
        """Return the two refresh functions of the next refresh set; empty if none is left."""
        refresh = self._test.refresh
        if refresh is None:
            return [], []
        self._sets_used += 1
        return [(refresh.insert, self._sets_used)], [(refresh.delete, self._sets_used)]

    def _unchecked_streams(self) -> list[Piece]:
        """Return the queries of streams with too many possible data states to check results."""
        refresh, streams = self._test.refresh, self._test.streams or 0
        if refresh is None or refresh.batches or self._test.parameters != "drawn":
            return []
        return [piece for stream in range(1, streams + 1) for piece in self._queries(stream)]

    def _power(self, name: str, pieces: Iterable[Piece], **more: object) -> None:
        order = {"operations": self._numbered(pieces), "passes_min": 1}
        self.phases.append({"name": name, "arrival": {"shape": "power"}, **order, **more})

    def _throughput(self, name: str, orders: list[list[Piece]]) -> None:
        arrival = {"shape": "throughput", "clients": len(orders)}
        orders_of = [self._numbered(order) for order in orders]
        self.phases.append({"name": name, "arrival": arrival, "orders": orders_of})

    def _numbered(self, pieces: Iterable[Piece]) -> list[int]:
        return [self._numbers.setdefault(piece, len(self._numbers)) for piece in pieces]


@dataclass(frozen=True)
class PieceTexts:
    """The SQL texts of a TPC-H test's operations for one engine and scale."""

    test: SpecifiedTest
    workload: Workload
    dialects: Sequence[str]
    scale: float

    def script(self, pieces: Iterable[Piece]) -> Script:
        """Return the script of SQL statements that the sessions of a TPC-H test execute."""
        return Script(tuple(self._operation(piece) for piece in pieces))

    def recorded(self, pieces: Iterable[Piece]) -> dict[str, dict[str, Any]]:
        """Return the SQL texts and parameters of a TPC-H test for the record.

        Plans of stream 0 are named after the query, those of stream 3 as in `q01-3`. A refresh
        function occurs once, with one transaction of its first set.
        """
        statements: dict[str, dict[str, Any]] = {}
        for name, variant in pieces:
            if self._refreshes(name):
                shown = refresh_statement(self.workload, name, 1, 1, self.dialects, self.scale)
                statements.setdefault(name, vars(shown) | {"variant": 1})
            else:
                key = f"{name}-{variant}" if variant else name
                statements[key] = vars(self._statement((name, variant))) | {"variant": variant}
        return statements

    def _operation(self, piece: Piece) -> ScriptOperation:
        statement = self._statement(piece)
        texts = scripts.statements(statement.text, self.dialects)
        return ScriptOperation(piece[0], tuple(ScriptStatement(text) for text in texts))

    def _statement(self, piece: Piece) -> Statement:
        name, variant = piece
        refresh = self.test.refresh
        if refresh is not None and self._refreshes(name):
            return refresh_statement(
                self.workload, name, variant, refresh.batches, self.dialects, self.scale
            )
        seed = self.test.seed if self.test.parameters == "drawn" else None
        return self.workload.statement(name, self.dialects, self.scale, seed, variant)

    def _refreshes(self, name: str) -> bool:
        refresh = self.test.refresh
        return refresh is not None and name in (refresh.insert, refresh.delete)
