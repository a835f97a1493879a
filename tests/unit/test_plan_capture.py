"""Asking for plans: what is kept of what an engine says, and that nothing stops the run."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from assay.engines.duckdb.explaining import DuckPlans
from assay.engines.duckdb.plans import normalised
from assay.engines.plan_reading import Explained
from assay.model.plan import Plan
from assay.model.script import Draw, Script, ScriptOperation, ScriptStatement
from assay.running.plans import LIMIT_MIN_S, SLOWER_MAX, Capture, drawn_value, timed_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

NUMBER = Draw("n", integer=(3, 9))
SCANNED = '[{"name": "SEQ_SCAN", "children": [], "extra_info": {"Table": "t"}}]'
WORD = Draw("word", choice=("a", "b", "c"))


def operation(name: str, *texts: str, draws: tuple[Draw, ...] = ()) -> ScriptOperation:
    bound = tuple(range(len(draws)))
    statements = [ScriptStatement(text, bound if "$" in text else ()) for text in texts]
    return ScriptOperation(name, tuple(statements), draws)


class Engine:
    """What a capture needs of an engine: DuckDB's words, read by DuckDB's rules."""

    def plan_reader(self, instance: object) -> Any:
        raise NotImplementedError

    def plan(self, sql: str, operation: str, statement: int, native: str) -> Plan:
        return normalised(sql, operation, statement, native)


class Reader:
    """Says what it was told to say."""

    def __init__(self, *said: Explained) -> None:
        self.said = said
        self.asked: list[tuple[list[tuple[str, Sequence[object]]], float]] = []

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        self.asked.append((list(statements), limit_s))
        yield from self.said[: len(statements)]

    def close(self) -> None:
        pass


def tell_nobody(done: int, expected: int) -> None:
    assert done < expected


def captured(
    raw: Path,
    reader: Any,
    *operations: ScriptOperation,
    timed_s: dict[str, float] | None = None,
    deadline_s: float = 0.0,
) -> dict[str, Any]:
    script = Script(operations)
    Capture(Engine(), reader, raw, 1).all(script, timed_s or {}, deadline_s, tell_nobody)
    document: dict[str, Any] = json.loads((raw / "plans" / "plans.json").read_text())
    return document


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect(":memory:")
    made.execute("create table t as select range as id from range(1000)")
    return made


class TestCapture:
    def test_each_plan_is_kept_as_it_was_said_and_as_it_is_meant(
        self, tmp_path: Path, connection: duckdb.DuckDBPyConnection
    ) -> None:
        reader = DuckPlans(connection.cursor())
        query = operation("q01", "select count(*) from t where id < 10")
        capture = captured(tmp_path, reader, query, timed_s={"q01": 0.001})
        (plan,) = capture["plans"]
        text = (tmp_path / "plans" / plan["native"]).read_text()
        assert plan["native"] == "q01-0.json"
        assert Plan.read(plan).root == normalised(text, "q01", 0, "q01-0.json").root
        assert capture["missing"] == []
        (cost,) = capture["operations"]
        assert 0 < plan["capture_s"] <= cost["capture_s"] <= capture["capture_s"]
        assert cost["watched_s"] == plan["execution_s"] + plan["planning_s"]
        assert cost["ratio"] == pytest.approx(cost["watched_s"] / 0.001)

    def test_what_has_no_plan_is_kept_with_its_reason(
        self, tmp_path: Path, connection: duckdb.DuckDBPyConnection
    ) -> None:
        reader = DuckPlans(connection.cursor())
        broken = operation("bad", "select nothing from nowhere", "select 1 from t")
        capture = captured(tmp_path, reader, broken, operation("good", "select id from t"))
        assert [plan["operation"] for plan in capture["plans"]] == ["good"]
        assert [entry["statement"] for entry in capture["missing"]] == [0, 1]
        assert "nowhere" in capture["missing"][0]["reason"]
        assert "before it failed" in capture["missing"][1]["reason"]
        assert capture["operations"][0]["watched_s"] is None

    def test_words_that_are_not_understood_are_kept_and_said_to_be(self, tmp_path: Path) -> None:
        capture = captured(tmp_path, Reader(Explained("?", None, 0.1)), operation("q01", "x"))
        assert capture["plans"] == []
        assert "not understood" in capture["missing"][0]["reason"]
        assert (tmp_path / "plans" / "q01-0.json").read_text() == "?"

    def test_a_plan_with_estimates_only_says_why(self, tmp_path: Path) -> None:
        estimated = '[{"name": "SEQ_SCAN", "children": [], "extra_info": {"Table": "t"}}]'
        said = Explained(estimated, "it was cancelled after 1 s", 1.0)
        capture = captured(tmp_path, Reader(said), operation("q01", "x"))
        assert capture["plans"][0]["timed"] is False
        assert capture["plans"][0]["reason"] == "it was cancelled after 1 s"
        assert capture["operations"][0]["ratio"] is None

    def test_what_was_told_before_an_interruption_is_kept(self, tmp_path: Path) -> None:
        class Interrupted(Reader):
            def explain(
                self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
            ) -> Iterator[Explained]:
                if self.asked:
                    raise KeyboardInterrupt
                return super().explain(statements, limit_s)

        reader = Interrupted(Explained(None, "first", 0.0))
        with pytest.raises(KeyboardInterrupt):
            captured(tmp_path, reader, operation("a", "x"), operation("b", "x"))
        document = json.loads((tmp_path / "plans" / "plans.json").read_text())
        assert [entry["reason"] for entry in document["missing"]] == ["first"]

    def test_an_end_that_is_asked_for_while_a_plan_is_kept_comes_after_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def plan(asked_statement: str, operation: str, statement: int, native: str) -> Plan:
            assert (tmp_path / "plans" / native).exists()
            signal.raise_signal(signal.SIGTERM)
            return normalised(asked_statement, operation, statement, native)

        engine = Engine()
        monkeypatch.setattr(engine, "plan", plan)
        reader = Reader(Explained(SCANNED, None, 0.1))
        script = Script((operation("a", "x"), operation("b", "x")))
        with pytest.raises(KeyboardInterrupt):
            Capture(engine, reader, tmp_path, 1).all(script, {}, 0.0, tell_nobody)
        document = json.loads((tmp_path / "plans" / "plans.json").read_text())
        assert [query_plan["operation"] for query_plan in document["plans"]] == ["a"]
        assert len(reader.asked) == 1

    def test_an_end_that_is_asked_for_twice_leaves_the_plans(self, tmp_path: Path) -> None:
        def gone(done: int, _expected: int) -> None:
            if done == 1:
                signal.raise_signal(signal.SIGTERM)
                raise BrokenPipeError

        reader = Reader(Explained(SCANNED, None, 0.1))
        script = Script((operation("a", "x"), operation("b", "x")))
        with pytest.raises(KeyboardInterrupt):
            Capture(Engine(), reader, tmp_path, 1).all(script, {}, 0.0, gone)
        document = json.loads((tmp_path / "plans" / "plans.json").read_text())
        assert [plan["operation"] for plan in document["plans"]] == ["a"]

    def test_an_engine_that_is_asked_is_interrupted(self, tmp_path: Path) -> None:
        class Slow(Reader):
            def explain(
                self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
            ) -> Iterator[Explained]:
                yield from super().explain(statements, limit_s)
                signal.raise_signal(signal.SIGTERM)
                pytest.fail("it was not interrupted")

        with pytest.raises(KeyboardInterrupt):
            captured(tmp_path, Slow(Explained(SCANNED, None, 0.1)), operation("a", "x"))
        document = json.loads((tmp_path / "plans" / "plans.json").read_text())
        assert [plan["operation"] for plan in document["plans"]] == ["a"]

    @pytest.mark.parametrize(
        ("timed_s", "deadline_s", "limit_s"),
        [({}, 0.0, LIMIT_MIN_S), ({"a": 60.0}, 0.0, 60.0 * SLOWER_MAX), ({"a": 60.0}, 2.0, 2.0)],
    )
    def test_the_limit_is_the_runs_own_or_follows_from_the_time_that_it_took(
        self, tmp_path: Path, timed_s: dict[str, float], deadline_s: float, limit_s: float
    ) -> None:
        reader = Reader(Explained(None, "no", 0.0))
        captured(tmp_path, reader, operation("a", "x"), timed_s=timed_s, deadline_s=deadline_s)
        assert [limit for _, limit in reader.asked] == [limit_s]

    def test_values_are_bound_within_their_rules(self, tmp_path: Path) -> None:
        reader = Reader(Explained(None, "no", 0.0))
        captured(tmp_path, reader, operation("a", "x $1 $2", draws=(NUMBER, WORD)))
        ((((_, values),), _),) = reader.asked
        number, word = values
        assert isinstance(number, int)
        assert 3 <= number <= 9
        assert word in {"a", "b", "c"}


def test_values_differ_by_seed_and_name_and_stay() -> None:
    numbers = Draw("n", integer=(0, 10**9))
    assert drawn_value(numbers, "a", 1) == drawn_value(numbers, "a", 1)
    others = {drawn_value(numbers, name, seed) for name in "abc" for seed in (1, 2, 3)}
    assert len(others) == 9


def test_times_are_those_of_the_measured_part() -> None:
    def phase(name: str, p50_ns: int, ok: int) -> dict[str, Any]:
        counted = {"operation": "a", "counts": {"ok": ok}, "service": {"p50_ns": p50_ns}}
        return {"phase": name, "operations": [counted]}

    report = {"phases": [phase("warmup", 9_000_000_000, 1), phase("measured", 1_500_000_000, 3)]}
    assert timed_seconds(report) == {"a": 1.5}
    assert timed_seconds({"phases": [phase("measured", 0, 0)]}) == {}


class TestDuckPlans:
    def reader(self, connection: duckdb.DuckDBPyConnection) -> DuckPlans:
        return DuckPlans(connection.cursor())

    def test_everything_is_rolled_back(self, connection: duckdb.DuckDBPyConnection) -> None:
        asked = [
            ("insert into t values (-1)", []),
            ("create view v as select id from t where id < 0", []),
            ("select count(*) from v", []),
        ]
        explanations = list(self.reader(connection).explain(asked, 10.0))
        assert [explanation.reason for explanation in explanations] == [None, None, None]
        counted = normalised(explanations[2].native or "", "a", 2, "f")
        assert [n.rows for n in counted.root.walk() if n.object == "t"] == [1]
        assert connection.execute("select count(*) from t").fetchone() == (1000,)
        views = connection.execute("select view_name from duckdb_views() where not internal")
        assert views.fetchall() == []

    def test_what_is_left_before_its_end_is_rolled_back_too(
        self, connection: duckdb.DuckDBPyConnection
    ) -> None:
        reader = self.reader(connection)
        asked = [("delete from t", []), ("select 1", [])]
        asking = reader.explain(asked, 10.0)
        next(asking)
        asking.close()  # type: ignore[attr-defined]
        assert connection.execute("select count(*) from t").fetchone() == (1000,)

    def test_statements_of_transactions_are_not_asked(
        self, connection: duckdb.DuckDBPyConnection
    ) -> None:
        asked = [("begin", []), ("delete from t", []), ("-- the end\ncommit", [])]
        explanations = list(self.reader(connection).explain(asked, 10.0))
        assert [explanation.native is None for explanation in explanations] == [True, False, True]
        assert "transaction" in (explanations[2].reason or "")
        assert connection.execute("select count(*) from t").fetchone() == (1000,)

    def test_values_are_bound(self, connection: duckdb.DuckDBPyConnection) -> None:
        asked = [("select id from t where id = $1", [77])]
        (explanation,) = self.reader(connection).explain(asked, 10.0)
        assert "77" in (normalised(explanation.native or "", "a", 0, "f").root.condition or "")

    def test_what_takes_too_long_has_estimates(self, connection: duckdb.DuckDBPyConnection) -> None:
        slow = "select count(*) from t a, t b, t c where hash(a.id + b.id + c.id) % 7 = 1"
        reader = self.reader(connection)
        (explanation,) = reader.explain([(slow, [])], 0.05)
        assert "cancelled after 0.05 s" in (explanation.reason or "")
        assert not normalised(explanation.native or "", "a", 0, "f").timed
        (after,) = reader.explain([("select 1", [])], 10.0)
        assert after.reason is None
