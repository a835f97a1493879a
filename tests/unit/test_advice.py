"""What is advised in no engine's words becomes each engine's own, or a reason why not."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import duckdb
import pytest
from psycopg.conninfo import conninfo_to_dict

from assay.engines.contract import EngineError
from assay.engines.discovery import EngineFolder, find_engine
from assay.engines.postgresql.statements import split
from assay.model.errors import UsageError
from assay.model.finding import Advice
from assay.running.asked.asked_run import dsn_with_settings
from assay.running.asked.request import RunRequest
from assay.study.experiments.following import followed
from assay.workloads.choosing import without_parts
from assay.workloads.discovery import find_workload

if TYPE_CHECKING:
    from pathlib import Path

ODD_NAMES = ["orders", "My Orders", 'a"b', "select", "a;drop table b", "ö-1", "a'b", "$table"]


def request(engine: str = "postgresql", **asked: object) -> RunRequest:
    return RunRequest(workload="tpch", engine=engine, scale=0.1, **asked)  # type: ignore[arg-type]


def setting(role: str, value: str) -> Advice:
    return Advice("setting", role, {"value": value})


class TestSettings:
    @pytest.mark.parametrize(
        ("engine", "role", "value", "expected"),
        [
            ("postgresql", "work_memory", "67108864", {"work_mem": "64MB"}),
            ("postgresql", "work_memory", "1500", {"work_mem": "2kB"}),
            ("postgresql", "cache", str(3 << 30), {"shared_buffers": "3GB"}),
            ("postgresql", "jit", "off", {"jit": "off"}),
            ("postgresql", "parallel_workers", "4", {"max_parallel_workers_per_gather": "4"}),
            ("duckdb", "work_memory", "67108864", {"memory_limit": "64MiB"}),
            ("duckdb", "parallel_workers", "2", {"threads": "2"}),
        ],
    )
    def test_a_role_is_the_engines_own_setting(
        self, engine: str, role: str, value: str, expected: dict[str, str]
    ) -> None:
        change = followed(request(engine), setting(role, value), find_engine(engine))
        assert change.request == request(engine).changed(settings=expected)
        assert [change.text] == [f"{name}={told}" for name, told in expected.items()]

    @pytest.mark.parametrize(
        ("engine", "dsn"),
        [("postgresql", "postgresql://localhost/shop"), ("mariadb", "mysql://localhost/shop")],
    )
    def test_a_running_server_is_not_given_what_no_session_can_have(
        self, engine: str, dsn: str
    ) -> None:
        with pytest.raises(UsageError, match="no session can have its own"):
            followed(request(engine, dsn=dsn), setting("cache", str(1 << 30)), find_engine(engine))

    def test_other_settings_stay(self) -> None:
        asked = request(settings={"jit": "on", "work_mem": "1MB"})
        changed = followed(asked, setting("jit", "off"), find_engine("postgresql"))
        assert changed.request.settings == {"jit": "off", "work_mem": "1MB"}

    def test_duckdb_takes_every_value_that_is_written_for_it(self) -> None:
        facts = find_engine("duckdb").advising()
        values = {"bytes": "67108864", "count": "2", "switch": "on"}
        for role, told in facts.settings.items():
            name, value = facts.setting(role, values[told.values])
            duckdb.connect(":memory:", config={name: value}).close()

    @pytest.mark.parametrize(
        ("engine", "advice", "words"),
        [
            ("duckdb", setting("jit", "off"), "DuckDB: it compiles no query"),
            ("duckdb", Advice("vacuum", "orders"), "DuckDB: its checkpoints remove"),
            ("postgresql", setting("magic", "1"), "no setting for magic"),
            ("postgresql", setting("jit", "perhaps"), "'perhaps' is no value of jit"),
            ("postgresql", setting("work_memory", "much"), "no value of work_mem .*bytes"),
            ("postgresql", Advice("setting", "jit"), "does not say to which value"),
            ("postgresql", Advice("index", "orders"), "does not say which columns of orders"),
            ("null", setting("jit", "off"), "no setting for jit"),
            ("null", Advice("statistics", "orders"), "no statement for statistics"),
            ("postgresql", Advice("clients", "clients", {"value": "2"}), "without clients"),
            ("duckdb", Advice("prepared", "statements"), "sends statements in one way"),
            ("postgresql", Advice("state", "hot"), "after a pass that is not"),
        ],
    )
    def test_what_cannot_be_carried_out_is_said_with_the_reason(
        self, engine: str, advice: Advice, words: str
    ) -> None:
        with pytest.raises(UsageError, match=words) as raised:
            followed(request(engine), advice, find_engine(engine))
        assert "this change cannot be made on " in str(raised.value)

    def test_what_is_so_already_is_nothing_to_try(self) -> None:
        asked = request(settings={"jit": "off"})
        with pytest.raises(UsageError, match="the run already had jit=off"):
            followed(asked, setting("jit", "off"), find_engine("postgresql"))


class TestRunningServer:
    def test_settings_are_those_of_the_sessions(self) -> None:
        asked = request(
            dsn="postgresql://me@host/shop?options=-c%20work_mem%3D1MB",
            settings={"work_mem": "64MB", "search_path": "a b\\c"},
        )
        told = conninfo_to_dict(dsn_with_settings(asked, find_engine("postgresql").engine()))
        assert told["options"] == (r"-c work_mem=1MB -c work_mem=64MB -c search_path=a\ b\\c")
        assert (told["user"], told["host"], told["dbname"]) == ("me", "host", "shop")


class TestLoads:
    def test_clients_and_warm_up_of_a_mix(self) -> None:
        asked, engine = request(clients=8), find_engine("postgresql")
        prepared = followed(asked, Advice("prepared", "statements"), engine)
        assert prepared.request == asked.changed(statements="prepared")
        fewer = followed(asked, Advice("clients", "clients", {"value": "2"}), engine)
        assert fewer.request == asked.changed(clients=2)
        longer = followed(asked, Advice("state", "hot", {"warmup_s": "60"}), engine)
        assert longer.request == asked.changed(warmup_s=60.0)


class TestStatements:
    def test_an_index_is_made_after_all_that_was_asked_for(self) -> None:
        asked = request(prepare={"mine.sql": "drop index x;"})
        advice = Advice("index", "orders", {"columns": "o_custkey, o_orderdate"})
        changed = followed(asked, advice, find_engine("postgresql"))
        assert list(changed.request.prepare) == [
            "mine.sql",
            "index of orders (o_custkey, o_orderdate)",
        ]
        assert changed.request.prepare["index of orders (o_custkey, o_orderdate)"] == (
            'create index "assay_orders_o_custkey_o_orderdate_c59a659d" on "orders"'
            ' ("o_custkey", "o_orderdate");\n'
        )

    def test_an_index_of_some_rows_is_tried_as_one(self) -> None:
        values = {"columns": "o_custkey", "predicate": "o_orderstatus = 'O'"}
        advice = Advice("index", "orders", values)
        changed = followed(request(), advice, find_engine("postgresql"))
        (sql,) = changed.request.prepare.values()
        assert sql.endswith("""("o_custkey") where o_orderstatus = 'O';\n""")

    @pytest.mark.parametrize("table", ODD_NAMES)
    @pytest.mark.parametrize("kind", ["index", "statistics"])
    def test_names_are_quoted_whatever_letters_they_have(self, table: str, kind: str) -> None:
        """Oracle: DuckDB, whose rules for names are those of the standard."""
        advice = Advice(kind, table, {"columns": "a b" if kind == "index" else ""})  # type: ignore[arg-type]
        with duckdb.connect() as connection:
            double = table.replace('"', '""')
            connection.execute(f'create table "{double}" ("a b" integer)')
            for engine in ("duckdb", "postgresql"):
                changed = followed(request(engine), advice, find_engine(engine))
                (sql,) = changed.request.prepare.values()
                assert len(split(sql)) == 1
                connection.execute(sql)
                connection.execute("drop index if exists " + indexes(connection))

    def test_statistics_of_several_tables_are_a_statement_each(self) -> None:
        advice = Advice("statistics", "orders", {"tables": "orders, customers"})
        changed = followed(request("sqlite"), advice, find_engine("sqlite"))
        ((label, sql),) = changed.request.prepare.items()
        assert label == "statistics of orders, customers"
        assert [text.strip(" ;\n") for text in split(sql)] == [
            'analyze "orders"',
            'analyze "customers"',
        ]

    def test_statistics_of_both_tables_of_a_join_are_made_together(self) -> None:
        other = Advice("extended-statistics", "parts", {"expression": "(flags & 64)"})
        values = {"columns": "make, model"}
        advice = Advice("extended-statistics", "cars", values, also=(other,))
        changed = followed(request(), advice, find_engine("postgresql"))
        ((label, sql),) = changed.request.prepare.items()
        assert label == "extended-statistics of cars (make, model) and parts ((flags & 64))"
        made = [text.partition(" on ")[2] for text in split(sql) if "create statistics" in text]
        assert [text.strip(" ;\n") for text in made] == [
            '"make", "model" from "cars"',
            '(flags & 64) from "parts"',
        ]

    def test_vacuum_names_its_table_in_each_statement(self) -> None:
        changed = followed(request(), Advice("vacuum", 'a"b'), find_engine("postgresql"))
        (sql,) = changed.request.prepare.values()
        statements = split(sql)
        assert len(statements) == 2
        assert all('"a""b"' in statement for statement in statements)

    @pytest.mark.parametrize(
        ("engine", "expected"),
        [
            ("postgresql", 'alter table "bays" disable trigger "re""count";'),
            ("mariadb", 'drop trigger `re"count`;'),
            ("sqlite", 'drop trigger "re""count";'),
        ],
    )
    def test_a_trigger_is_switched_off_where_the_data_is_ours(
        self, engine: str, expected: str
    ) -> None:
        advice = Advice("trigger", 're"count', {"table": "bays"})
        changed = followed(request(engine), advice, find_engine(engine))
        assert [sql.strip() for sql in changed.request.prepare.values()] == [expected]
        of_others = request(engine, dsn="postgresql://localhost/shop")
        with pytest.raises(UsageError, match="may be needed, and the server"):
            followed(of_others, advice, find_engine(engine))

    @pytest.mark.parametrize(
        ("engine", "expected"),
        [
            ("postgresql", 'drop index "by a";\ndrop index "by""b";\n'),
            ("mysql", 'drop index `by a` on `bays`;\ndrop index `by"b` on `bays`;\n'),
            ("sqlite", 'drop index "by a";\ndrop index "by""b";\n'),
        ],
    )
    def test_indexes_are_dropped_where_the_data_is_ours(self, engine: str, expected: str) -> None:
        advice = Advice("dropped-index", "bays", {"indexes": 'by a,by"b'})
        changed = followed(request(engine), advice, find_engine(engine))
        assert changed.request.prepare == {'without by a, by"b': expected}
        of_others = request(engine, dsn="postgresql://localhost/shop")
        with pytest.raises(UsageError, match="may be needed, and the server"):
            followed(of_others, advice, find_engine(engine))
        with pytest.raises(UsageError, match="no statement for dropped-index"):
            followed(request("duckdb"), advice, find_engine("duckdb"))

    def test_an_engine_without_triggers_has_none_to_switch_off(self) -> None:
        with pytest.raises(UsageError, match="no statement for trigger"):
            followed(request("duckdb"), Advice("trigger", "t"), find_engine("duckdb"))


class TestRowOrder:
    ADVICE = Advice("row-order", "trips", {"columns": "day"})

    @pytest.fixture
    def trips(self, tmp_path: Path) -> RunRequest:
        (tmp_path / "of_day.sql").write_text("select count(*) from trips where day = 3", "utf-8")
        return RunRequest(workload=str(tmp_path), engine="duckdb", scale=1)

    def test_loaded_tables_are_loaded_in_order(self) -> None:
        advice = Advice("row-order", "lineitem", {"columns": "l_shipdate"})
        changed = followed(request("duckdb"), advice, find_engine("duckdb")).request
        assert (changed.sorted_by, changed.prepare) == ({"lineitem": ["l_shipdate"]}, {})

    def test_a_table_that_statements_made_is_sorted_and_keeps_its_constraints(
        self, trips: RunRequest
    ) -> None:
        change = followed(trips, self.ADVICE, find_engine("duckdb"))
        (sql,) = change.request.prepare.values()
        assert change.text == "trips in the order of day"
        assert change.request.sorted_by == {}
        with duckdb.connect() as connection:
            connection.execute("create table trips (id integer primary key, day integer not null)")
            connection.execute("insert into trips select i, i * 7 % 31 from range(1000) as r (i)")
            connection.execute("create index trips_day on trips (day)")
            for statement in split(sql):
                connection.execute(statement)
            days = [day for (day,) in connection.execute("select day from trips").fetchall()]
            assert days == sorted(i * 7 % 31 for i in range(1000))
            assert connection.execute("show tables").fetchall() == [("trips",)]
            kinds = connection.execute("select constraint_type from duckdb_constraints()")
            assert ("PRIMARY KEY",) in kinds.fetchall()
            assert len(connection.execute("from duckdb_indexes()").fetchall()) == 1

    def test_other_engines_cannot(self, trips: RunRequest) -> None:
        engine = find_engine("chdb")
        with pytest.raises(UsageError, match="no statement for row-order"):
            followed(trips.changed(engine="chdb"), self.ADVICE, engine)


class TestDurability:
    RELAXED = Advice("durability", "relaxed")

    def test_settings_of_no_level_give_way_to_those_of_the_level(self) -> None:
        settings = {"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "1", "log_bin": "b"}
        asked = request("mysql", settings=settings)
        assert asked.durability is None
        changed = followed(asked, self.RELAXED, find_engine("mysql")).request
        assert changed.settings == {"log_bin": "b"}
        assert changed.durability == "relaxed"
        assert changed.engine_settings["sync_binlog"] == "0"

    @pytest.mark.parametrize("level", ["relaxed", "none"])
    def test_a_weaker_level_is_no_experiment(self, level: str) -> None:
        with pytest.raises(UsageError, match="not at the level full"):
            followed(request("mysql", durability=level), self.RELAXED, find_engine("mysql"))


class TestAblation:
    """A function is left out of the operations that show it, and of no other."""

    @pytest.fixture
    def fees(self, tmp_path: Path) -> RunRequest:
        (tmp_path / "fees.sql").write_text("select sum(Fee(cents)) from transfers", "utf-8")
        (tmp_path / "others.sql").write_text("select count(*) from transfers", "utf-8")
        return RunRequest(workload=str(tmp_path), engine="postgresql", scale=1)

    def test_only_operations_that_call_it_lack_it(self, fees: RunRequest) -> None:
        advice = Advice("ablation", "public.fee", {"operations": "fees, others"})
        engine = find_engine("postgresql")
        changed = followed(fees, advice, engine)
        assert changed.request.remove == ["fees/function:fee"]
        workload = without_parts(find_workload(fees.workload), changed.request.remove)
        texts = {
            name: workload.statement(name, engine.facts.dialects, 1.0).text
            for name in ("fees", "others")
        }
        assert "SUM(1)" in texts["fees"]
        assert texts["others"] == "select count(*) from transfers"

    def test_where_no_text_calls_it_there_is_nothing_to_leave_out(self, fees: RunRequest) -> None:
        advice = Advice("ablation", "tax", {"operations": "fees"})
        with pytest.raises(UsageError, match="with this part: fees"):
            followed(fees, advice, find_engine("postgresql"))


def test_settings_that_limit_the_same_change_together() -> None:
    asked = RunRequest(workload="tpch", engine="mariadb", scale=1)
    advice = Advice("setting", "temporary_memory", {"value": str(1 << 26)})
    changed = followed(asked, advice, find_engine("mariadb"))
    assert changed.request.settings == {
        "tmp_memory_table_size": "64M",
        "max_heap_table_size": "64M",
    }
    assert changed.text == "tmp_memory_table_size=64M, max_heap_table_size=64M"


class TestHint:
    """A statement is sent without its hints, also if its values are drawn at each execution."""

    @pytest.fixture
    def slopes(self, tmp_path: Path) -> RunRequest:
        folder = tmp_path / "slopes"
        (folder / "operations").mkdir(parents=True)
        manifest = (
            'about = "Weighs."\narrival = "closed"\n[operations.slope]\n'
            "[operations.slope.parameters]\nslope = { integer = [1, 900] }\n[operations.all]\n"
        )
        (folder / "workload.toml").write_text(manifest, "utf-8")
        (folder / "operations" / "slope.sql").write_text(
            "select sum(kilos) from harvests ignore index (by_slope) where slope = ${slope}",
            "utf-8",
        )
        (folder / "operations" / "all.sql").write_text("select sum(kilos) from harvests", "utf-8")
        return RunRequest(workload=str(folder), engine="mysql", scale=1)

    def test_it_goes_from_its_statement_only(self, slopes: RunRequest) -> None:
        engine = find_engine("mysql")
        changed = followed(slopes, Advice("hint", "slope"), engine)
        assert changed.text == "slope without hints"
        assert changed.request.remove == ["slope/hints"]
        workload = without_parts(find_workload(slopes.workload), changed.request.remove)
        script = workload.script(engine.facts.dialects, 1.0, 1)
        texts = {each.name: " ".join(each.statements[0].text.split()) for each in script.operations}
        assert texts["slope"] == "SELECT SUM(kilos) FROM harvests WHERE slope = $1"
        assert texts["all"] == "select sum(kilos) from harvests"

    def test_its_twin_without_a_hint_has_nothing_to_try(self, slopes: RunRequest) -> None:
        with pytest.raises(UsageError, match="can remove hints from a single query only"):
            followed(slopes, Advice("hint", "all"), find_engine("mysql"))


class TestTechniques:
    """An operator is switched off to test whether the choice of it costs time."""

    @pytest.mark.parametrize(
        ("engine", "operator", "settings", "words"),
        [
            ("postgresql", "nested loop", {"enable_nestloop": "off"}, "without nested loops"),
            ("postgresql", "hash join", {"enable_hashjoin": "off"}, "without hash joins"),
            (
                "mysql",
                "hash join",
                {"optimizer_switch": "block_nested_loop=off"},
                "without hash joins",
            ),
        ],
    )
    def test_an_operator_is_kept_out_of_plans_by_settings(
        self, engine: str, operator: str, settings: dict[str, str], words: str
    ) -> None:
        asked = request(engine, settings={"other": "1"})
        change = followed(asked, Advice("technique", operator), find_engine(engine))
        assert change.text == words
        assert change.request.settings == {"other": "1", **settings}
        assert len(change.request.without) == 1

    def test_an_engine_without_such_a_setting_says_so(self) -> None:
        loops = Advice("technique", "nested loop")
        with pytest.raises(UsageError, match="no setting that switches the operator 'nested loop'"):
            followed(request("duckdb"), loops, find_engine("duckdb"))

    def test_a_setting_of_the_run_itself_stays(self) -> None:
        asked = request(settings={"enable_nestloop": "on"})
        with pytest.raises(UsageError, match="the run sets enable_nestloop itself"):
            followed(asked, Advice("technique", "nested loop"), find_engine("postgresql"))

    def test_the_record_has_the_operators_that_can_be_switched_off(self) -> None:
        facts = find_engine("postgresql").advice()
        assert facts is not None
        assert {"hash join", "merge join", "nested loop"} <= set(facts["operators"])


class TestPipeline:
    ADVICE = Advice("pipeline", "statements")

    def test_clients_send_statements_before_earlier_answers_arrive(self) -> None:
        change = followed(request(clients=2), self.ADVICE, find_engine("postgresql"))
        assert (change.text, change.request.pipeline) == ("statements pipelined", True)

    def test_a_session_that_waits_for_each_answer_says_so(self) -> None:
        with pytest.raises(UsageError, match="waits for each answer, and Assay cannot merge"):
            followed(request("sqlite", clients=2), self.ADVICE, find_engine("sqlite"))

    def test_queries_in_an_order_are_not_pipelined(self) -> None:
        with pytest.raises(UsageError, match="only pipelined in a mix"):
            followed(request(), self.ADVICE, find_engine("postgresql"))


def test_a_union_is_sent_with_its_duplicates(tmp_path: Path) -> None:
    folder = tmp_path / "harvests"
    folder.mkdir()
    (folder / "all.sql").write_text("select kilos from old union select kilos from recent", "utf-8")
    (folder / "sum.sql").write_text("select sum(kilos) from old", "utf-8")
    request = RunRequest(workload=str(folder), engine="sqlite", scale=1)
    engine = find_engine("sqlite")
    changed = followed(request, Advice("union-all", "all"), engine)
    assert changed.text == "all with union all"
    assert changed.request.remove == ["all/union"]
    with pytest.raises(UsageError, match="can remove union from a single query only"):
        followed(request, Advice("union-all", "sum"), engine)


@pytest.mark.parametrize("engine", ["mysql", "mariadb"])
def test_numbers_that_hide_an_index_are_sent_as_text(tmp_path: Path, engine: str) -> None:
    folder = tmp_path / "offices"
    folder.mkdir()
    (folder / "by_badge.sql").write_text("select room from staff where badge = 8025", "utf-8")
    (folder / "by_name.sql").write_text("select room from staff where name = 'Ada'", "utf-8")
    request = RunRequest(workload=str(folder), engine=engine, scale=1)
    changed = followed(request, Advice("text-values", "by_badge"), find_engine(engine))
    assert changed.text == "by_badge with text values"
    assert changed.request.remove == ["by_badge/numbers"]
    with pytest.raises(UsageError, match="can remove numbers from a single query only"):
        followed(request, Advice("text-values", "by_name"), find_engine(engine))


def test_an_index_has_the_access_method_of_its_advice() -> None:
    values = {"expression": '"body" jsonb_path_ops', "method": "gin"}
    request = RunRequest(workload="tpch", engine="postgresql", scale=0.01)
    changed = followed(request, Advice("index", "docs", values), find_engine("postgresql"))
    (sql,) = changed.request.prepare.values()
    assert sql.strip() == (
        'create index "assay_docs_body_jsonb_path_ops_097eb816" on "docs"'
        ' using gin ("body" jsonb_path_ops);'
    )


def indexes(connection: duckdb.DuckDBPyConnection) -> str:
    found = connection.execute("select index_name from duckdb_indexes()").fetchall()
    return '"' + found[0][0].replace('"', '""') + '"' if found else "none"


class TestFacts:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> EngineFolder:
        real = find_engine("postgresql")
        shutil.copytree(real.folder, tmp_path / "engine")
        return EngineFolder(real.facts, tmp_path / "engine")

    def test_they_are_recorded_as_they_stand_in_the_file(self) -> None:
        told = find_engine("postgresql").advice()
        assert told is not None
        memory = {
            "name": "work_mem",
            "values": "bytes",
            "limits": "each operator",
            "session": True,
        }
        assert told["settings"]["work_memory"] == memory
        assert find_engine("null").advice() is None

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("settings = 3", "advice.toml: settings: .*dictionary"),
            ("[setings.jit]\nname = 'jit'", "setings: .*did you mean 'settings'"),
            ("[settings.jit]\nnam = 'jit'", "settings.jit.*name"),
            ("[settings.work_memry]\nname = 'x'", "did you mean 'work_memory'"),
            ("[settings.jit]\nname = 'jit'\nvalues = 'words'", "settings.jit.values"),
            ("[statements]\nindices = 'x.sql'", "statements.indices"),
            ("[statements]\nindex = 'conf/none.sql'", "conf/none.sql cannot be read"),
            ("[statements", "advice.toml cannot be read"),
        ],
    )
    def test_what_is_wrong_is_said_with_file_and_key(
        self, folder: EngineFolder, text: str, words: str
    ) -> None:
        (folder.folder / "advice.toml").write_text(text)
        with pytest.raises(EngineError, match=words):
            folder.advice()

    @pytest.mark.parametrize(("sql", "words"), [("analyze $tabel;", r"\$tabel"), ("$ 1", "lone")])
    def test_a_placeholder_that_stands_for_nothing_is_refused(
        self, folder: EngineFolder, sql: str, words: str
    ) -> None:
        (folder.folder / "conf" / "advice" / "index.sql").write_text(sql)
        with pytest.raises(EngineError, match=words):
            folder.advice()

    def test_a_dollar_is_written_twice(self) -> None:
        facts = find_engine("postgresql").advising()
        assert facts.statement("$$1 $table", "t", ()) == '$1 "t"'


def test_a_named_setting_has_the_value_that_the_advice_names() -> None:
    """Without the setting, that of a server's configuration file would count."""
    advice = Advice("named-setting", "enable_hashjoin", {"value": "on"})
    asked = request(settings={"enable_hashjoin": "off", "work_mem": "1MB"})
    changed = followed(asked, advice, find_engine("postgresql"))
    assert changed.text == "enable_hashjoin=on"
    assert changed.request.settings == {"enable_hashjoin": "on", "work_mem": "1MB"}


def test_a_change_that_replaces_what_a_server_had_has_no_undo() -> None:
    """A column may have a histogram of its owner, which `drop histogram` would not bring back."""
    for name in ("mysql", "mariadb"):
        running = find_engine(name).advising().running
        assert running["statistics"].undo is None
        if "histogram" in running:
            assert running["histogram"].undo is None
