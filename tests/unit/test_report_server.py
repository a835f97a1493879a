"""What people and programs see of a server's own counters and of who used its CPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vl_convert

from assay.model.units import amount_rate_text, amount_text, near_whole_text
from assay.record.reader import Run
from assay.record.writer import write_json
from assay.report.charts.counters import POINTS_MAX, thinned
from assay.report.charts.run import Charts
from assay.report.document import document
from assay.report.exports import export
from assay.report.terminal.load import engine_lines
from assay.report.words.engine_tables import (
    SESSIONS_EACH_MAX,
    TITLES_MAX,
    CpuRow,
    brief_name,
    counter_rows,
    cpu_rows,
    operation_rows,
)
from tests.loads import an_operation, closed, write_load
from tests.records import MS, OPERATIONS, truncate_run, write_run
from tests.servers import CORES, MIB, SPILLING, as_server
from tests.unit.test_report_document import document_of
from tests.unit.test_report_html import charts_of, page_of
from tests.unit.test_report_terminal import RUN, assert_golden, rendered


def power(runs: Path, **more: Any) -> Path:
    return as_server(write_run(runs), **more)


def load(runs: Path, sessions: int = 4) -> Path:
    rows = [an_operation(number, number * MS, 0, MS // 2) for number in range(4_000)]
    return as_server(write_load(runs, closed(sessions), rows, 4.0), sessions=sessions)


def rows_of(directory: Path) -> dict[str, CpuRow]:
    return {row.title: row for row in cpu_rows(document_of(directory)["sessions"])}


class TestDocument:
    def test_it_tells_counters_and_sessions(self, tmp_path: Path) -> None:
        made = document_of(power(tmp_path))
        assert made["engine_counters"]["shares"][0]["share"] == pytest.approx(0.999)
        used = made["sessions"]
        assert used["shares"]["sessions"] == pytest.approx(0.75 / sum(CORES.values()))
        assert used["sessions"][0]["workers"] == 1

    def test_an_operation_that_spilled_is_found_with_the_engines_advice(
        self, tmp_path: Path
    ) -> None:
        (spill,) = [f for f in document_of(power(tmp_path))["findings"] if f["method"] == "spill"]
        assert spill["claim"].startswith(f"{SPILLING} spilled 40 MiB to temporary files")
        assert spill["to_try"] == "more memory"

    def test_a_load_says_nothing_of_its_operations(self, tmp_path: Path) -> None:
        made = document_of(load(tmp_path))
        assert all(not f["operations"] for f in made["engine_counters"]["counters"])
        assert all(f["method"] != "spill" for f in made["findings"])

    def test_an_embedded_engine_has_neither(self, tmp_path: Path) -> None:
        made = document_of(write_run(tmp_path))
        assert (made["engine_counters"], made["sessions"]) == (None, None)

    @pytest.mark.parametrize("declared", [["x"], {"counters": [{"name": "a"}]}])
    def test_a_declaration_that_cannot_be_read_is_told_and_does_no_harm(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture, declared: Any
    ) -> None:
        made = document_of(power(tmp_path, declared=declared))
        assert made["engine_counters"] is None
        assert made["sessions"] is not None
        assert "a declaration of counters cannot be read" in caplog.text

    def test_a_killed_run_tells_what_it_has(self, tmp_path: Path) -> None:
        cut = truncate_run(power(tmp_path), streams=("events", "engine", "processes"))
        assert document_of(cut)["status"] == "running"

    def test_processes_of_an_older_record_are_not_split(self, tmp_path: Path) -> None:
        directory = power(tmp_path)
        path = directory / "raw" / "processes.arrows"
        older = pl.read_ipc_stream(path).drop("children_user_ns", "children_system_ns", "title")
        older.write_ipc_stream(path)
        assert document_of(directory)["sessions"] is None
        assert "no two samples enclose the measured part, or the record is older." in page_of(
            directory
        )


class TestTables:
    def test_totals_and_rates_have_their_unit_once(self, tmp_path: Path) -> None:
        rows = {
            row["title"]: row
            for row in counter_rows(document_of(power(tmp_path))["engine_counters"])
        }
        assert rows["Blocks found"]["per_s"] == "9.99 k/s"
        assert rows["Blocks found"]["unit"] == "blocks"
        assert rows["Written to temporary files"]["per_s"] == "3 MiB/s"
        assert rows["Written to temporary files"]["unit"] == ""
        assert rows["Connections"] == {
            "name": "connections",
            "title": "Connections",
            "unit": "connections",
            "total": "7 at the end",
            "per_s": "",
        }

    def test_operations_have_the_counters_that_moved(self, tmp_path: Path) -> None:
        made = document_of(power(tmp_path))
        rows = operation_rows(made["engine_counters"], made["operations"])
        assert [name for name, _ in rows] == list(OPERATIONS)
        assert [cell.text for cell in rows[0][1]] == ["100", "40 MiB"]
        assert [cell.text for cell in rows[1][1]] == ["100", "0 B"]

    def test_a_few_sessions_are_told_one_by_one(self, tmp_path: Path) -> None:
        rows = rows_of(load(tmp_path, sessions=4))
        assert rows["4 sessions of the load generator"].processes == "8"
        assert rows["session 3"].share == rows["session 0"].share
        assert rows["of it in parallel workers"].processes == "4"
        assert rows["other clients"].processes == "1"

    def test_many_are_told_by_what_lies_between_them(self, tmp_path: Path) -> None:
        rows = rows_of(load(tmp_path, sessions=SESSIONS_EACH_MAX + 1))
        assert "session 0" not in rows
        assert rows["median"].cpu == rows["most of each"].cpu == rows["least of each"].cpu

    def test_processes_beyond_those_that_are_shown_are_summed(self, tmp_path: Path) -> None:
        used = document_of(power(tmp_path))["sessions"]
        entry = used["background"][0]
        used["background"] = [entry | {"title": str(n), "read_bytes": None} for n in range(10)]
        rows = {row.title: row for row in cpu_rows(used)}
        assert rows[f"{10 - TITLES_MAX} more kinds of process"].processes == "2"
        assert rows["the server's own processes"].read == "not measured"

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("wal_bytes", "wal"),
            ("buffer_hit_share", "buffer hit"),
            ("commits", "commits"),
            ("block_read_seconds", "block read"),
        ],
    )
    def test_names_are_words(self, name: str, message: str) -> None:
        assert brief_name(name) == message


class TestUnits:
    @pytest.mark.parametrize(
        ("share", "text"),
        [
            (None, "not measured"),
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.5, "50.0 %"),
            (0.9914, "99.1 %"),
            (0.9997, "99.97 %"),
            (1e-5, "under 0.01 %"),
            (1 - 1e-9, "over 99.99 %"),
        ],
    )
    def test_shares_near_the_whole(self, share: float | None, text: str) -> None:
        assert near_whole_text(share) == text

    @pytest.mark.parametrize(
        ("amount", "unit", "text"),
        [
            (None, "rows", "not measured"),
            (3.0 * MIB, "bytes", "3 MiB/s"),
            (0.0196, "s", "19.6 ms/s"),
            (264_213.0, "blocks", "264 k/s"),
            (1.359, "pages", "1.36/s"),
        ],
    )
    def test_rates(self, amount: float | None, unit: str, text: str) -> None:
        assert amount_rate_text(amount, unit) == text
        assert amount_text(amount, unit) == text.removesuffix("/s")


class TestTerminal:
    def test_a_server_in_the_power_order(self, tmp_path: Path) -> None:
        made = document_of(power(tmp_path)) | {"path": f"runs/{RUN}"}
        assert_golden("terminal-server.txt", rendered(made))

    def test_a_load_has_its_line_below_the_pace(self, tmp_path: Path) -> None:
        lines = rendered(document_of(load(tmp_path))).splitlines()
        place = next(n for n, line in enumerate(lines) if line.startswith("  engine  "))
        assert "1,000/s to 1,000/s" in lines[place - 1]
        assert "buffer hit 99.9 %" in lines[place]

    @pytest.mark.parametrize("width", [40, 60, 80, 100])
    def test_it_is_one_line_of_whole_words(self, tmp_path: Path, width: int) -> None:
        made = document_of(load(tmp_path))
        (line,) = engine_lines(made, width)
        assert len(line) <= width
        assert line in engine_lines(made, 200)[0]

    def test_an_engine_of_which_nothing_moved_has_none(self, tmp_path: Path) -> None:
        made = document_of(power(tmp_path))
        counted = made["engine_counters"]
        counted["shares"][0]["share"] = None
        counted["counters"] = [figure | {"total": 0.0} for figure in counted["counters"]]
        assert engine_lines(made, 80) == []


class TestCharts:
    def test_it_draws_what_moved(self, tmp_path: Path) -> None:
        charts = Charts(document_of(load(tmp_path)), None)
        assert "counters" in charts.names
        titles = [panel["title"]["text"] for panel in charts["counters"].to_dict()["vconcat"]]
        assert titles == [
            "Blocks found, blocks a second",
            "Blocks read, blocks a second",
            "Time in reading <blocks>, ms a second",
            "Written to temporary files, MiB a second",
            "Connections, connections",
        ]
        svg = vl_convert.vegalite_to_svg(charts["counters"].to_dict())
        assert svg.count("<path") > len(titles)

    def test_without_counters_it_says_so(self, tmp_path: Path) -> None:
        charts = Charts(document_of(write_run(tmp_path)), None)
        assert "counters" not in charts.names
        assert "no counters of the engine" in str(charts["counters"].to_dict())
        assert charts.data("counters") == {}

    def test_many_readings_are_thinned_to_their_means(self) -> None:
        times = [float(n) for n in range(2 * POINTS_MAX + 1)]
        rates: list[float | None] = [None, *([1.0, 3.0] * POINTS_MAX)]
        kept, values = thinned(times, rates, is_rate=True)
        assert (kept[0], kept[-1], len(kept)) == (0.0, times[-1], POINTS_MAX + 1)
        assert values == [None, *([2.0] * POINTS_MAX)]
        rates[1] = None
        assert thinned(times, rates, is_rate=True)[1][:3] == [None, None, 2.0]
        assert thinned(times, rates, is_rate=False)[1][:3] == [None, 3.0, 3.0]


class TestPage:
    def test_it_has_both_sections_and_escapes_titles(self, tmp_path: Path) -> None:
        text = page_of(power(tmp_path))
        assert "counters" in charts_of(text)
        assert "Time in reading &lt;blocks&gt;" in text
        assert "&lt;b&gt;writer&lt;/b&gt;" in text
        assert "99.9 %" in text
        assert "not observed: processes too short for a sample" in text

    def test_an_embedded_engine_says_why_there_is_nothing(self, tmp_path: Path) -> None:
        text = page_of(write_run(tmp_path))
        assert "engine counters: not measured, the engine offers none." in text
        assert "DuckDB is no server" in text

    @pytest.mark.parametrize(("error", "why"), [(None, "no stream engine"), ("no!", "failed: no!")])
    def test_a_server_that_was_not_read_says_why(
        self, tmp_path: Path, error: str | None, why: str
    ) -> None:
        directory = power(tmp_path)
        (directory / "raw" / "engine.arrows").unlink()
        facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
        facts["probes"]["engine"] = facts["probes"]["disks"] | {"error": error}
        write_json(directory / "run.json", facts)
        assert why in page_of(directory)


class TestExports:
    def test_counters_and_cpu_are_tables(self, tmp_path: Path) -> None:
        run = Run(power(tmp_path))
        files = {p.stem: p for p in export(run, "parquet", tmp_path / "out")}
        counters = pl.read_parquet(files["counters"])
        assert counters["name"].to_list()[3] == "temporary_bytes"
        by_operation = pl.read_parquet(files["counters-by-operation"])
        spilled = by_operation.filter(name="temporary_bytes", operation=SPILLING)
        assert spilled["growth"].to_list() == [40.0 * MIB]
        assert set(pl.read_parquet(files["counters-over-time"])["unit"]) >= {"blocks/s", "bytes/s"}
        used = pl.read_parquet(files["server-cpu"])
        assert used["cpu_s"].sum() == pytest.approx(document(run, run.dir)["sessions"]["cpu_s"])
        assert set(used["owner"]) == {"sessions", "background", "other_clients", "unseen"}

    def test_an_embedded_engine_has_none_of_them(self, tmp_path: Path) -> None:
        names = {path.stem for path in export(Run(write_run(tmp_path)), "csv", tmp_path / "out")}
        assert not names & {"counters", "counters-over-time", "server-cpu"}
