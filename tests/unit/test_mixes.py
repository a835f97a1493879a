"""Mixes that go on until they are steady: how that is asked for, marked, recorded and told."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

from assay.analysis.findings.shape import steady
from assay.analysis.load.mixes import mixes_of
from assay.model.errors import UsageError
from assay.record.reader import Run
from assay.report.charts.run import Charts
from assay.report.document import document
from assay.report.page.record import read_load, read_timeline
from assay.report.page.run import page
from assay.report.terminal.summary import render
from assay.running.asked.driver_plan import Mix, driver_plan, steps
from assay.running.asked.options import RunOptions
from assay.running.asked.request import RunRequest
from assay.running.asked.understanding import request_of
from assay.running.mixes import ELSEWHERE, NOT_ASKED, Mixes
from assay.running.processes.control import METERED_HOST
from tests.mixes import drifting_run, marks, steady_run, write_mixes
from tests.records import BEGUN_NS

MANIFEST = """
title = "Two in order"
arrival = "closed"
order = ["one", "two"]
[sequence]
warmup = 5
mixes = 50
rate = "QMpH"
[operations.one]
[operations.two]
"""


@pytest.fixture
def workload(tmp_path: Path) -> str:
    folder = tmp_path / "two"
    (folder / "operations").mkdir(parents=True)
    (folder / "workload.toml").write_text(MANIFEST)
    for name in ("one", "two"):
        (folder / "operations" / f"{name}.sql").write_text("values (1)\n")
    return str(folder)


def read_stream(path: Path) -> list[dict[str, Any]]:
    return pa.ipc.open_stream(path).read_all().to_pylist()


def asked(workload: str, **options: Any) -> RunRequest:
    return request_of(RunOptions(workload=workload, engine="null", **options), list(options))


class TestAsked:
    @pytest.mark.parametrize(
        ("language", "engine"), [(None, "oxigraph"), ("sparql", "oxigraph"), ("sql", "duckdb")]
    )
    def test_without_an_engine_the_language_names_one(
        self, language: str | None, engine: str
    ) -> None:
        assert request_of(RunOptions(workload="bsbm", language=language), []).engine == engine

    def test_a_language_that_nothing_is_written_in_is_refused(self) -> None:
        with pytest.raises(UsageError, match="--language cypher: one of sql, sparql"):
            request_of(RunOptions(workload="bsbm", language="cypher"), [])

    def test_it_goes_on_to_ten_times_as_many_mixes_at_most(self, workload: str) -> None:
        request = asked(workload, until_steady=True)
        assert (request.warmup_mixes, request.mixes, request.mixes_max) == (5, 50, 500)
        assert asked(workload, until_steady=True, mixes=70, mixes_max=90).mixes_max == 90
        assert asked(workload, until_steady=True, clients=16).mixes_max == 1_600
        assert asked(workload).mixes_max is None

    def test_the_plan_has_the_least_and_the_most(self, workload: str) -> None:
        request = asked(workload, until_steady=True)
        plan = driver_plan(request, ["one", "two"], {}, mix=Mix(in_order=True))
        warmup, measured = plan["phases"]
        assert (warmup["passes_min"], warmup.get("passes_max")) == (5, None)
        assert (measured["passes_min"], measured["passes_max"]) == (50, 500)
        assert steps(plan) == {"warmup": (0, 10), "measured": (10, None)}

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"mixes_max": 100}, "add --until-steady"),
            ({"until_steady": True, "time": "9s"}, "use --mixes and --mixes-max"),
            ({"until_steady": True, "mixes_max": 40}, "--mixes 50 is more"),
            ({"until_steady": True, "mixes_max": 60, "clients": 4}, "it takes 80 to say anything"),
        ],
    )
    def test_what_contradicts_itself_is_refused(
        self, workload: str, options: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(UsageError, match=message):
            asked(workload, **options)

    @pytest.mark.parametrize("options", [{"until_steady": True}, {"mixes_max": 7}])
    def test_it_is_of_clients_that_play_in_order(self, options: dict[str, Any]) -> None:
        with pytest.raises(
            UsageError, match=r"applies to workloads with a \[sequence\], and point-select has none"
        ):
            asked("point-select", **options)


PHASE = {"name": "measured", "arrival": {"shape": "closed", "clients": 1}, "passes_min": 40}
MOST = {"passes_max": 10_000}


class TestListener:
    def heard(
        self,
        raw: Path,
        progress: list[tuple[int, int]],
        monkeypatch: pytest.MonkeyPatch,
        **phase: int,
    ) -> tuple[list[bool], Mixes]:
        """What it says to passes and when they ended; a second goes by between two words."""
        now_s = iter(range(10_000))
        monkeypatch.setattr("assay.running.mixes.time.monotonic", lambda: float(next(now_s)))
        monkeypatch.setattr("assay.running.mixes.LOOKS_SHARE", 1e9)
        with Mixes(raw, [PHASE | phase], [os.getpid()]) as mixes:
            return [mixes.heard("measured", *step) for step in progress], mixes

    def test_it_says_enough_when_mixes_are_steady_and_there_are_as_many_as_there_have_to_be(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        course = [(number, number * 1_000_000) for number in range(100)]
        said, _ = self.heard(tmp_path, course, monkeypatch, **MOST)
        assert said.index(True) == PHASE["passes_min"]
        assert all(said[40:])

    def test_where_nobody_asks_it_marks_only(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        course = [(number, number * 1_000_000) for number in range(100)]
        said, mixes = self.heard(tmp_path, course, monkeypatch)
        assert not any(said)
        rows = read_stream(tmp_path / "mixes.arrows")
        assert [(row["mixes"], row["time_ns"]) for row in rows] == course
        assert {row["phase"] for row in rows} == {"measured"}
        read = [row["asked_bytes"] for row in rows]
        assert read == sorted(read)
        assert mixes.facts()["why_no_reads"] is None

    @pytest.mark.parametrize(
        ("reads_of", "why"),
        [(None, NOT_ASKED), ([], ELSEWHERE), ([1 << 31], "No such file")],
    )
    def test_reads_that_cannot_be_known_say_why(
        self, tmp_path: Path, reads_of: object, why: str
    ) -> None:
        with Mixes(tmp_path, [PHASE], reads_of) as mixes:
            assert mixes.heard("measured", 0, 5) is False
            assert why in mixes.facts()["why_no_reads"]
        (row,) = read_stream(tmp_path / "mixes.arrows")
        assert (row["asked_bytes"], row["fetched_bytes"]) == (None, None)

    def test_an_embedded_engine_reads_as_this_process_does(self, tmp_path: Path) -> None:
        with Mixes(tmp_path, [PHASE], METERED_HOST) as mixes:
            mixes.heard("measured", 0, 5)
        (row,) = read_stream(tmp_path / "mixes.arrows")
        assert row["asked_bytes"] > 0


def rendered(run_document: dict[str, Any]) -> str:
    console = Console(file=io.StringIO(), width=100)
    render(run_document, all_operations=False, console=console)
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


def shown(directory: Path) -> tuple[dict[str, Any], str, str]:
    """The document, the page, and the terminal's words."""
    run = Run(directory)
    run_document = document(run, directory)
    return run_document, page(run, run_document), rendered(run_document)


def claims(run_document: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for finding in run_document["findings"] if finding["method"] == steady.METHOD]


class TestTold:
    def test_a_run_that_became_steady_has_the_figures_of_that_part_and_of_all(
        self, tmp_path: Path
    ) -> None:
        run_document, html, message = shown(steady_run(tmp_path))
        section = run_document["steady"]
        assert section["steady"] is True
        assert section["warmup_mixes"] == 30
        assert section["mixes"] == 600
        first = section["first_mix"]
        assert 100 < first < 300
        assert f"steady after {first:,} of 600 mixes, the 30 of the warm-up not counted" in message
        assert "/s in the steady part, " in message
        (figure,) = section["figures"]
        assert figure["name"] == "QMpH"
        # The clients are two, so it is by the clock, as mixes a second are.
        assert figure["steady"] == pytest.approx(3_600 * section["rate_per_s"], rel=0.02)
        assert figure["all"] == pytest.approx(3_600 * section["all_per_s"], rel=0.02)
        assert "over the whole measured part" in message
        (finding,) = claims(run_document)
        assert finding["claim"].startswith(f"Steady after {first:,} of 600 mixes: QMpH 36,")
        assert "bytes that the engine read from storage per mix went from" in finding["claim"]
        assert f"--warmup-mixes {30 + first}" in finding["to_try"]
        assert 'id="chart-steady"' in html
        assert 'href="#steady"' in html

    def test_one_that_did_not_says_what_drifted_and_what_was_not_measured(
        self, tmp_path: Path
    ) -> None:
        run_document, html, message = shown(drifting_run(tmp_path))
        assert run_document["steady"]["steady"] is False
        assert "not steady in 600 mixes" in message
        assert "so throughput alone was judged" in message
        (finding,) = claims(run_document)
        assert (
            "throughput fell by 31 % over the last 340 (90 % interval 28 % to" in finding["claim"]
        )
        assert "--until-steady" in finding["to_try"]
        assert finding["effect_share"] > 0.2
        assert "Not steady in 600 mixes." in html

    def test_one_that_is_steady_from_the_first_claims_nothing(self, tmp_path: Path) -> None:
        flat = marks(600, reads=lambda _: 5e6, noise=0.02, begun_ns=BEGUN_NS)
        run_document, _, message = shown(write_mixes(tmp_path, flat))
        assert run_document["steady"]["steady"] is True
        assert claims(run_document) == []
        assert "asked of files a mix" in message

    def test_one_that_reached_the_most_says_so(self, tmp_path: Path) -> None:
        slower = marks(600, lambda number: 12.0 - number / 100, begun_ns=BEGUN_NS)
        run_document, _, message = shown(write_mixes(tmp_path, slower, mixes_max=600))
        assert "(the maximum of the run)" in message
        assert "a larger --mixes-max" in claims(run_document)[0]["to_try"]

    def test_of_few_mixes_thirds_are_not_compared(self, tmp_path: Path) -> None:
        slower = marks(15, lambda number: 12.0 - 0.7 * number, begun_ns=BEGUN_NS)
        run_document, _, message = shown(write_mixes(tmp_path, slower))
        assert run_document["steady"]["steady"] is None
        assert "15 mixes, with too few samples to judge" in message
        assert claims(run_document) == []

    def test_of_too_few_looks_nothing_is_said(self, tmp_path: Path) -> None:
        few = marks(600, begun_ns=BEGUN_NS)[::100]
        run_document, html, message = shown(write_mixes(tmp_path, few))
        assert run_document["steady"]["steady"] is None
        assert "too few samples" in message
        assert 'id="chart-steady"' in html

    def test_the_chart_draws_warm_up_and_measured_mixes_over_one_axis(self, tmp_path: Path) -> None:
        run = Run(steady_run(tmp_path))
        charts = Charts(document(run, run.dir), read_timeline(run), read_load(run))
        table = charts.data("steady")["data (CSV)"].splitlines()
        assert table[1].startswith("warmup,0,")
        first = next(line for line in table if line.startswith("measured"))
        assert first.startswith("measured,30,")
        drawn = str(charts["steady"].to_dict())
        assert "'words': 'measured'" in drawn
        assert "'words': 'steady'" in drawn

    def test_what_the_engine_counts_stands_beside(self, tmp_path: Path) -> None:
        run = Run(steady_run(tmp_path))
        times_s = [-0.5 + number for number in range(60)]
        values = [None, *([50_000.0] * 20), *([1_000.0] * 39)]
        series = {"name": "buffer_read_bytes", "time_s": times_s, "values": values}
        mixes = mixes_of(run, {"series": [series]})
        assert mixes is not None
        first, last = mixes.state.batches[3], mixes.state.batches[40]
        assert first.counted == pytest.approx(50_000 / first.throughput)
        assert last.counted == pytest.approx(1_000 / last.throughput)
        # The engine was not read to the end of the last ones.
        assert mixes.state.batches[-1].counted is None
        assert mixes.counted is not None
        before, level = mixes.counted
        assert before is not None
        assert before > 10 * level

    @pytest.mark.parametrize("values", [[None, 5.0, None, 5.0], []])
    def test_a_counter_that_was_reset_tells_nothing(
        self, tmp_path: Path, values: list[float | None]
    ) -> None:
        series = {"name": "buffer_read_bytes", "values": values}
        series["time_s"] = [-1.0, 20.0, 40.0, 70.0][: len(values)]
        mixes = mixes_of(Run(steady_run(tmp_path)), {"series": [series]})
        assert mixes is not None
        assert mixes.counted is None

    @pytest.mark.parametrize("write", [steady_run, drifting_run])
    def test_a_record_without_marks_has_no_such_section(
        self, tmp_path: Path, write: Callable[[Path], Path]
    ) -> None:
        directory = write(tmp_path)
        (directory / "raw" / "mixes.arrows").unlink()
        assert mixes_of(Run(directory)) is None
        assert shown(directory)[0]["steady"] is None
