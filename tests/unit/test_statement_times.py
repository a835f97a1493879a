"""Times of statements, what makes a tail, and stalls with the counter that moved."""

from __future__ import annotations

from functools import partialmethod
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.analysis.findings.shape.tail import find
from assay.analysis.load.stalls import Stalls, stalls
from assay.analysis.time.statement_times import EARLIER, OperationStatements, statement_times
from assay.record.reader import Run
from assay.report.words.loads.statements import stall_words, stalls_words, tail_words
from tests.cases import case, operation
from tests.conftest import write_stream
from tests.loads import an_operation, closed, write_load
from tests.records import BEGUN_NS, MS, S

COUNT = 2_400
USUAL = {"select-row": MS, "update-row": 2 * MS}
SLOW = {"select-row": MS, "update-row": 42 * MS}


def statement(sequence: int, name: str, started_ns: int, ns: int) -> dict[str, Any]:
    return {
        "sequence": sequence,
        "operation": "update",
        "statement": name,
        "started_ns": started_ns,
        "finished_ns": started_ns + ns,
        "rows": 1,
    }


def noted_run(
    path: Path,
    *,
    before_ns: int = 0,
    slow: dict[str, int] | None = None,
    names: tuple[str, ...] = tuple(USUAL),
) -> Run:
    """One of a hundred is slow: by its second statement, or by what came before the attempt."""
    events, statements = [], []
    for number in range(COUNT):
        is_slow = number % 100 == 50
        took = (slow or SLOW) if is_slow else USUAL
        parts = {name: took[name] for name in names}
        waited = before_ns if is_slow else 0
        service = waited + sum(parts.values())
        event = an_operation(number, number * 4 * MS, 0, service, operation="update")
        events.append(event)
        at_ns = event["started_ns"] + waited
        for name, ns in parts.items():
            statements.append(statement(number, name, at_ns, ns))
            at_ns += ns
    directory = write_load(path, closed(1), events, COUNT * 0.004)
    write_stream(directory / "raw" / "statements.arrows", statements)
    return Run(directory)


def update_statements(run: Run) -> OperationStatements:
    return statement_times(run)["update"]


def test_each_statement_has_its_share_and_its_percentiles(tmp_path: Path) -> None:
    update, select = update_statements(noted_run(tmp_path)).statements
    assert (update.name, select.name) == ("update-row", "select-row")
    assert (update.executions, update.per_operation, update.rows) == (COUNT, 1.0, 1.0)
    assert (update.seconds.p50, update.seconds.max) == (0.002, 0.042)
    assert select.seconds.max == 0.001
    assert update.share + select.share == pytest.approx(1.0)


def test_the_statement_that_makes_the_tail_is_named(tmp_path: Path) -> None:
    tail = update_statements(noted_run(tmp_path)).tail
    assert tail is not None
    assert (tail.statement, tail.operations, tail.tail_share) == ("update-row", 24, 0.01)
    assert tail.share == pytest.approx(1.0)
    assert (tail.typical_s, tail.tail_s) == pytest.approx((0.002, 0.042))
    message = tail_words("update", update_statements(noted_run(tmp_path / "again")).facts()["tail"])
    assert message.startswith(
        "statement update-row is 100 % of the extra time of the slowest 1 % of update (above 43 ms)"
    )


def test_a_stream_is_read_in_parts_up_to_where_it_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = noted_run(tmp_path)
    whole = update_statements(run)
    path = run.dir / "raw" / "statements.arrows"
    rows = run.table("statements").rows(named=True)
    write_stream(path, rows, batches=7)
    monkeypatch.setattr(Run, "parts", partialmethod(Run.parts, rows=1_000))
    assert [part.height for part in Run(run.dir).parts("statements")] == [1_372, 1_372, 1_372, 684]
    assert update_statements(Run(run.dir)) == whole
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 4])
    cut = update_statements(Run(run.dir))
    assert cut.statements[0].executions < COUNT
    assert sum(timed_statement.share for timed_statement in cut.statements) == pytest.approx(1.0)


def test_attempts_that_failed_before_are_told_from_statements(tmp_path: Path) -> None:
    tail = update_statements(noted_run(tmp_path, before_ns=50 * MS, slow=USUAL)).tail
    assert tail is not None
    assert tail.statement == EARLIER
    assert tail.tail_s == pytest.approx(0.05)


def test_an_operation_that_is_always_alike_has_no_tail(tmp_path: Path) -> None:
    assert update_statements(noted_run(tmp_path, slow=USUAL)).tail is None


def test_the_only_statement_of_an_operation_is_blamed_for_nothing(tmp_path: Path) -> None:
    run = noted_run(tmp_path, slow=SLOW, names=("update-row",))
    assert len(update_statements(run).statements) == 1
    assert update_statements(run).tail is None
    waiting = noted_run(tmp_path / "again", before_ns=50 * MS, names=("update-row",))
    tail = update_statements(waiting).tail
    assert tail is not None
    assert tail.statement == EARLIER


def test_the_tail_is_a_finding_where_it_costs_something(tmp_path: Path) -> None:
    statements = update_statements(noted_run(tmp_path))
    (finding,) = find(case(operation("update"), statement_times={"update": statements}))
    assert finding.claim.startswith("Statement update-row makes the tail latency of update: 100 %")
    assert finding.effect_share == pytest.approx(
        statements.tail.excess_share if statements.tail else 0.0
    )
    alike = update_statements(noted_run(tmp_path / "alike", slow=USUAL))
    assert find(case(operation("update"), statement_times={"update": alike})) == []


def stalled_run(path: Path) -> Path:
    """Ten seconds with an operation each 2 ms, and a hole from 4 s to 4.6 s."""
    hole = range(2_000, 2_300)
    events = [
        an_operation(number, number * 2 * MS, 0, MS)
        for number in range(5_000)
        if number not in hole
    ]
    late = an_operation(6_000, 4 * S, 0, 610 * MS)
    return write_load(path, closed(2), [*events, late], 10.0)


def stalled(path: Path, counted: dict[str, Any] | None) -> Stalls | None:
    return stalls(Run(stalled_run(path)), counted)


def counted(inside: float) -> dict[str, Any]:
    times = [0.1 * number for number in range(100)]
    values = [inside if 4.0 <= time_s <= 4.7 else 10.0 for time_s in times]
    named = [("flushed", values), ("calm", [10.0] * 100)]
    return {
        "counters": [
            {"name": name, "title": f"pages {name}", "unit": "count", "kind": "counter"}
            for name, _ in named
        ],
        "series": [{"name": name, "time_s": times, "values": rows} for name, rows in named],
    }


def test_a_stall_is_found_with_the_figure_that_moved(tmp_path: Path) -> None:
    load_stalls = stalled(tmp_path, counted(900.0))
    assert load_stalls is not None
    (stall,) = load_stalls.stalls
    assert (stall.begin_s, stall.end_s) == pytest.approx((4.0, 4.6), abs=0.11)
    assert stall.longest_s == pytest.approx(0.61)
    assert stall.moved is not None
    assert (stall.moved.name, stall.moved.inside, stall.moved.outside) == ("flushed", 900.0, 10.0)
    assert load_stalls.missing_share == pytest.approx(0.06, abs=0.01)
    facts = load_stalls.facts()
    assert "pages flushed 900/s (else 10/s)" in stall_words(facts["stalls"][0])
    assert stalls_words(facts).startswith("1, ")


def test_a_figure_that_hardly_moved_is_not_blamed(tmp_path: Path) -> None:
    load_stalls = stalled(tmp_path, counted(15.0))
    assert load_stalls is not None
    assert load_stalls.stalls[0].moved is None
    assert "no figure of engine or host stands out" in stall_words(load_stalls.facts()["stalls"][0])


def test_a_load_without_a_stall_says_so(tmp_path: Path) -> None:
    events = [an_operation(number, number * 2 * MS, 0, MS) for number in range(5_000)]
    directory = write_load(tmp_path, closed(2), events, 10.0)
    load_stalls = stalls(Run(directory), None)
    assert load_stalls is not None
    assert load_stalls.stalls == ()
    assert stalls_words(load_stalls.facts()).startswith("none: no ")


def test_other_processes_are_told_before_any_figure_of_the_engine(tmp_path: Path) -> None:
    directory = stalled_run(tmp_path)
    cpus = Run(directory).table("cpus")
    at_s = (pl.col("time_ns").cast(pl.Int64) - BEGUN_NS) / S
    lost_ns = (at_s.clip(4.0, 4.6) - 4.0) * S
    added = lost_ns.cast(pl.Int64).cast(cpus["user_ns"].dtype)
    cpus.with_columns(pl.col("user_ns") + added).write_ipc_stream(directory / "raw" / "cpus.arrows")
    load_stalls = stalls(Run(directory), counted(900.0))
    assert load_stalls is not None
    moved = load_stalls.stalls[0].moved
    assert moved is not None
    assert moved.name == "host_others"
    assert moved.inside > 2 * moved.outside
