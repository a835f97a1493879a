"""The doors of the compiled core: what they promise to Python, and what they refuse."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import assay.workloads
from assay import _core

SCALE = 0.01
# Rows at SF 0.01: the cardinalities of the specification's 4.2.5 times the scale; nation and region
# are fixed. Lines vary with orders: 60,175 is what dbgen and tpchgen make.
ROWS = {
    "region": 5,
    "nation": 25,
    "supplier": 100,
    "customer": 1_500,
    "part": 2_000,
    "partsupp": 8_000,
    "orders": 15_000,
    "lineitem": 60_175,
}
OUTCOMES = ("ok", "skipped", "failed")
DEADLINE_MS = 150
# A run's goes on while its threads start, which a busy host lets wait.
RUN_DEADLINE_MS = 1500
# Generous: a slow host makes the test slow, not red.
PATIENCE_S = 30.0


def table(name: str, scale: float = SCALE, threads: int = 2) -> pa.Table:
    return pa.table(_core.TableStream("tpch", name, scale, threads))


class TestTables:
    @pytest.mark.parametrize(("name", "rows"), ROWS.items())
    def test_the_specification_says_how_many_rows(self, name: str, rows: int) -> None:
        stream = _core.TableStream("tpch", name, SCALE, 2)
        assert pa.table(stream).num_rows == rows
        assert stream.rows == rows

    def test_expected_rows_are_exact_but_for_the_lines_of_orders(self) -> None:
        expected_rows = {
            name: _core.TableStream("tpch", name, SCALE, 1).rows_expected for name in ROWS
        }
        # An order has one to seven lines, so four of them on average.
        assert expected_rows == ROWS | {"lineitem": 4 * ROWS["orders"]}

    @pytest.mark.parametrize("name", ["lineitem", "orders", "partsupp"])
    def test_the_bytes_do_not_depend_on_the_number_of_threads(self, name: str) -> None:
        made = {}
        for threads in (1, 4):
            stream = _core.TableStream("tpch", name, 0.02, threads)
            rows = pa.table(stream)
            made[threads] = (rows.combine_chunks(), stream.checksum)
        assert made[1][0].equals(made[4][0])
        assert made[1][1] == made[4][1]
        assert len(made[1][1]) == 16

    def test_another_scale_has_another_checksum(self) -> None:
        checksums = set()
        for scale in (0.01, 0.02):
            stream = _core.TableStream("tpch", "supplier", scale, 1)
            pa.table(stream)
            checksums.add(stream.checksum)
        assert len(checksums) == 2

    def test_a_table_is_read_once(self) -> None:
        stream = _core.TableStream("tpch", "region", SCALE, 1)
        pa.table(stream)
        with pytest.raises(ValueError, match="read already"):
            pa.table(stream)

    @pytest.mark.parametrize("scale", [0.0, -1.0, 0.0009, 100_001.0, float("nan"), float("inf")])
    def test_a_scale_out_of_range_is_refused(self, scale: float) -> None:
        with pytest.raises(ValueError, match="out of range"):
            _core.TableStream("tpch", "region", scale, 1)

    def test_an_unknown_table_or_generator_is_refused_with_those_that_are_known(self) -> None:
        with pytest.raises(ValueError, match=r"known: .*lineitem"):
            _core.TableStream("tpch", "lineitems", SCALE, 1)
        with pytest.raises(ValueError, match="known: bsbm, tpcc, tpch"):
            _core.TableStream("tpcx", "lineitem", SCALE, 1)

    def test_a_stream_that_nobody_reads_ends_with_its_owner(self) -> None:
        before = threading.active_count()
        for _ in range(3):
            _core.TableStream("tpch", "lineitem", 0.1, 4)
        assert threading.active_count() == before


class TestTablesAgainstTheSpecification:
    """Values that the specification fixes (4.2.3, 4.3) or the published answers at SF 1 imply."""

    def test_regions_and_nations_are_those_of_the_specification(self) -> None:
        regions = table("region")["r_name"].to_pylist()
        assert [name.rstrip() for name in regions] == [
            "AFRICA",
            "AMERICA",
            "ASIA",
            "EUROPE",
            "MIDDLE EAST",
        ]
        nations = table("nation").to_pylist()
        assert (nations[0]["n_name"].rstrip(), nations[0]["n_regionkey"]) == ("ALGERIA", 0)
        assert (nations[24]["n_name"].rstrip(), nations[24]["n_regionkey"]) == ("UNITED STATES", 1)

    def test_the_first_supplier_customer_and_part_are_those_that_dbgen_makes(self) -> None:
        supplier = table("supplier").to_pylist()[0]
        assert supplier["s_name"].rstrip() == "Supplier#000000001"
        assert supplier["s_phone"] == "27-918-335-1736"
        assert str(supplier["s_acctbal"]) == "5755.94"
        customer = table("customer").to_pylist()[0]
        assert customer["c_phone"] == "25-989-741-2988"
        assert str(customer["c_acctbal"]) == "711.56"
        part = table("part").to_pylist()[0]
        assert part["p_name"] == "goldenrod lavender spring chocolate lace"
        assert str(part["p_retailprice"]) == "901.00"

    def test_of_every_32_order_keys_the_first_8_are_used(self) -> None:
        keys = table("orders")["o_orderkey"].to_pylist()
        assert keys == [32 * (n // 8) + n % 8 for n in range(1, len(keys) + 1)]

    def test_sums_of_q1_are_those_of_the_reference_answer(self) -> None:
        """The reference rows come from PostgreSQL over the tables of `tpchgen-cli`."""
        folder = Path(assay.workloads.__file__).parent / "tpch" / "answers" / "sf0.01"
        header, *rows = [
            line.split("|") for line in (folder / "q01.csv").read_text("utf-8").splitlines()
        ]
        wanted = [dict(zip(header, row, strict=True)) for row in rows]
        lines = pl.DataFrame(pl.from_arrow(table("lineitem")))
        ours = (
            lines.filter(pl.col("l_shipdate") <= pl.date(1998, 9, 2))
            .group_by("l_returnflag", "l_linestatus")
            .agg(pl.col("l_quantity", "l_extendedprice").sum(), pl.len().alias("lines"))
            .sort("l_returnflag", "l_linestatus")
        )
        assert ours["lines"].to_list() == [int(row["count_order"]) for row in wanted]
        assert ours["l_quantity"].to_list() == [Decimal(row["sum_qty"]) for row in wanted]
        assert ours["l_extendedprice"].to_list() == [
            Decimal(row["sum_base_price"]) for row in wanted
        ]


def plan(operations: Sequence[int], names: str = "abcdef", **more: Any) -> dict[str, Any]:
    phase = {"name": "measured", "arrival": {"shape": "power"}, "operations": list(operations)}
    return {"operations": list(names), "phases": [phase], "seed": 1} | more


class Driven:
    """What a run of the driver left behind."""

    def __init__(self, raw: Path, report: str) -> None:
        self.raw = raw
        self.report = json.loads(report)
        with pa.OSFile(str(raw / "events.arrows")) as file, pa.ipc.open_stream(file) as reader:
            self.events = reader.read_all().to_pylist()
        self.errors = {error["class"]: error["message"] for error in self.report["errors"]}

    def ended(self, column: str = "outcome") -> list[Any]:
        return [event[column] for event in self.events]

    @property
    def kept(self) -> list[str]:
        return sorted(path.name for path in (self.raw / "results").iterdir())

    def balances(self) -> bool:
        counted = [op["counts"] for phase in self.report["phases"] for op in phase["operations"]]
        identity = all(c["scheduled"] == sum(c[word] for word in OUTCOMES) for c in counted)
        recorded = [self.ended().count(word) for word in OUTCOMES]
        return identity and recorded == [sum(c[word] for c in counted) for word in OUTCOMES]


def drive(
    raw: Path,
    of: dict[str, Any],
    *sessions: object,
    cancel: _core.CancelFlag | None = None,
    tick: Any = lambda *_: None,
    metered: bool = False,
) -> Driven:
    flag = cancel or _core.CancelFlag()
    driven = [driven_by(session, of) for session in sessions]
    pids = [os.getpid()] if metered else None
    return Driven(raw, _core.drive(json.dumps(of), driven, raw, flag, tick, pids))


def driven_by(session: object, of: dict[str, Any]) -> object:
    """The session as the driver takes it: ones in Python come with a script."""
    if isinstance(session, _core.NullSession):
        return session
    statement = {"text": "as its name says"}
    operations = [{"name": name, "statements": [statement]} for name in of["operations"]]
    return _core.PythonSession(session, json.dumps({"operations": operations}), 1, 0)


class TestDriveOfNothing:
    def test_events_are_readable_and_in_order(self, tmp_path: Path) -> None:
        run = drive(tmp_path, plan([0, 1, 2]), _core.NullSession())
        assert run.ended("operation") == ["a", "b", "c"]
        assert run.ended("sequence") == [0, 1, 2]
        assert run.ended() == ["ok"] * 3
        for event in run.events:
            assert event["scheduled_ns"] <= event["started_ns"] <= event["finished_ns"]
        assert run.report["ended"] == "done"
        assert run.balances()

    def test_a_delay_is_seen_in_the_times(self, tmp_path: Path) -> None:
        delay_ns = 3_000_000
        run = drive(tmp_path, plan([0]), _core.NullSession(delay_ns=delay_ns))
        assert run.events[0]["finished_ns"] - run.events[0]["started_ns"] >= delay_ns

    def test_every_nth_operation_fails_as_asked_and_the_counts_balance(
        self, tmp_path: Path
    ) -> None:
        run = drive(tmp_path, plan([0, 1, 2, 3, 4, 5]), _core.NullSession(fail_every=3))
        assert run.ended() == ["ok", "ok", "failed"] * 2
        assert run.ended("error")[2] == "null_failure"
        assert run.balances()

    def test_a_retry_counts_beside(self, tmp_path: Path) -> None:
        run = drive(tmp_path, plan([0, 1, 2], retries_max=1), _core.NullSession(fail_every=2))
        assert run.ended() == ["ok"] * 3
        assert run.ended("retries") == [0, 1, 1]
        assert run.balances()

    def test_what_a_python_session_raises_says_its_class_and_whether_to_try_again(
        self, tmp_path: Path
    ) -> None:
        class RefusedError(Exception):
            def __init__(self, sqlstate: str, *, retryable: bool) -> None:
                super().__init__("refused")
                self.sqlstate, self.retryable = sqlstate, retryable

        errors = [
            RefusedError("40001", retryable=True),
            RefusedError("42000", retryable=False),
            ValueError("plain"),
        ]

        class Refusing:
            def execute(self, operation: int, values: list[object]) -> pa.Table:
                if operation == 0 and not self.tried:
                    self.tried = True
                    raise errors[0]
                if operation:
                    raise errors[operation]
                return pa.table({"n": [1]})

            tried = False

        run = drive(tmp_path, plan([0, 1, 2], retries_max=3), Refusing())
        assert run.ended() == ["ok", "failed", "failed"]
        assert run.ended("retries") == [1, 0, 0]
        assert run.ended("error") == [None, "42000", "ValueError"]

    def test_metered_readings_stand_around_every_operation(self, tmp_path: Path) -> None:
        drive(tmp_path, plan([0, 1]), _core.NullSession(), metered=True)
        with pa.OSFile(str(tmp_path / "tasks.arrows")) as file:
            tasks = pl.DataFrame(pl.from_arrow(pa.ipc.open_stream(file).read_all()))
        assert tasks["sequence"].to_list() == [0, 0, 1, 1]
        assert tasks["edge"].cast(pl.String).to_list() == ["start", "end"] * 2

    def test_a_mix_is_not_metered_because_readings_would_be_its_load(self, tmp_path: Path) -> None:
        of = plan([0])
        of["phases"][0] |= {"arrival": {"shape": "closed", "clients": 1}, "operations_max": 5}
        drive(tmp_path, of, _core.NullSession(), metered=True)
        with pa.OSFile(str(tmp_path / "tasks.arrows")) as file:
            assert pa.ipc.open_stream(file).read_all().num_rows == 0

    def test_the_teller_hears_the_phase(self, tmp_path: Path) -> None:
        heard: list[tuple[str, int, int]] = []
        session = _core.NullSession(delay_ns=200_000_000)
        drive(tmp_path, plan([0]), session, tick=lambda *phase: heard.append(phase))
        assert heard
        assert {phase for phase, _, _ in heard} == {"measured"}

    def test_a_teller_that_breaks_down_stops_the_run_in_good_order(self, tmp_path: Path) -> None:
        def broken(*_: object) -> None:
            raise RuntimeError("no terminal")

        endless = plan(
            [0], phases=[plan([0])["phases"][0] | {"duration_ns": int(PATIENCE_S * 1e9)}]
        )
        run = drive(tmp_path, endless, _core.NullSession(delay_ns=1_000_000), tick=broken)
        assert run.report["ended"] == "cancelled"
        assert run.balances()


class Scripted:
    """A session whose every operation does what its name says."""

    def __init__(self, **scripts: Any) -> None:
        self.scripts = list(scripts.values())
        self.interrupted = threading.Event()

    def execute(self, operation: int, _values: list[object]) -> object:
        return self.scripts[operation](self)

    def interrupt(self) -> None:
        self.interrupted.set()

    def slow(self) -> object:
        if not self.interrupted.wait(PATIENCE_S):
            raise AssertionError("nobody interrupted the operation")
        self.interrupted.clear()
        raise RuntimeError("interrupted")


def rows(*values: int) -> Any:
    return lambda _: pa.table({"n": list(values)})


def fails(error: BaseException) -> Any:
    def raising(_: object) -> object:
        raise error

    return raising


class TestDriveOfPython:
    def test_an_arrow_table_is_counted_digested_and_kept_as_it_is(self, tmp_path: Path) -> None:
        run = drive(tmp_path, plan([0], "a"), Scripted(a=rows(3, 1, 2)))
        event = run.events[0]
        assert (event["outcome"], event["rows"]) == ("ok", 3)
        (kept,) = run.kept
        assert kept.startswith(f"a-{event['digest']:016x}-")
        assert pl.read_ipc(tmp_path / "results" / run.kept[0])["n"].to_list() == [3, 1, 2]

    def test_a_result_without_rows_is_kept_with_its_columns(self, tmp_path: Path) -> None:
        nothing = pa.table({"n": pa.array([], pa.int64())})
        run = drive(tmp_path, plan([0], "a"), Scripted(a=lambda _: nothing))
        assert run.kept == ["a-0000000000000000-0000000000000000.arrow"]
        assert pl.read_ipc(tmp_path / "results" / run.kept[0]).columns == ["n"]

    def test_the_same_rows_in_another_order_are_kept_too(self, tmp_path: Path) -> None:
        answers = iter([rows(1, 2)(None), rows(2, 1)(None), rows(1, 2)(None)])
        run = drive(tmp_path, plan([0] * 3, "a"), Scripted(a=lambda _: next(answers)))
        assert len(run.kept) == 2
        assert len(set(run.ended("digest"))) == 1

    def test_rows_are_kept_once_a_digest(self, tmp_path: Path) -> None:
        run = drive(tmp_path, plan([0, 0, 1, 0], "ab"), Scripted(a=rows(1), b=rows(1)))
        assert [name[0] for name in run.kept] == ["a", "b"]
        assert len(set(run.ended("digest"))) == 1

    def test_another_result_of_the_same_operation_is_kept_too_up_to_a_limit(
        self, tmp_path: Path
    ) -> None:
        given = iter(range(9))
        session = Scripted(a=lambda _: pa.table({"n": [next(given)]}))
        run = drive(tmp_path, plan([0] * 5, "a", results_kept=2), session)
        assert len(set(run.ended("digest"))) == 5
        assert len(run.kept) == 2

    def test_the_digest_does_not_depend_on_the_order_of_rows(self, tmp_path: Path) -> None:
        run = drive(
            tmp_path, plan([0, 1, 2], "abc"), Scripted(a=rows(1, 2), b=rows(2, 1), c=rows(2, 2))
        )
        a, b, c = run.ended("digest")
        assert a == b
        assert a != c

    def test_an_exception_is_a_failure_by_its_class_and_the_run_goes_on(
        self, tmp_path: Path
    ) -> None:
        session = Scripted(a=fails(KeyError("no table")), b=rows(1))
        run = drive(tmp_path, plan([0, 1], "ab"), session)
        assert run.ended() == ["failed", "ok"]
        assert run.ended("error") == ["KeyError", None]
        assert run.errors == {"KeyError": "'no table'"}
        assert run.events[0]["rows"] is None
        assert run.balances()

    def test_the_first_message_of_a_class_is_kept(self, tmp_path: Path) -> None:
        messages = iter(["first", "second"])

        def failing(_: object) -> object:
            raise OSError(next(messages))

        run = drive(tmp_path, plan([0, 0], "a"), Scripted(a=failing))
        assert run.ended() == ["failed"] * 2
        assert run.errors == {"OSError": "first"}

    def test_what_is_no_arrow_stream_is_a_failure(self, tmp_path: Path) -> None:
        run = drive(tmp_path, plan([0], "a"), Scripted(a=lambda _: 5))
        assert run.ended() == ["failed"]
        assert "__arrow_c_stream__" in next(iter(run.errors.values()))

    def test_an_operation_over_its_deadline_is_interrupted_and_failed(self, tmp_path: Path) -> None:
        of = plan([0, 1], "ab", operation_deadline_ns=DEADLINE_MS * 1_000_000)
        run = drive(tmp_path, of, Scripted(a=Scripted.slow, b=rows(1)))
        assert run.ended() == ["failed", "ok"]
        assert run.ended("error") == ["deadline", None]
        assert run.events[0]["finished_ns"] - run.events[0]["started_ns"] >= DEADLINE_MS * 1_000_000
        assert run.balances()

    def test_a_cancelled_run_interrupts_what_is_running_and_issues_nothing_more(
        self, tmp_path: Path
    ) -> None:
        flag = _core.CancelFlag()
        session = Scripted(a=lambda self: (flag.cancel(), self.slow())[1], b=rows(1))
        run = drive(tmp_path, plan([0, 1], "ab"), session, cancel=flag)
        assert flag.cancelled
        assert run.ended("operation") == ["a"]
        assert run.ended("error") == ["cancelled"]
        assert run.report["ended"] == "cancelled"
        assert run.balances()

    def test_a_run_over_its_deadline_ends(self, tmp_path: Path) -> None:
        of = plan([0], "a", run_deadline_ns=RUN_DEADLINE_MS * 1_000_000)
        run = drive(tmp_path, of, Scripted(a=Scripted.slow))
        assert run.report["ended"] == "deadline"
        assert run.ended() == ["failed"]

    def test_a_flag_is_down_until_it_is_raised(self) -> None:
        flag = _core.CancelFlag()
        assert not flag.cancelled
        flag.cancel()
        assert flag.cancelled


class TestRefusals:
    def refused(self, tmp_path: Path, of: str, *sessions: object) -> str:
        with pytest.raises(_core.PlanError) as error:
            _core.drive(of, list(sessions), tmp_path, _core.CancelFlag(), lambda *_: None)
        return str(error.value)

    def test_an_unknown_key_is_named(self, tmp_path: Path) -> None:
        of = json.dumps(plan([0], sead=2))
        assert "sead" in self.refused(tmp_path, of, _core.NullSession())

    def test_an_unknown_key_of_a_phase_too(self, tmp_path: Path) -> None:
        of = plan([0])
        of["phases"][0]["pases_min"] = 2
        assert "pases_min" in self.refused(tmp_path, json.dumps(of), _core.NullSession())

    @pytest.mark.parametrize("text", ["", "{", "[]", "null"])
    def test_what_is_no_plan_is_refused(self, tmp_path: Path, text: str) -> None:
        assert "the plan cannot be read" in self.refused(tmp_path, text, _core.NullSession())

    @pytest.mark.parametrize(
        ("of", "why"),
        [
            (plan([0], phases=[]), "0 sessions|1 sessions"),
            (plan([]), "has no operation"),
            (plan([9]), "names operation 9"),
        ],
    )
    def test_a_plan_that_cannot_be_carried_out_says_why(
        self, tmp_path: Path, of: dict[str, Any], why: str
    ) -> None:
        with pytest.raises(_core.PlanError, match=why):
            drive(tmp_path, of, _core.NullSession())

    def test_as_many_sessions_as_clients(self, tmp_path: Path) -> None:
        message = self.refused(
            tmp_path, json.dumps(plan([0])), _core.NullSession(), _core.NullSession()
        )
        assert message == "2 sessions were opened for 1"

    def test_a_record_is_never_written_over(self, tmp_path: Path) -> None:
        drive(tmp_path, plan([0]), _core.NullSession())
        before = (tmp_path / "events.arrows").read_bytes()
        with pytest.raises(_core.RecordError, match=r"events\.arrows"):
            drive(tmp_path, plan([0]), _core.NullSession())
        assert (tmp_path / "events.arrows").read_bytes() == before

    def test_a_place_that_cannot_be_written_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        with pytest.raises(_core.RecordError, match=str(tmp_path / "file")):
            drive(tmp_path / "file", plan([0]), _core.NullSession())

    def test_a_negative_delay_is_refused(self) -> None:
        with pytest.raises(ValueError, match="negative"):
            _core.NullSession(delay_ns=-1)

    def test_their_errors_are_kinds_of_pythons_own(self) -> None:
        assert issubclass(_core.PlanError, ValueError)
        assert issubclass(_core.RecordError, OSError)
        assert issubclass(_core.SessionOpenError, OSError)
        assert issubclass(_core.DefectError, RuntimeError)


def test_the_hand_written_types_are_those_of_the_module() -> None:
    """Oracle: mypy's stubtest compares `_core.pyi` with the module at run time."""
    command = [sys.executable, "-m", "mypy.stubtest", "assay._core"]
    root = Path(__file__).parents[2]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


class TestSparqlText:
    TEXT = "select ?x { <http://a/${1}> ?p ?x . filter (?x > ${2} && ?x != '${3}' && ?x < ${4}) }"

    def test_values_are_written_as_what_stands_around_them_wants(self) -> None:
        born = datetime.datetime(2008, 6, 20, 12, 30, 0, 500_000)  # noqa: DTZ001 - of no time zone
        text = _core.sparql_text(self.TEXT, ["b", Decimal("1.50"), "it's", born])
        assert "<http://a/b>" in text
        assert "?x > 1.50 " in text
        assert "'it\\'s'" in text
        day = '"2008-06-20T12:30:00.5"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
        assert text.endswith(f"?x < {day}) }}")
        assert _core.sparql_text("${1} ${2}", [-7, None]) == "-7 UNDEF"

    @pytest.mark.parametrize(
        ("values", "message"),
        [(["a b", 1, "", 2], "value 1 cannot be written"), (["a", 1], "value 3 cannot")],
    )
    def test_what_cannot_be_written_is_refused(self, values: list[object], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            _core.sparql_text(self.TEXT, values)
