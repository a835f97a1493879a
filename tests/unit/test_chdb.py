"""chDB's session, its settings and the words that go to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from unittest.mock import MagicMock

import pyarrow as pa
import pytest
from chdb import ChdbError

from assay.engines.chdb.engine import ChdbEngine
from assay.engines.chdb.session import ChdbSession
from assay.engines.chdb.statements import named, quoted, split
from assay.engines.contract import EngineError, Instance, Place
from assay.engines.discovery import find_engine
from assay.model.errors import RunFailedError, UsageError
from assay.model.script import Draw, Script, ScriptOperation, ScriptStatement
from assay.running.asked.asking import understood
from assay.running.asked.request import RunRequest

ENDLESS = "select count() as n from numbers(1000000000000) where sipHash64(number) = 7"
ROWS = """create table t (id integer not null, word text, primary key (id));
insert into t values (2, 'b'), (1, null)"""


@pytest.fixture(scope="module")
def engine() -> ChdbEngine:
    made = find_engine("chdb").engine()
    assert isinstance(made, ChdbEngine)
    return made


# A process has one directory open at a time, so a class closes its own.
@pytest.fixture(scope="class")
def instance(engine: ChdbEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    root = tmp_path_factory.mktemp("chdb")
    started = engine.start(Place(root / "data", root / "scratch"), {})
    engine.run_script(started, ROWS)
    yield started
    engine.stop(started)


def session(instance: Instance, *texts: str) -> ChdbSession:
    operations = (ScriptOperation("one", tuple(ScriptStatement(text) for text in texts)),)
    return ChdbSession(instance.handle, Script(operations))


def rows(instance: Instance, *texts: str) -> list[dict[str, Any]]:
    executed = session(instance, *texts).execute(0, ())
    assert isinstance(executed, pa.Table)
    return executed.to_pylist()


class TestSession:
    def test_the_rows_are_those_of_the_last_statement_that_has_any(
        self, instance: Instance
    ) -> None:
        text = "select id from t order by id"
        assert rows(instance, text, "create table if not exists u (n int)") == [
            {"id": 1},
            {"id": 2},
        ]

    def test_absent_is_null(self, instance: Instance) -> None:
        assert rows(instance, "select word from t where id = 1") == [{"word": None}]
        assert rows(instance, "select sum(id) as n from t where id > 9") == [{"n": None}]
        outer = "select b.word from t as a left join t as b on a.id = b.id + 5"
        assert rows(instance, outer) == [{"b.word": None}] * 2

    def test_no_rows_have_columns_all_the_same(self, instance: Instance) -> None:
        executed = session(instance, "select id, word from t where id > 9").execute(0, ())
        assert isinstance(executed, pa.Table)
        assert (executed.schema.names, executed.num_rows) == (["id", "word"], 0)

    def test_values_are_bound(self, instance: Instance) -> None:
        draws = (Draw("n", integer=(1, 9)), Draw("word", choice=("it's", "x")))
        text = "select $1 + 1 as n, $2 as word, '$1' as text"
        asked = ScriptOperation("one", (ScriptStatement(text, (0, 1)),), draws)
        executed = ChdbSession(instance.handle, Script((asked,))).execute(0, (4, "it's"))
        assert isinstance(executed, pa.Table)
        assert executed.to_pylist() == [{"n": 5, "word": "it's", "text": "$1"}]

    def test_an_error_has_clickhouses_name_of_it(self, instance: Instance) -> None:
        with pytest.raises(ChdbError, match="nowhere") as caught:
            rows(instance, "select * from nowhere")
        assert getattr(caught.value, "sqlstate", None) == "UNKNOWN_TABLE"

    def test_an_operation_is_interrupted_and_the_next_one_has_its_own_rows(
        self, instance: Instance
    ) -> None:
        """A connection whose query was ended writes the end of it before its next result."""
        texts = (ScriptStatement(ENDLESS),), (ScriptStatement("select 'mine' as word"),)
        script = Script(tuple(ScriptOperation(str(n), text) for n, text in enumerate(texts)))
        asked = ChdbSession(instance.handle, script)
        ended = threading.Event()

        def interrupt() -> None:
            while not ended.is_set():
                asked.interrupt()
                time.sleep(0.05)

        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        try:
            with pytest.raises(ChdbError) as caught:
                asked.execute(0, ())
        finally:
            ended.set()
            interrupting.join()
        assert getattr(caught.value, "sqlstate", None) == "QUERY_WAS_CANCELLED"
        executed = asked.execute(1, ())
        assert isinstance(executed, pa.Table)
        assert executed.to_pylist() == [{"word": "mine"}]

    def test_others_are_not_interrupted(self, instance: Instance) -> None:
        quick, other = (
            session(instance, "select 1 as n"),
            session(instance, "select sleep(0.3) as n"),
        )
        answered: list[object] = []
        asking = threading.Thread(target=lambda: answered.append(other.execute(0, ())))
        asking.start()
        quick.interrupt()
        asking.join()
        assert len(answered) == 1


class TestPlans:
    def test_a_query_is_executed_and_told(self, engine: ChdbEngine, instance: Instance) -> None:
        with closing(engine.plan_reader(instance)) as reader:
            text = "-- Which?\nselect id from t where id > $1"
            (explanation,) = reader.explain([(text, [1])], 60.0)
        assert explanation.native is not None
        plan = engine.plan(explanation.native, "one", 0, "one-0.txt")
        assert plan.root.rows == 1.0
        assert [node.object for node in plan.root.walk() if node.object] == ["t"]

    def test_what_changes_data_is_not_executed(
        self, engine: ChdbEngine, instance: Instance
    ) -> None:
        with closing(engine.plan_reader(instance)) as reader:
            (explanation,) = reader.explain([("insert into t values (3, 'c')", [])], 60.0)
        assert explanation.native is None
        assert "no transaction" in (explanation.reason or "")
        assert engine.count(instance, "t") == 2

    def test_what_takes_too_long_is_ended_and_the_next_one_is_told(
        self, engine: ChdbEngine, instance: Instance
    ) -> None:
        with closing(engine.plan_reader(instance)) as reader:
            ended, explanation = reader.explain([(ENDLESS, []), ("select id from t", [])], 0.5)
        assert (ended.native, ended.reason) == (None, "it was cancelled after 0.5 s")
        assert explanation.native is not None


class TestLoading:
    def test_rows_that_do_not_fit_fail_the_load(
        self, engine: ChdbEngine, instance: Instance
    ) -> None:
        table = pa.table({"id": ["no number"], "word": ["x"]})
        with pytest.raises(RunFailedError, match="chDB cannot load t: "):
            engine.load(instance, "t", table.to_reader(), 1)
        assert engine.count(instance, "t") == 2

    def test_a_loaded_table_is_one_part_with_statistics(
        self, engine: ChdbEngine, instance: Instance
    ) -> None:
        engine.run_script(instance, "create table p (n integer not null, primary key (n));")
        for first in (0, 5):
            engine.load(instance, "p", pa.table({"n": range(first, first + 5)}).to_reader(), 1)
        engine.finish_load(instance)
        parts = "select rows from system.parts where active and table = 'p'"
        assert rows(instance, parts) == [{"rows": 10}]


class TestSettings:
    def test_a_wrong_value_is_refused(self, engine: ChdbEngine) -> None:
        with pytest.raises(EngineError, match="max_threads=many"):
            engine.check_settings(MagicMock(), {"max_threads": "many"})

    def test_what_would_end_a_value_is_refused(self, engine: ChdbEngine) -> None:
        with pytest.raises(EngineError, match="contains one of the forbidden characters"):
            engine.check_settings(MagicMock(), {"join_algorithm": "hash&x=1"})


class TestStatements:
    def test_semicolons_in_texts_and_comments_end_nothing(self) -> None:
        text = "select ';' -- one; two\n; /* ; */ select \"a;\" ;\n"
        assert split(text) == ["select ';'", 'select "a;"']

    def test_a_value_has_a_name_and_the_type_of_its_draw(self) -> None:
        draws = (Draw("word", choice=("a",)), Draw("n", integer=(1, 2)))
        statement = ScriptStatement("select $2, $1, '$1'", (0, 1))
        operation = ScriptOperation("one", (statement,), draws)
        assert named(statement, operation) == "select {value2:Int64}, {value1:String}, '$1'"

    def test_names_are_quoted(self) -> None:
        assert quoted('a "b"') == '"a \\"b\\""'


class TestWhatHasNoTransactions:
    def test_refresh_functions_are_refused_with_the_mend(self) -> None:
        asked = RunRequest(workload="tpch", engine="chdb", scale=0.01, test="power", refresh=True)
        with pytest.raises(UsageError, match="chDB has no transactions: add --no-refresh"):
            understood(asked, MagicMock())

    def test_a_test_without_them_is_not(self) -> None:
        asked = RunRequest(workload="tpch", engine="chdb", scale=0.01, test="power", refresh=False)
        assert understood(asked, MagicMock()).refresh_sets == 0

    def test_operations_that_are_transactions_are_refused(self) -> None:
        with pytest.raises(
            UsageError,
            match="transfer of TPC-B-like is a transaction, and chDB has no transactions",
        ):
            understood(
                RunRequest(workload="tpcb", engine="chdb", scale=1.0, clients=1), MagicMock()
            )
