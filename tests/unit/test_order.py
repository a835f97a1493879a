"""In which order rows and tables are asked for, understood, and carried out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pyarrow as pa
import pytest

from assay.model.errors import UsageError
from assay.report.words.order import order_sentences, order_words
from assay.running.asked.asking import understood
from assay.running.asked.order import LoadOrder, asked_order, parse_load_order, parse_sorted
from assay.running.asked.request import RunRequest, recorded_request
from assay.running.data.filling import fill
from assay.running.server.starting import key_of
from assay.workloads.discovery import find_workload
from assay.workloads.scripts import statements

TABLES = ["nation", "orders", "lineitem"]


def request(**asked: Any) -> RunRequest:
    return RunRequest(workload="tpch", engine="duckdb", scale=0.01, **asked)


class TestParsing:
    def test_tables_with_their_columns(self) -> None:
        columns = parse_sorted(["lineitem=l_shipdate", " orders = o_orderdate , o_custkey"])
        assert columns == {"lineitem": ["l_shipdate"], "orders": ["o_orderdate", "o_custkey"]}
        assert parse_sorted([]) == {}

    @pytest.mark.parametrize(
        ("texts", "message"),
        [
            (["lineitem"], "write it like"),
            (["=l_shipdate"], "write it like"),
            (["lineitem="], "write it like"),
            (["lineitem=a,,b"], "write it like"),
            (["lineitem=a,a"], "names a column twice"),
            (["lineitem=a", "lineitem=b"], "given twice"),
        ],
    )
    def test_what_is_no_order_of_rows_is_refused(self, texts: list[str], message: str) -> None:
        with pytest.raises(UsageError, match=message):
            parse_sorted(texts)

    @pytest.mark.parametrize("text", ["", "rest", "a,,b", "a,b,a", "rest,a,rest"])
    def test_what_is_no_order_of_tables_is_refused(self, text: str) -> None:
        with pytest.raises(UsageError, match="--load-order"):
            parse_load_order(text)

    @pytest.mark.parametrize(
        ("text", "tables"),
        [
            (None, []),
            ("orders", ["orders", "nation", "lineitem"]),
            ("orders,rest", ["orders", "nation", "lineitem"]),
            ("rest,nation", ["orders", "lineitem", "nation"]),
            ("lineitem, rest ,nation", ["lineitem", "orders", "nation"]),
            ("lineitem,orders,nation", ["lineitem", "orders", "nation"]),
        ],
    )
    def test_rest_are_all_that_are_not_named(self, text: str | None, tables: list[str]) -> None:
        order = asked_order(request(load_order=parse_load_order(text)), TABLES)
        assert order.tables == tables


class TestIdentity:
    def test_it_is_that_of_the_data_set(self) -> None:
        def name(**asked: Any) -> str:
            return key_of(understood(request(**asked), MagicMock())).name

        plain, by_date = name(), name(sorted_by={"orders": ["o_orderdate"]})
        by_two = name(sorted_by={"orders": ["o_orderdate", "o_custkey"]})
        first, last = name(load_order=["nation"]), name(load_order=["rest", "nation"])
        assert len({plain, by_date, by_two, first, last}) == 5
        assert name(load_order=["nation", "rest"]) == first

    def test_the_record_has_it_and_can_be_asked_for_again(self) -> None:
        asked = request(sorted_by={"orders": ["o_orderdate"]}, load_order=["rest", "orders"])
        assert recorded_request(asked.facts()) == asked
        order = understood(asked, MagicMock()).facts()["order"]
        assert order["sorted_by"] == {"orders": ["o_orderdate"]}
        assert (order["load_order"][-1], len(order["load_order"])) == ("orders", 8)
        assert understood(request(), MagicMock()).facts()["order"] is None

    def test_tables_of_refresh_sets_are_loaded_in_it_too(self) -> None:
        asked = understood(request(test="power", load_order=["rest", "nation"]), MagicMock())
        assert set(asked.order.tables) > {"orders_new", "lineitem_new", "orders_old"}
        assert asked.order.tables[-1] == "nation"

    def test_whose_rows_lie_by_key_is_said_where_rows_are_sorted(self) -> None:
        said = LoadOrder({"orders": ["o_orderdate"]}).facts("Some keep the order of the key")
        assert said is not None
        assert said["note"] == "Some keep the order of the key"
        unsaid = LoadOrder({}, ["orders"]).facts("Some keep the order of the key")
        assert unsaid is not None
        assert unsaid["note"] is None


class TestRefusals:
    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"sorted_by": {"lineitm": ["x"]}}, "did you mean 'lineitem'"),
            ({"sorted_by": {"lineitem": ["l_shpdate"]}}, "did you mean 'l_shipdate'"),
            (
                {"sorted_by": {"orders_new": ["o_orderdate"]}},
                "loads no table 'orders_new'; did you mean",
            ),
            ({"load_order": ["lineitem", "ordrs"]}, "did you mean 'orders'"),
            (
                {"state": "loaded", "prepare": {"a.sql": "x"}},
                "the first query directly after loading, and --prepare",
            ),
        ],
    )
    def test_what_is_not_there_is_told_with_what_is(
        self, asked: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(UsageError, match=message):
            understood(request(**asked), MagicMock())

    @pytest.mark.parametrize(
        ("asked", "option"),
        [
            ({"sorted_by": {"lineitem": ["l_shipdate"]}}, "--sorted"),
            ({"load_order": ["lineitem"]}, "--load-order"),
            ({"state": "loaded", "state_passes": 0}, "--state loaded"),
        ],
    )
    def test_where_nothing_of_ours_is_loaded_there_is_no_order(
        self, asked: dict[str, Any], option: str
    ) -> None:
        for engine, further in (("null", {}), ("postgresql", {"dsn": "postgresql://h/d"})):
            with pytest.raises(UsageError, match=option):
                understood(
                    RunRequest(workload="tpch", engine=engine, scale=0.01, **further, **asked),
                    MagicMock(),
                )

    @pytest.mark.parametrize("asked", [{"sorted_by": {"a": ["b"]}}, {"state": "loaded"}])
    def test_a_folder_of_queries_loads_nothing(self, tmp_path: Path, asked: Any) -> None:
        (tmp_path / "one.sql").write_text("select 1;\n")
        with pytest.raises(
            UsageError, match=r"loads no data: remove --state|loads no table: remove --sorted"
        ):
            understood(
                RunRequest(workload=str(tmp_path), engine="duckdb", scale=1.0, **asked), MagicMock()
            )


@dataclass
class Filled:
    """An engine that remembers what it was asked, and can load several tables at once."""

    done: list[tuple[str, ...]] = field(default_factory=list)
    counted: dict[str, int] = field(default_factory=dict)
    first: dict[str, Any] = field(default_factory=dict)

    def run_script(self, instance: object, sql: str) -> None:
        self.done.append(("script", sql))

    def load(self, instance: object, table: str, rows: Any, streams: int) -> None:
        read = pa.RecordBatchReader.from_stream(rows).read_all()
        self.counted[table] = read.num_rows
        self.first[table] = read.slice(0, 1).to_pylist()
        self.done.append(("load", table, str(streams)))

    def count(self, instance: object, table: str) -> int:
        return self.counted[table]

    def finish_load(self, instance: object) -> None:
        self.done.append(("finish",))

    def tables_at_once(self, streams: int) -> int:
        return streams

    def make_keys(self, instance: object, sql: str, streams: int, tell: object) -> None:
        self.done.append(("keys", sql, str(streams)))


def filled(tmp_path: Path, **asked: Any) -> Filled:
    engine = Filled()
    load_facts = {
        "language": "sql",
        "setup": {"schema.sql": "tables"},
        "keys": ["a;", "b;"],
        "tables": ["region", "nation", "supplier"],
        "sets": 0,
        "generator": "tpch",
        "queries": {},
        "scale": 0.01,
        "streams": 4,
        "sorted_by": {},
        "load_order": [],
        "spill": str(tmp_path / "spill"),
    }
    filled = fill(engine, MagicMock(), load_facts | asked, lambda *_: None)
    assert filled.rows == 130
    assert filled.client_cpu_s is None, "this engine is in the process that loads"
    assert {name: facts["rows"] for name, facts in filled.tables.items()} == {
        "region": 5,
        "nation": 25,
        "supplier": 100,
    }
    return engine


class TestFilling:
    def test_without_an_order_tables_come_side_by_side(self, tmp_path: Path) -> None:
        engine = filled(tmp_path)
        assert ("keys", "a;\nb;", "4") in engine.done
        assert {step[2] for step in engine.done if step[0] == "load"} == {"4"}

    def test_tables_and_their_keys_come_one_after_another(self, tmp_path: Path) -> None:
        order = ["supplier", "region", "nation"]
        engine = filled(tmp_path, load_order=order)
        assert engine.done == [
            ("script", "tables"),
            *(("load", table, "4") for table in order),
            ("keys", "a;\nb;", "1"),
            ("finish",),
        ]

    def test_sorted_rows_come_on_one_connection(self, tmp_path: Path) -> None:
        engine = filled(tmp_path, sorted_by={"nation": ["n_name"]})
        streams = {step[1]: step[2] for step in engine.done if step[0] == "load"}
        assert streams == {"nation": "1", "region": "4", "supplier": "4"}
        assert engine.first["nation"][0]["n_name"] == "ALGERIA"
        assert not (tmp_path / "spill").exists()

    def test_keys_follow_the_order_of_their_tables(self) -> None:
        keys = [
            "alter table nation add primary key (n_nationkey)",
            "create index on orders (o_custkey)",
            'create unique index i on "lineitem" (l_orderkey)',
            "alter table only lineitem add foreign key (l_orderkey) references orders",
            "vacuum",
        ]
        order = LoadOrder({}, ["lineitem", "orders", "nation"]).keys(keys)
        assert order == [keys[2], keys[3], keys[1], keys[0], keys[4]]

    def test_every_key_of_tpch_is_of_a_table(self) -> None:
        tables = list(find_workload("tpch").facts.tables)
        text = "\n".join(find_workload("tpch").keys(("postgresql",), 1.0).values())
        order = LoadOrder({}, tables[::-1]).keys(statements(text, ("postgresql",)))
        assert "lineitem" in order[0]
        assert "region" in order[-1]


CONDITIONS = {
    "sorted_by": {"lineitem": ["l_shipdate", "l_orderkey"]},
    "load_order": ["a", "b", "c", "d"],
    "order_note": "Some keep the order of the key",
}


class TestWords:
    def test_a_title_is_brief(self) -> None:
        assert order_words(CONDITIONS, brief=True) == [
            "lineitem sorted by l_shipdate, l_orderkey",
            "loaded from a to d",
        ]

    def test_a_sentence_has_all(self) -> None:
        assert order_sentences(CONDITIONS) == (
            "Rows of lineitem were sorted by l_shipdate, l_orderkey before they were loaded. "
            "Some keep the order of the key, regardless of the order in which rows arrive. "
            "Tables were loaded one after another:"
            " a, b, c, d. "
        )

    def test_nothing_is_said_of_what_was_not_asked_for(self) -> None:
        plain = {"sorted_by": {}, "load_order": [], "order_note": None}
        assert (order_words(plain), order_sentences(plain)) == ([], "")
