"""Timelines, charts, exports and the notebook, from records whose rates are known."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import vl_convert

import assay
from assay.analysis.host import timeline as timeline_module
from assay.analysis.host.timeline import rate_per_s, thinned, timeline, under_way
from assay.model.errors import UsageError
from assay.record.reader import Run
from assay.report.charts.run import Charts
from assay.report.document import document
from assay.report.exports import export
from tests.records import CPUS, ENGINE_AND_DRIVER, OPERATIONS, PASSES, RSS_BYTES, write_run
from tests.specified import write_test

S = 1_000_000_000


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(write_run(tmp_path / "runs"))


class TestRates:
    def frame(self, values: list[int | None]) -> list[float | None]:
        times = [place * S // 2 for place in range(len(values))]
        rows = pl.DataFrame(
            {"time_ns": times, "bytes": values}, schema_overrides={"bytes": pl.UInt64}
        )
        return rows.select(rate_per_s("bytes"))["bytes"].to_list()

    def test_growth_over_time(self) -> None:
        assert self.frame([0, 100, 100, 250]) == [None, 200.0, 0.0, 300.0]

    def test_a_reset_is_no_rate(self) -> None:
        assert self.frame([500, 100, 150]) == [None, None, 100.0]

    def test_an_absent_counter_is_no_rate(self) -> None:
        assert self.frame([0, None, 100, 200]) == [None, None, None, 200.0]

    def test_no_time_is_no_rate(self) -> None:
        rows = pl.DataFrame({"time_ns": [1, 1], "bytes": [1, 2]})
        assert rows.select(rate_per_s("bytes"))["bytes"].to_list() == [None, None]

    def test_series_do_not_mix(self) -> None:
        rows = pl.DataFrame(
            {"time_ns": [0, 0, S, S], "bytes": [0, 900, 10, 910], "d": [1, 2, 1, 2]}
        )
        assert rows.select(rate_per_s("bytes", "d"))["bytes"].to_list() == [None, None, 10.0, 10.0]


class TestTimeline:
    def test_accounts_use_what_the_record_was_made_with(self, run: Run) -> None:
        cores = timeline(run).cpu.group_by("account").agg(pl.col("cores").median())
        expected_cores = {
            account: pytest.approx(value, abs=1e-3) for account, value in cores.rows()
        }
        background = CPUS * (0.5 + 0.02) - 1.01
        assert expected_cores == {
            ENGINE_AND_DRIVER: 1.0,
            "probes": 0.01,
            "background": background,
            "steal": 0.0,
        }

    def test_memory_is_the_engines(self, run: Run) -> None:
        assert timeline(run).memory["resident_bytes"].unique().to_list() == [RSS_BYTES]

    def test_disk_rates(self, run: Run) -> None:
        disk = timeline(run).disk
        assert disk.filter(direction="read")["bytes_per_s"].median() == pytest.approx(1e7)
        assert disk.filter(direction="write")["bytes_per_s"].max() == 0

    def test_pressure_that_was_not_recorded_is_not_there(self, run: Run) -> None:
        pressure = timeline(run).pressure
        assert set(pressure["pressure"]) == {"cpu_some", "io_some", "memory_some"}
        assert pressure.filter(pressure="cpu_some")["share"].median() == pytest.approx(0.05)

    def test_warm_up_is_before_zero(self, run: Run) -> None:
        bands = timeline(run).bands
        assert bands.height == len(OPERATIONS) * (PASSES + 1)
        assert bands.filter(phase="warmup")["end_s"].max() < 0
        assert bands.filter(phase="measured")["begin_s"].min() == 0

    def test_passes_lie_around_their_median(self, run: Run) -> None:
        passes = timeline(run).passes.filter(operation="q01")
        assert passes["from_median_share"].to_list() == pytest.approx([-0.05, 0.1, 0.0])

    def test_thinning_keeps_the_mean(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = timeline(run)
        monkeypatch.setattr(timeline_module, "TICKS_MAX", 6)
        few = timeline(run)
        assert few.ticks <= 6 < whole.ticks == whole.samples == few.samples
        read = few.disk.filter(direction="read")["bytes_per_s"]
        assert read.mean() == pytest.approx(1e7)

    @pytest.mark.parametrize(("count", "limit"), [(0, 3), (1, 3), (3, 3), (4, 3), (1000, 7)])
    def test_thinned_is_within_its_limit(self, count: int, limit: int) -> None:
        times = pl.Series(range(count), dtype=pl.Int64)
        assert len(thinned(times, limit)) <= limit
        assert thinned(times, limit).head(1).to_list() == times.head(1).to_list()

    def test_a_run_without_probes_has_operations_only(self, tmp_path: Path) -> None:
        bare_timeline = timeline(Run(write_run(tmp_path, probes=False)))
        assert bare_timeline.cpu.is_empty()
        assert bare_timeline.disk.is_empty()
        assert bare_timeline.bands.height

    def test_what_several_streams_played_is_one_band(self, tmp_path: Path) -> None:
        bands = timeline(Run(write_test(tmp_path))).bands
        of_streams = bands.filter(pl.col("phase").str.starts_with("throughput"))
        assert of_streams["operation"].to_list() == ["throughput-1", "throughput-2"]
        of_power = bands.filter(pl.col("phase") == "power-1")
        assert of_power["operation"].to_list()[:2] == ["rf1", "q14"]

    def test_operations_under_way(self) -> None:
        bands = pl.DataFrame(
            {"begin_s": [0.0, 1.0, 2.5], "end_s": [0.9, 2.0, 3.0], "operation": ["a", "b", "c"]}
        )
        times = pl.Series([0.5, 1.5, 2.2, 2.6])
        assert under_way(bands, times) == [["a"], ["a", "b"], ["b"], ["c"]]


def drawn_pieces(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The pieces of the bars of the chart of where the time went."""
    return next(rows for rows in spec["datasets"].values() if "part" in rows[0])


class TestCharts:
    @pytest.mark.parametrize("name", Charts.POWER_NAMES)
    def test_each_draws(self, run: Run, name: str) -> None:
        chart = Charts(document(run, run.dir), timeline(run))[name]
        assert "<svg" in vl_convert.vegalite_to_svg(chart.to_dict())

    def test_the_bars_of_an_operation_add_up_to_its_time(self, run: Run) -> None:
        spec = Charts(document(run, run.dir), timeline(run)).operations.to_dict()
        pieces = pl.DataFrame(drawn_pieces(spec))
        seconds = (pl.col("end") - pl.col("begin")) * pl.col("seconds")
        drawn = pieces.group_by("operation").agg(seconds.sum())
        assert dict(drawn.rows()) == pytest.approx(OPERATIONS)

    def test_a_time_that_was_not_split_is_one_bar(self, run: Run) -> None:
        made = document(run, run.dir)
        for operation in made["operations"]:
            operation["where"] = dict.fromkeys(operation["where"])
        spec = Charts(made, None).operations.to_dict()
        assert {row["part"] for row in drawn_pieces(spec)} == {"not split"}

    def test_an_empty_chart_says_why(self, run: Run) -> None:
        made = document(run, run.dir) | {"operations": []}
        spec = Charts(made, None).timeline.to_dict()
        assert "No operation was measured" in json.dumps(spec)

    def test_an_unknown_name(self, run: Run) -> None:
        with pytest.raises(UsageError, match="operations, timeline, passes"):
            Charts(document(run, run.dir), None)["flames"]


class TestExports:
    def test_csv_reads_back_with_duckdb(self, run: Run, tmp_path: Path) -> None:
        files = {path.stem: path for path in export(run, "csv", tmp_path / "out")}
        assert {"operations", "events", "tasks", "cpus", "probe-disks"} <= set(files)
        with duckdb.connect() as connection:
            question = "select sum(seconds), count(*) from read_csv(?)"
            row = connection.execute(question, [str(files["operations"])]).fetchone()
            assert row == (pytest.approx(sum(OPERATIONS.values())), len(OPERATIONS))
            events = connection.execute(
                "select count(*) from read_csv(?)", [str(files["events"])]
            ).fetchone()
        assert events == (run.table("events").height,)

    def test_parquet_reads_back_with_polars(self, run: Run, tmp_path: Path) -> None:
        files = {path.stem: path for path in export(run, "parquet", tmp_path / "out")}
        operations = pl.read_parquet(files["operations"])
        assert dict(operations.select("name", "seconds").rows()) == pytest.approx(OPERATIONS)
        assert operations["cpu_user_share"].to_list() == pytest.approx([0.8] * len(OPERATIONS))
        events = pl.read_parquet(files["events"])
        assert events["finished_ns"].equals(run.table("events")["finished_ns"])

    def test_json_is_the_document(self, run: Run, tmp_path: Path) -> None:
        (path,) = export(run, "json", tmp_path / "out")
        assert json.loads(path.read_text(encoding="utf-8"))["run"] == run.id
        (named,) = export(run, "json", tmp_path / "told.json")
        assert named == tmp_path / "told.json"

    def test_an_unknown_format_is_named_with_the_nearest(self, run: Run, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="did you mean 'parquet'"):
            export(run, "parket", tmp_path)

    def test_a_damaged_stream_is_left_out(
        self, run: Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (run.dir / "raw" / "cpus.arrows").write_bytes(b"")
        names = {path.stem for path in export(run, "csv", tmp_path / "out")}
        assert "cpus" not in names
        assert "events" in names
        assert "the figures of run " in caplog.text


class TestNotebook:
    def test_loads_by_name_and_draws(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ASSAY_RUNS", str(run.dir.parent))
        loaded = assay.load("latest")
        assert loaded.run.id == run.id
        assert loaded.document["verdict"] == "valid"
        assert loaded.table("events").height
        assert loaded.charts.operations.to_dict()["layer"]

    def test_runs_can_be_elsewhere(self, run: Run, tmp_path: Path) -> None:
        shutil.copytree(run.dir.parent, tmp_path / "elsewhere")
        assert assay.load(run.id, tmp_path / "elsewhere").run.dir.parent.name == "elsewhere"
