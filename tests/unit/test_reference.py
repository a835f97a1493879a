"""What says which rows are right: its data in every state, what it refuses, what it keeps."""

from __future__ import annotations

import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import MagicMock

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.answers.comparison import (
    Expected,
    Tolerances,
    difference,
    expected_text,
    read_expected,
)
from assay.model.errors import RunFailedError
from assay.record.reader import Run
from assay.running.asked.asking import understood
from assay.running.asked.request import RunRequest
from assay.running.reference import cache as reference_cache
from assay.running.reference import loading as reference_loading
from assay.running.reference import rows as reference
from assay.running.reference.cache import ReferenceCache
from assay.running.reference.data import ReferenceData, RefreshSets
from assay.running.reference.engine import NotAnsweredError, ReferenceEngine, columns_read
from assay.running.reference.making import ReferenceMaking
from assay.running.reference.rows import References
from assay.workloads.discovery import find_workload
from assay.workloads.refreshing import batches_of
from tests.conftest import SyntheticRun, an_event

ORDERS = 5
BATCH = 4


def orders(*keys: int) -> pa.Table:
    return pa.table({"o_key": keys, "o_total": [key * 10 for key in keys]})


def refresh_sets(batches: int, sets: int = 2) -> RefreshSets:
    """Set s brings orders s * 100 + 1 to s * 100 + 5, and takes as many of the first ones."""
    rows = [(number, place) for number in range(1, sets + 1) for place in range(1, ORDERS + 1)]
    numbers = {"set_number": [row[0] for row in rows], "order_number": [row[1] for row in rows]}
    new = [number * 100 + place for number, place in rows]
    old = [(number - 1) * ORDERS + place for number, place in rows]
    # A table beside the orders has two rows for each of them.
    twice = {name: [value for value in values for _ in "ab"] for name, values in numbers.items()}
    return RefreshSets(
        batches=batches,
        orders=ORDERS,
        tables={
            "orders_new": pa.table({**numbers, "o_key": new, "o_total": [k * 10 for k in new]}),
            "lines_new": pa.table({**twice, "l_key": [key for key in new for _ in "ab"]}),
            "orders_old": pa.table({**numbers, "o_key": old}),
        },
        deletes={"orders": "o_key", "lines": "l_key"},
    )


def data(batches: int = 1) -> ReferenceData:
    loaded = orders(*range(1, 21))
    lines = pa.table({"l_key": [key for key in range(1, 21) for _ in "ab"]})
    other = pa.table({"k": [1]})
    tables = {"orders": loaded, "lines": lines, "other": other}
    parts = {name: table.to_batches(max_chunksize=BATCH) for name, table in tables.items()}
    return ReferenceData(parts, refresh_sets(batches))


def keys(of: ReferenceData, state: int, table: str = "orders") -> list[int]:
    rows = pa.Table.from_batches(of.at(table, state))
    return sorted(rows.column(0).to_pylist())


class TestStates:
    def test_as_loaded_nothing_is_changed(self) -> None:
        assert keys(data(), 0) == list(range(1, 21))

    @pytest.mark.parametrize(
        ("state", "expected"),
        [
            (1, [*range(1, 21), *range(101, 106)]),
            (2, [*range(6, 21), *range(101, 106)]),
            (3, [*range(6, 21), *range(101, 106), *range(201, 206)]),
            (4, [*range(11, 21), *range(101, 106), *range(201, 206)]),
        ],
    )
    def test_sets_come_in_and_old_orders_go(self, state: int, expected: list[int]) -> None:
        assert keys(data(), state) == expected

    def test_lines_go_with_their_orders(self) -> None:
        twice = [key for key in [*range(6, 21), *range(101, 106)] for _ in "ab"]
        assert keys(data(), 2, "lines") == twice

    def test_batches_cut_a_set_as_its_transactions_do(self) -> None:
        # Of five orders the first of two batches has two.
        assert keys(data(2), 1) == [*range(1, 21), 101, 102]
        assert keys(data(2), 3) == [*range(3, 21), *range(101, 106)]

    def test_tables_of_no_refresh_stay_as_they_are(self) -> None:
        assert not data().changes("other")
        assert data().at("other", 4) == data().at("other", 0)

    def test_only_parts_with_rows_that_go_are_copied(self) -> None:
        whole = data()
        before, after = whole.at("orders", 1), whole.at("orders", 2)
        same = [table_part is other for table_part, other in zip(before, after, strict=False)]
        assert same[:5] == [False, False, True, True, True]

    def test_states_can_be_asked_for_in_any_order(self) -> None:
        whole = data()
        assert [keys(whole, state) for state in (4, 0, 2)] == [
            keys(data(), state) for state in (4, 0, 2)
        ]

    @settings(max_examples=60, deadline=None)
    @given(st.integers(1, ORDERS), st.integers(0, 40))
    def test_one_batch_after_another_gives_the_same(self, batches: int, step: int) -> None:
        state = step % (4 * batches + 1)
        expected = set(range(1, 21))
        for number in range(state):
            of_set, place = divmod(number, 2 * batches)
            batch = place % batches
            first, last = batches_of(ORDERS, batches)[batch]
            span = range(first, last + 1)
            if place < batches:
                expected |= {(of_set + 1) * 100 + order for order in span}
            else:
                expected -= {of_set * ORDERS + order for order in span}
        assert keys(data(batches), state) == sorted(expected)


class TestEngine:
    def ask(self, text: str, state: int = 0) -> list[tuple[object, ...]]:
        return ReferenceEngine(data()).answer(text, state).rows

    def test_it_answers_on_each_state(self) -> None:
        engine = ReferenceEngine(data())
        counts = [engine.answer("select count(*) from orders", state).rows for state in (2, 0, 1)]
        assert counts == [[(20,)], [(20,)], [(25,)]]

    @pytest.mark.parametrize(
        "text",
        [
            "create table x as select 1",
            "insert into other values (2)",
            "drop table other",
            "set datafusion.execution.batch_size = 1",
            "selec 1",
            "select nothing from orders",
            "select 1 / 0",
            "select 1; select 2",
        ],
    )
    def test_what_is_no_query_of_its_own_is_refused(self, text: str) -> None:
        with pytest.raises(NotAnsweredError, match="DataFusion"):
            self.ask(text)

    def test_it_says_by_what_rows_are_ordered(self) -> None:
        engine = ReferenceEngine(data())
        text = "select o_key, o_total from orders order by o_total, o_key % 2, o_key"
        assert engine.answer(text, 0).ordered_by == ["o_total"]

    def test_a_limit_cuts_where_the_order_says(self) -> None:
        assert self.ask("select o_key from orders order by o_key desc limit 2") == [(20,), (19,)]

    def test_a_limit_that_reaches_all_rows_cuts_nothing(self) -> None:
        assert len(self.ask("select o_key from orders limit 20")) == 20

    def test_a_limit_through_equal_rows_has_no_one_answer(self) -> None:
        with pytest.raises(NotAnsweredError, match="rows 2 and 3 are equal"):
            self.ask("select o_key, o_key > 0 as yes from orders order by yes limit 2")

    def test_too_little_memory_is_a_refusal(self) -> None:
        engine = ReferenceEngine(data(), memory_bytes=1)
        with pytest.raises(NotAnsweredError):
            engine.answer("select o_key, count(*) from orders group by o_key order by 1", 0)


class TestColumns:
    def test_only_those_that_are_read(self) -> None:
        schemas = {
            "orders": orders(1).schema,
            "other": pa.schema({"k": pa.int64()}),
            "none": pa.schema({"z": pa.int64()}),
        }
        texts = ["select o_total from orders", "select count(*) from other", "not sql"]
        assert columns_read(texts, schemas) == {"orders": ["o_total"], "other": ["k"], "none": []}

    def test_those_of_subqueries_too(self) -> None:
        schemas = {"orders": orders(1).schema, "other": pa.schema({"k": pa.int64()})}
        text = "select 1 from other where exists (select * from orders where o_key = k)"
        columns = columns_read([text], schemas)
        assert "o_key" in columns["orders"]


class TestMemory:
    JOB: ClassVar[dict[str, Any]] = {
        "generator": "tpch",
        "tables": ["region", "orders"],
        "scale": 0.01,
        "threads": 1,
        "sets": 0,
        "refresh": None,
    }

    def tell(self, *_: object) -> None:
        """Nobody listens."""

    def test_what_does_not_fit_is_refused_with_both_sizes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        little = tmp_path / "meminfo"
        little.write_text("MemTotal: 8 kB\nMemAvailable: 100 kB\n")
        monkeypatch.setattr(reference_loading, "MEMINFO", little)
        with pytest.raises(RunFailedError, match=r"needs about 0\.0 GiB of memory, and 0\.0 GiB"):
            reference_loading.loaded(self.JOB, ["select o_orderkey from orders"], self.tell)

    def test_what_no_text_reads_is_not_loaded(self) -> None:
        loaded_data, _ = reference_loading.loaded(
            self.JOB, ["select o_orderkey from orders"], self.tell
        )
        assert loaded_data.tables == ("orders",)
        assert {batch.schema.names[0] for batch in loaded_data.at("orders", 0)} == {"o_orderkey"}

    def test_keys_that_go_are_loaded_though_no_text_reads_them(self) -> None:
        refresh = {
            "batches": 1,
            "orders": 15,
            "tables": ["orders_new", "lineitem_new", "orders_old"],
            "deletes": {"orders": "o_orderkey"},
        }
        job = self.JOB | {"refresh": refresh, "sets": 1}
        loaded_data, _ = reference_loading.loaded(
            job, ["select sum(o_totalprice) from orders"], self.tell
        )
        rows = [
            sum(batch.num_rows for batch in loaded_data.at("orders", state)) for state in range(3)
        ]
        assert rows == [15_000, 15_015, 15_000]


class TestCache:
    KEY: ClassVar = ["tpch", 1, "select 1"]
    ANSWER: ClassVar = {"rows": "n\n1\n", "ordered_by": []}

    @pytest.fixture
    def cache(self, tmp_path: Path) -> ReferenceCache:
        return ReferenceCache(tmp_path / "references")

    def test_what_was_kept_is_found(self, cache: ReferenceCache) -> None:
        assert cache.find(self.KEY) is None
        cache.keep(self.KEY, self.ANSWER)
        assert cache.find(self.KEY) == self.ANSWER
        assert cache.find([*self.KEY, 2]) is None

    @pytest.mark.parametrize("damage", ["", "x", "\n", "\xff" * 80])
    def test_what_is_damaged_is_not_there(
        self, cache: ReferenceCache, tmp_path: Path, damage: str
    ) -> None:
        cache.keep(self.KEY, self.ANSWER)
        (path,) = (tmp_path / "references").iterdir()
        path.write_bytes(damage.encode("latin-1"))
        assert cache.find(self.KEY) is None
        cache.keep(self.KEY, self.ANSWER)
        assert cache.find(self.KEY) == self.ANSWER

    def test_a_changed_row_is_damage(self, cache: ReferenceCache, tmp_path: Path) -> None:
        cache.keep(self.KEY, self.ANSWER)
        (path,) = (tmp_path / "references").iterdir()
        path.write_text(path.read_text().replace("n\\n1", "n\\n2"))
        assert cache.find(self.KEY) is None

    def test_a_place_that_cannot_be_written_is_no_failure(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        ReferenceCache(tmp_path / "file" / "references").keep(self.KEY, self.ANSWER)

    def test_what_a_killed_writer_left_goes_and_what_is_written_stays(
        self, cache: ReferenceCache, tmp_path: Path
    ) -> None:
        cache.keep(self.KEY, self.ANSWER)
        old, new = (tmp_path / "references" / f"{name}.partial" for name in ("old", "new"))
        old.write_text("")
        new.write_text("")
        os.utime(old, (0, 0))
        cache.sweep()
        assert (old.exists(), new.exists()) == (False, True)
        assert cache.find(self.KEY) == self.ANSWER
        assert reference_cache.PARTIAL_AGE_MAX_S > 0


class TestRowsInAFile:
    TOLERANCES = Tolerances.of({}, 0.0, 0.0, 1.0)

    def test_what_is_written_is_what_is_expected(self, tmp_path: Path) -> None:
        rows = [(1, Decimal("1E+3"), 0.1, None, "text "), (2, Decimal("0.00"), 1e-7, "", "x")]
        path = tmp_path / "q.csv"
        path.write_text(expected_text(["a", "b", "c", "d", "e"], rows), encoding="utf-8")
        assert difference(rows, read_expected(path), self.TOLERANCES) is None

    @pytest.mark.parametrize("value", ["a|b", "a\nb"])
    def test_what_would_be_read_otherwise_is_refused(self, value: str) -> None:
        with pytest.raises(ValueError, match=r"a value contains '\|' or a line break"):
            expected_text(["a"], [(value,)])


class TestMaking:
    """What is done in the host, of rows for a run with the operations `a` and `b`."""

    TEXTS: ClassVar = {
        "a": "select n_name from nation order by n_nationkey",
        "b": "select n_name from nation order by n_regionkey",
    }

    @pytest.fixture
    def job(self, synthetic: SyntheticRun, tmp_path: Path) -> dict[str, Any]:
        synthetic.expected = {"other": "n\n"}
        texts = [
            {"operation": name, "variant": 0, "text": text} for name, text in self.TEXTS.items()
        ]
        return TestMemory.JOB | {
            "run": str(synthetic.write().dir),
            "cache": str(tmp_path / "references"),
            "content_sha256": "c0ffee",
            "generators_version": 1,
            "tables": ["nation"],
            "plain": False,
            "texts": texts,
        }

    def test_rows_of_another_generator_are_not_those_that_were_kept(
        self, job: dict[str, Any]
    ) -> None:
        def files_kept(version: int) -> int:
            for path in Path(job["run"]).glob("raw/results/expected/?-*.csv"):
                path.unlink()
            making = ReferenceMaking(job | {"generators_version": version}, MagicMock())
            kept_files: int = making.make()["files_kept_from_before"]
            return kept_files

        assert [files_kept(1), files_kept(1), files_kept(2)] == [0, 2, 0]

    def test_what_is_there_when_it_is_stopped_has_its_order(self, job: dict[str, Any]) -> None:
        """Else rows that tie would have to be in the very places where the reference had them."""

        def stop(phase: str, *_: object) -> None:
            if phase == "reference answers":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ReferenceMaking(job, stop).make()
        run = Run(Path(job["run"]))
        (made,) = [name for name in self.TEXTS if run.expected(name, 0, 0)]
        assert made in run.expected_origin["made"]["ordered_by"]


class TestRowsThatTie:
    TOLERANCES = Tolerances.of({"s": "sum"}, 1.0, 0.0, 1.0)
    ROWS = (("1", "a"), ("1", "b"), ("2", "c"))

    def compared(
        self, rows: list[tuple[object, ...]], ordered_by: tuple[str, ...] | None
    ) -> object:
        return difference(rows, Expected(("k", "v"), self.ROWS, ordered_by), self.TOLERANCES)

    def test_rows_that_are_equal_in_the_order_may_change_places(self) -> None:
        rows = [(1, "b"), (1, "a"), (2, "c")]
        assert self.compared(rows, ("k",)) is None
        assert "their order is not" in str(self.compared(rows, None))
        assert "their order is not" in str(self.compared(rows, ("k", "v")))

    def test_rows_that_are_not_may_not(self) -> None:
        rows = [(2, "c"), (1, "a"), (1, "b")]
        assert self.compared(rows, ()) is None
        assert "row 1, k: 2 instead of 1" in str(self.compared(rows, ("k",)))

    def test_other_rows_are_wrong_in_any_order(self) -> None:
        assert "row 2" in str(self.compared([(1, "a"), (1, "a"), (2, "c")], ()))


class TestARunThatNeedsRows:
    """The owner's part: what is recorded when no rows can be made, and that it ends no run."""

    @pytest.fixture
    def made(
        self, synthetic: SyntheticRun, monkeypatch: pytest.MonkeyPatch
    ) -> Callable[..., dict[str, Any]]:
        """Asks for rows of `q01` with drawn values; what the record says of it then."""
        synthetic.events = [an_event(0, "q01", 1, 1)]
        synthetic.expected = {"other": "n\n"}

        def made(**request: Any) -> dict[str, Any]:
            run_request = RunRequest(
                workload="tpch", engine="duckdb", scale=0.01, parameters="drawn", **request
            )
            run = synthetic.write()
            writer = SimpleNamespace(dir=run.dir, raw=run.dir / "raw")
            references = References(understood(run_request, MagicMock()), writer, MagicMock())  # type: ignore[arg-type]
            references.make(MagicMock())
            return run.expected_origin

        return made

    def test_a_reference_that_goes_away_is_a_reason(
        self, made: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = MagicMock(side_effect=RunFailedError("it was ended by signal 9"))
        monkeypatch.setattr(reference, "host", gone)
        assert made() == {"why": "it was ended by signal 9"}
        assert gone.call_args.args[2]["texts"][0]["operation"] == "q01"

    def test_a_defect_of_ours_is_a_reason_too(
        self, made: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reference, "reads", MagicMock(side_effect=RecursionError("deep")))
        assert made() == {"why": "making reference rows broke down: RecursionError: deep"}

    @pytest.mark.parametrize(
        ("interrupt", "by"),
        [(KeyboardInterrupt(), "Ctrl-C"), (KeyboardInterrupt("SIGTERM"), "SIGTERM")],
    )
    def test_one_that_is_stopped_says_what_was(
        self,
        synthetic: SyntheticRun,
        made: Callable[..., dict[str, Any]],
        monkeypatch: pytest.MonkeyPatch,
        interrupt: KeyboardInterrupt,
        by: str,
    ) -> None:
        monkeypatch.setattr(reference, "host", MagicMock(side_effect=interrupt))
        with pytest.raises(KeyboardInterrupt, match=f"{by} while reference rows were made"):
            made()
        expected_origin = Run(synthetic.dir).expected_origin
        assert expected_origin == {"why": "the run was stopped before all reference rows were made"}

    def test_what_is_asked_is_the_text_of_the_run(
        self, made: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        host = MagicMock()
        host.return_value.__enter__.return_value.next.return_value = {"kind": "made", "facts": {}}
        monkeypatch.setattr(reference, "host", host)
        assert made(seed=7) == {"made": {}}
        text = find_workload("tpch").statement("q01", (), 0.01, 7).text
        (asked,) = host.call_args.args[2]["texts"]
        assert asked == {"operation": "q01", "variant": 0, "text": text}

    @pytest.mark.parametrize(
        ("sql", "word"),
        [("delete from orders", "delete"), ("insert into region values (9)", "insert")],
    )
    def test_prepared_rows_are_nobodys(
        self, made: Callable[..., dict[str, Any]], sql: str, word: str
    ) -> None:
        assert made(prepare={"mine.sql": sql}) == {"why": f"mine.sql may change rows ({word})"}

    def test_an_index_changes_no_rows(
        self, made: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reference, "host", MagicMock(side_effect=RunFailedError("asked")))
        index = "-- so that nobody has to update rows\ncreate index i on orders (o_custkey)"
        assert made(prepare={"mine.sql": index}) == {"why": "asked"}
