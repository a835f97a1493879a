"""What people and programs see of closed and open loads."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vl_convert
from rich.console import Console

from assay import _core
from assay.record.reader import Run
from assay.report.charts.run import Charts
from assay.report.document import document
from assay.report.exports import export
from assay.report.page.operation_columns import LOAD_COLUMNS
from assay.report.page.record import read_load, read_timeline
from assay.report.page.run import page
from assay.report.terminal.lists.runs import run_line
from assay.report.terminal.load import sparkline
from assay.report.terminal.summary import render
from tests.loads import OPERATIONS, SKIPPED, an_operation, closed, open_load, played_run, write_load
from tests.records import MS, S, write_run
from tests.unit.test_report_document import document_of
from tests.unit.test_report_html import SIZE_MAX_BYTES, charts_of
from tests.unit.test_report_terminal import assert_golden, rendered

RUN = "20261120T101500Z-point-select-postgresql-abc123"
SECONDS = 12.0


def held(runs: Path) -> Path:
    """An open load that was held: latencies from a seeded draw, some retries, one second slower."""
    rng = random.Random(1)
    rows = []
    for number in range(12_000):
        service = int(rng.lognormvariate(12.3, 0.4)) * (3 if 5_000 < number <= 6_000 else 1)
        again = {"retries": 1} if number % 1_000 == 0 else {}
        rows.append(an_operation(number, number * MS, 0, service, **again))
    return write_load(runs, open_load(1_000, 8), rows, SECONDS, engine_cores=0.6, driver_cores=0.1)


def lost(runs: Path) -> Path:
    """An open load of which four fifths were done."""
    rows = []
    for number in range(12_000):
        waited = number * MS // 4
        never = number * MS + waited >= SECONDS * S
        rows.append(an_operation(number, number * MS, waited, 2 * MS, **(SKIPPED if never else {})))
    return write_load(runs, open_load(1_000, 2), rows, SECONDS, engine_cores=1.7, driver_cores=0.15)


def failing(runs: Path, limit_ns: int = 0) -> Path:
    """A closed load in which one operation of a hundred fails."""
    failed = {"outcome": "failed", "error": "40001", "rows": None, "digest": None}
    rows = [
        an_operation(n, n * MS, 0, MS // 2, **(failed if n % 100 == 3 else {}))
        for n in range(12_000)
    ]
    return write_load(runs, closed(8), rows, SECONDS, limit_ns=limit_ns)


def shown(directory: Path) -> str:
    return rendered(document_of(directory) | {"path": f"runs/{RUN}"}, all_operations=True)


class TestDocument:
    def test_a_load_has_its_figures_and_no_totals(self, tmp_path: Path) -> None:
        made = document_of(held(tmp_path))
        metrics, conditions = made["metrics"], made["conditions"]
        assert (conditions["arrival"], conditions["clients"]) == ("open", 8)
        assert (conditions["rate_per_s"], conditions["time_s"]) == (1_000, SECONDS)
        assert metrics["throughput_per_s"] == pytest.approx(1_000, rel=1e-3)
        assert metrics["total_seconds"] is None
        assert metrics["passes"] is None
        assert metrics["retries"] == 12
        assert metrics["waiting_end"] == 0
        assert metrics["engine_cpu_seconds_per_operation"] == pytest.approx(0.0006, rel=0.05)
        assert len(made["pace"]["throughput_per_s"]) == len(made["pace"]["waiting"])
        counts = [op["latency"]["count"] for op in made["operations"]]
        assert sum(counts) == metrics["operations"] == 12_000

    def test_the_power_order_has_none_of_them(self, tmp_path: Path) -> None:
        made = document_of(write_run(tmp_path))
        assert made["pace"] is None
        assert made["metrics"]["throughput_per_s"] is None
        assert {op["latency"] for op in made["operations"]} == {None}
        assert made["conditions"]["clients"] is None

    def test_a_closed_load_has_no_rate_and_no_backlog(self, tmp_path: Path) -> None:
        made = document_of(played_run(tmp_path, closed(2), 0.2, _core.NullSession(100_000)))
        assert made["conditions"]["rate_per_s"] is None
        assert made["pace"]["waiting"] is None
        assert made["metrics"]["waiting_end"] is None
        assert made["metrics"]["latency_seconds_p50"] >= 0.0001


class TestTerminal:
    def test_a_rate_that_was_held(self, tmp_path: Path) -> None:
        assert_golden("terminal-open.txt", shown(held(tmp_path)))

    def test_a_rate_that_was_not(self, tmp_path: Path) -> None:
        assert_golden("terminal-rate-lost.txt", shown(lost(tmp_path)))

    def test_what_is_known_of_all_operations_together_is_told_together(
        self, tmp_path: Path
    ) -> None:
        made = document_of(held(tmp_path))
        shares = dict.fromkeys(made["operations"][0]["where"]) | {"cpu_user": 0.9, "lock": 0.1}
        made["where"] = {"shares": shares, "coverage": 1.0, "uncovered": [], "overcounted": []}
        assert "together  cpu  90 %  lock  10 %" in rendered(made)

    def test_a_closed_load_with_failures(self, tmp_path: Path) -> None:
        assert_golden("terminal-closed-failing.txt", shown(failing(tmp_path)))

    def test_failures_are_seen_in_percentiles_at_their_time_out(self, tmp_path: Path) -> None:
        text = " ".join(shown(failing(tmp_path, limit_ns=5 * S)).split())
        assert "with those at their time-out p50 500 µs" in text
        assert "p99.9 5.00 s" in text
        assert "time-out" not in shown(failing(tmp_path / "without"))

    @pytest.mark.parametrize("width", [60, 80, 100])
    def test_no_line_is_wider_than_the_terminal(self, tmp_path: Path, width: int) -> None:
        out = io.StringIO()
        made = document(Run(lost(tmp_path)), tmp_path)
        render(made, all_operations=True, console=Console(file=out, width=width))
        lines = [line for line in out.getvalue().splitlines() if not line.startswith("Record")]
        assert max(len(line) for line in lines) <= width

    def test_it_is_listed_by_its_throughput(self, tmp_path: Path) -> None:
        assert "1,000/s" in run_line(document_of(held(tmp_path)))

    @pytest.mark.parametrize(
        ("values", "width", "full", "drawn"),
        [
            ([], 9, 0.0, ""),
            ([0.0, 0.0], 9, 0.0, "▁▁"),
            ([0.0, 7.0], 9, 0.0, "▁█"),
            ([1.0], 9, 70.0, "▁"),
            ([1.0, 9.0, 1.0, 1.0], 2, 0.0, "█▂"),
        ],
    )
    def test_sparklines(self, values: list[float], width: int, full: float, drawn: str) -> None:
        assert sparkline(values, width, full) == drawn


class TestCharts:
    def charts(self, directory: Path) -> Charts:
        run = Run(directory)
        return Charts(document(run, directory), read_timeline(run), read_load(run))

    @pytest.mark.parametrize("make", [held, lost, failing])
    def test_each_draws(self, tmp_path: Path, make: Any) -> None:
        charts = self.charts(make(tmp_path))
        for name in charts.names:
            svg = vl_convert.vegalite_to_svg(charts[name].to_dict())
            assert svg.count("<path") > 5, name

    def test_which_there_are_follows_from_the_load(self, tmp_path: Path) -> None:
        names = ("throughput", "latency", "heat", "percentiles")
        assert self.charts(held(tmp_path / "a")).names == (*names, "backlog", "timeline", "storage")
        assert self.charts(failing(tmp_path / "b")).names == (*names, "timeline", "storage")
        assert self.charts(write_run(tmp_path / "c")).names == (*Charts.POWER_NAMES, "storage")

    def test_those_of_another_load_say_so(self, tmp_path: Path) -> None:
        assert "no passes" in str(self.charts(held(tmp_path / "a"))["passes"].to_dict())
        assert "This load has no such chart" in str(
            self.charts(write_run(tmp_path / "b"))["heat"].to_dict()
        )

    def test_the_bars_are_the_operations(self, tmp_path: Path) -> None:
        spec = self.charts(failing(tmp_path))["throughput"].to_dict()
        rows = next(rows for rows in spec["datasets"].values() if "outcome" in rows[0])
        drawn = pl.DataFrame(rows).with_columns(
            ((pl.col("high") - pl.col("low")) * (pl.col("end_s") - pl.col("begin_s"))).alias("n")
        )
        counted = dict(drawn.group_by("outcome").agg(pl.col("n").sum()).rows())
        assert counted == pytest.approx({"succeeded": 11_880, "failed": 120})

    def test_the_cells_of_the_heat_map_are_the_operations(self, tmp_path: Path) -> None:
        spec = self.charts(held(tmp_path))["heat"].to_dict()
        (rows,) = spec["datasets"].values()
        assert sum(row["operations"] for row in rows) == 12_000


class TestPage:
    def text(self, directory: Path) -> str:
        run = Run(directory)
        return page(run, document(run, directory))

    def test_an_open_load_has_its_charts_within_the_size(self, tmp_path: Path) -> None:
        text = self.text(lost(tmp_path))
        of_load = {"throughput", "latency", "heat", "percentiles", "backlog", "timeline"}
        assert set(charts_of(text)) == {*of_load, "storage"}
        assert len(text.encode()) < SIZE_MAX_BYTES

    def test_the_table_has_the_percentiles_of_each_operation(self, tmp_path: Path) -> None:
        text = self.text(held(tmp_path))
        for column in LOAD_COLUMNS:
            assert f">{column.heading}</button>" in text
        for name in OPERATIONS:
            assert f">{name}</td>" in text

    def test_failures_are_seen_in_percentiles_at_their_time_out(self, tmp_path: Path) -> None:
        words = "With failed operations at their time-out: p50"
        assert words in self.text(failing(tmp_path, limit_ns=5 * S))
        assert words not in self.text(failing(tmp_path / "without"))

    def test_it_says_how_latency_was_counted(self, tmp_path: Path) -> None:
        assert "1,000/s became due by the clock" in self.text(held(tmp_path / "a"))
        assert "A closed load: 8 clients" in self.text(failing(tmp_path / "b"))

    def test_a_load_of_which_nothing_ended_says_why_nothing_is_drawn(self, tmp_path: Path) -> None:
        rows = [an_operation(n, n * MS, 0, 0, **SKIPPED) for n in range(3)]
        text = self.text(write_load(tmp_path, open_load(1_000, 1), rows, 0.003))
        assert charts_of(text) == {}
        assert "No operation of the measured part ended." in text


class TestExports:
    def test_the_seconds_of_a_load_are_a_table(self, tmp_path: Path) -> None:
        files = {p.stem: p for p in export(Run(held(tmp_path)), "parquet", tmp_path / "out")}
        seconds = pl.read_parquet(files["seconds"])
        assert seconds.height == SECONDS
        assert (seconds["ok_per_s"] * seconds["width_s"]).sum() == pytest.approx(12_000)
        operations = pl.read_parquet(files["operations"])
        assert operations["latency_seconds_p99"].null_count() == 0

    def test_the_power_order_has_no_such_table(self, tmp_path: Path) -> None:
        run = Run(write_run(tmp_path))
        assert "seconds" not in {path.stem for path in export(run, "csv", tmp_path / "out")}


def test_a_document_that_was_kept_before_loads_is_listed(tmp_path: Path) -> None:
    kept = {key: value for key, value in document_of(write_run(tmp_path)).items() if key != "pace"}
    assert "700 ms" in run_line(kept)


def test_a_record_from_before_loads_is_told(tmp_path: Path) -> None:
    """Requests had no clients, rate or time; phases of a plan may lack their defaults."""
    directory = write_run(tmp_path)
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    assert "clients" not in facts["request"]
    assert document_of(directory)["verdict"] == "valid"
