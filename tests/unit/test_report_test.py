"""A test of the specification as document, on a terminal and on a page.

`ASSAY_WRITE_GOLDEN=1` writes the texts anew; read the difference before keeping it.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.checks.judge import judge
from assay.cli.main import run_command
from assay.model.verdict import CheckResult, Verdict
from assay.record.reader import Run
from assay.report.charts import specified as test_charts
from assay.report.charts.run import Charts
from assay.report.document import document
from assay.report.exports import export
from assay.report.page.run import page
from assay.report.page.specified import words_of_test
from assay.report.terminal.load import run_figure
from tests.records import truncate_run
from tests.specified import QUERIES, RUN, PlayedTest, even_times, write_test
from tests.unit.test_report_document import VALIDATOR
from tests.unit.test_report_terminal import assert_golden, rendered

LEGAL = "derived from TPC-H, not comparable to published TPC results"
SHORT = {name: seconds / 20 for name, seconds in even_times().items()}
# What checks say of a made-up record is of other tests.
ANSWERS = {
    "check": "answers",
    "verdict": "valid",
    "reason": "22 of 22 answers right",
    "measured": True,
    "value": None,
    "threshold": None,
}
# Documents that were made, by what the test is about.
DOCUMENTS: dict[str, dict[str, Any]] = {}


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the answers of a made-up record are like is of other tests: here they are right."""

    def verified(run: Run) -> list[CheckResult]:
        right = CheckResult("answers", Verdict.VALID, "22 of 22 answers right")
        return [
            right if check_result.check == right.check else check_result
            for check_result in judge(run)
        ]

    monkeypatch.setattr("assay.report.document.judge", verified)
    monkeypatch.setattr("assay.verbs.whatif.judge", verified)


def document_of(tmp_path: Path, **about: Any) -> dict[str, Any]:
    """The document of a test; one is made for all tests that ask for the same."""
    key = repr(sorted(about.items()))
    if key not in DOCUMENTS:
        DOCUMENTS[key] = made_document(tmp_path, **about)
    return deepcopy(DOCUMENTS[key])


def made_document(tmp_path: Path, **about: Any) -> dict[str, Any]:
    """The document of a test, which holds to its schema."""
    directory = write_test(tmp_path, PlayedTest(**about))
    made = document(Run(directory), directory)
    VALIDATOR.validate(json.loads(json.dumps(made, allow_nan=False)))
    return made | {"path": f"runs/{RUN}", "checks": [ANSWERS], "verdict": "valid"}


class TestDocument:
    @pytest.mark.parametrize("refresh", [True, False])
    @pytest.mark.parametrize("kind", ["full", "power", "throughput", "steady"])
    def test_it_holds_to_its_schema(self, tmp_path: Path, kind: str, refresh: bool) -> None:
        factors = (1.5, 1.0, 1.0, 1.0) if kind == "steady" else (1.0, 0.9)
        made = document_of(tmp_path, kind=kind, refresh=refresh, factors=factors)["test"]
        assert made["kind"] == kind
        assert made["why_not"] == []
        assert all(metric["value"] is not None for metric in made["metrics"])

    def test_it_has_every_interval(self, tmp_path: Path) -> None:
        first, second = document_of(tmp_path)["test"]["runs"]
        for run in (first, second):
            assert len(run["power"]) == 24
            assert [run["power"][place]["operation"] for place in (0, -1)] == ["rf1", "rf2"]
            assert [stream["stream"] for stream in run["throughput"]] == [1, 2, None]
            assert [len(stream["intervals"]) for stream in run["throughput"]] == [22, 22, 4]

    def test_counted_seconds_are_raised_and_rounded(self, tmp_path: Path) -> None:
        times = even_times() | {"q09": 2000.0, "q01": 0.5}
        (run,) = document_of(tmp_path, kind="power", seconds=times, gap_ns=0)["test"]["runs"]
        counted = {
            interval_row["operation"]: interval_row["counted_seconds"]
            for interval_row in run["power"]
        }
        assert (counted["q01"], counted["q09"], counted["rf1"]) == (2.0, 2000.0, 0.5)

    def test_the_metrics_can_be_worked_out_again_from_its_intervals(self, tmp_path: Path) -> None:
        made = document_of(tmp_path)["test"]
        run = made["runs"][made["reported_run"] - 1]
        product = 1.0
        for interval_row in run["power"]:
            product *= interval_row["counted_seconds"]
        power = 3600 / product ** (1 / 24)
        throughput = 2 * 22 * 3600 / run["elapsed_counted_seconds"]
        values = {metric["metric"]: metric["value"] for metric in made["metrics"]}
        assert values["test_power_per_h"] == pytest.approx(power, abs=0.05)
        assert values["test_throughput_per_h"] == pytest.approx(throughput, abs=0.05)
        composite = (power * throughput) ** 0.5
        assert values["test_composite_per_h"] == pytest.approx(composite, abs=0.05)

    def test_no_metric_has_a_reason_and_no_figure(self, tmp_path: Path) -> None:
        made = document_of(tmp_path, failing=("throughput-2", 0, "q07"))
        assert made["test"]["why_not"] == ["q07 of throughput-2, stream 1 failed: out_of_memory"]
        assert {metric["value"] for metric in made["test"]["metrics"]} == {None}
        assert made["test"]["sensitivity"] == []
        assert made["test"]["utilisation"] == []
        assert made["test"]["memory"] is None
        assert made["what_if"] is None
        assert run_figure(made) == "none QphH@1GB"

    def test_memory_of_streams_and_at_larger_scales(self, tmp_path: Path) -> None:
        peaks = document_of(tmp_path)["test"]["memory"]["peaks"]
        assert [(peak["streams"], peak["bytes"]) for peak in peaks] == [(2, 3 * (50 << 20))] * 2
        at = {larger_peak["scale"]: larger_peak["bytes"] for larger_peak in peaks[0]["larger"]}
        assert at[100] == pytest.approx(3 * (50 << 20) * 100 * 5 / 2)

    @pytest.mark.parametrize("kind", ["full", "steady"])
    def test_a_killed_run_has_none(self, tmp_path: Path, kind: str) -> None:
        directory = truncate_run(write_test(tmp_path, PlayedTest(kind=kind)))
        made = document(Run(directory), directory)
        VALIDATOR.validate(json.loads(json.dumps(made, allow_nan=False)))
        assert made["test"]["why_not"][0] == "the run is running"
        assert {specified_metric["value"] for specified_metric in made["test"]["metrics"]} == {None}
        assert page(Run(directory), made)
        assert "no metric: the run is running" in rendered(made)

    def test_its_intervals_can_be_had_as_a_table(self, tmp_path: Path) -> None:
        directory = write_test(tmp_path, PlayedTest())
        export(Run(directory), "csv", tmp_path / "out")
        table = pl.read_csv(tmp_path / "out" / "intervals.csv")
        assert table.height == 2 * (24 + 2 * 22 + 4)
        counted = table.filter(pl.col("test") == "power")["counted_seconds"]
        assert counted.null_count() == 0

    def test_a_run_without_a_test_has_none(self, tmp_path: Path) -> None:
        directory = write_test(tmp_path, PlayedTest())
        facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
        (directory / "run.json").write_text(json.dumps(facts | {"test": None}), encoding="utf-8")
        made = document(Run(directory), directory)
        assert made["test"] is None
        assert words_of_test(made) is None


class TestNeverAPlainName:
    @pytest.mark.parametrize(
        "about",
        [
            {"refresh": False},
            {"parameters": "default"},
            {"scale": 0.1, "standard": False},
            {"streams": 1},
            {"kind": "power"},
            {"kind": "throughput"},
            {"kind": "steady", "factors": (1.0, 1.0, 1.0)},
        ],
    )
    def test_what_left_something_out(self, tmp_path: Path, about: dict[str, Any]) -> None:
        made = document_of(tmp_path, **about)
        assert_not_named(made)

    @pytest.mark.parametrize(
        ("checks", "message"),
        [
            ([CheckResult("outcomes", Verdict.INVALID, "q1 failed")], "no valid run"),
            ([CheckResult("answers", Verdict.UNKNOWN, "none kept")], "answers not verified"),
        ],
    )
    def test_what_was_not_verified(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        checks: list[CheckResult],
        message: str,
    ) -> None:
        monkeypatch.setattr("assay.report.document.judge", lambda _: checks)
        made = made_document(tmp_path)
        assert made["test"]["left_out"] == [message]
        assert_not_named(made)


def assert_not_named(made: dict[str, Any]) -> None:
    """No metric of a document has a name of the specification."""
    names = ("QphH@", "Power@", "Throughput@")
    for metric in [*made["test"]["metrics"], *made["what_if"]["metrics"]]:
        assert not metric["label"].startswith(names)
        # In full it is only named as what it is not.
        lead = metric["title"].partition("not ")[0]
        assert not any(name in lead for name in names)


class TestTerminal:
    def test_a_whole_test(self, tmp_path: Path) -> None:
        assert_golden("terminal-test-full.txt", rendered(document_of(tmp_path)))

    def test_a_whole_test_with_everything(self, tmp_path: Path) -> None:
        text = rendered(document_of(tmp_path), all_operations=True)
        assert_golden("terminal-test-full-all.txt", text)

    def test_steady_passes(self, tmp_path: Path) -> None:
        made = document_of(tmp_path, kind="steady", factors=(1.6, 1.1, 1.0, 1.02, 1.01))
        assert_golden("terminal-test-steady.txt", rendered(made))

    def test_short_intervals_at_no_standard_scale(self, tmp_path: Path) -> None:
        made = document_of(
            tmp_path, seconds=SHORT, scale=0.1, standard=False, refresh=False, gap_ns=0
        )
        text = rendered(made)
        assert made["test"]["rounding_dominates"]
        assert_golden("terminal-test-short.txt", text)

    def test_a_test_with_a_failed_query(self, tmp_path: Path) -> None:
        made = document_of(tmp_path, failing=("power-1", 0, "q13"))
        assert_golden("terminal-test-failed.txt", rendered(made))

    @pytest.mark.parametrize("kind", ["full", "power", "throughput", "steady"])
    @pytest.mark.parametrize("everything", [True, False])
    def test_lines_fit_and_the_legal_one_is_among_them(
        self, tmp_path: Path, kind: str, everything: bool
    ) -> None:
        factors = (1.5, 1.0, 1.0, 1.0) if kind == "steady" else (1.0, 0.9)
        made = document_of(tmp_path, kind=kind, factors=factors, streams=3)
        lines = rendered(made, all_operations=everything).splitlines()
        assert max(map(len, lines)) <= 80
        assert LEGAL in lines[-1]

    def test_what_weighs_nothing_has_no_sign(self, tmp_path: Path) -> None:
        made = document_of(tmp_path, kind="throughput")
        text = rendered(made, all_operations=True)
        assert "-0.0 %" not in text
        assert any("rf1" in line and "0.0 %" in line for line in text.splitlines())

    def test_memory_elsewhere_is_told_with_how_it_is_known(self, tmp_path: Path) -> None:
        text = " ".join(rendered(document_of(tmp_path)).split())
        assert (
            "memory of queries M: 150 MiB, throughput test 1, 2 streams; extrapolated, not"
            " measured, by M(SF', S') = M x (SF' / SF) x (S' / S): 36.6 GiB at SF 100 with 5"
            " streams"
        ) in text

    def test_the_metric_stands_first_and_in_lists_of_runs(self, tmp_path: Path) -> None:
        made = document_of(tmp_path)
        first = made["test"]["metrics"][0]["value"]
        _, figures, *_ = rendered(made).splitlines()
        assert figures.startswith(f"  QphH@1GB {first:,.1f}   Power@1GB")
        assert run_figure(made) == f"{first:,.1f} QphH@1GB"


class TestPage:
    def test_it_has_figures_tables_and_both_charts(self, tmp_path: Path) -> None:
        directory = write_test(tmp_path, PlayedTest())
        run = Run(directory)
        text = page(run, document(run, directory))
        for sentence in ("QphH@1GB", "Power@1GB", "reported: the lower composite", LEGAL):
            assert sentence in text
        for name in ("test-runs", "test-weights", "test-memory", "chart-streams"):
            assert f'id="{name}"' in text

    def test_a_throughput_test_alone_has_no_empty_columns(self, tmp_path: Path) -> None:
        made = document_of(tmp_path, kind="throughput")
        section = words_of_test(made)
        assert section is not None
        assert [key for key, *_ in section["run_columns"]] == ["throughput", "elapsed"]
        heads = [head for head, _ in section["weight_columns"]]
        assert heads == ["in streams", "in throughput"]
        assert {len(row["cells"]) for row in section["weights"]} == {len(heads)}
        assert "composite" not in section["about_weights"]
        assert "power" not in section["about_weights"]
        assert "throughput metric" in section["about_weights"]

    def test_memory_has_a_row_a_peak_and_a_column_a_scale(self, tmp_path: Path) -> None:
        section = words_of_test(document_of(tmp_path))
        assert section is not None
        assert section["memory"]["heads"][-1] == ("SF 100", "5 streams")
        first = section["memory"]["rows"][0]
        assert first[:3] == ("throughput test 1", "2 streams", "150 MiB")
        assert first[3][-1] == "36.6 GiB"

    def test_steady_passes_have_a_table_of_passes_and_no_streams(self, tmp_path: Path) -> None:
        test = PlayedTest(kind="steady", factors=(1.5, 1.0, 1.0, 1.0))
        directory = write_test(tmp_path, test)
        run = Run(directory)
        text = page(run, document(run, directory))
        assert "Steady after 1 of 4 passes" in text
        assert "The run had no throughput test." in text

    def test_streams_are_drawn_with_the_refresh_stream_last(self, tmp_path: Path) -> None:
        made = document_of(tmp_path, streams=3)
        rows = test_charts.data("streams", made["test"])
        names = rows["row"].unique(maintain_order=True).to_list()
        assert names[:4] == [
            "run 1, stream 1",
            "run 1, stream 2",
            "run 1, stream 3",
            "run 1, refreshes",
        ]
        assert rows.height == 2 * (3 * 22 + 6)
        assert rows.filter(pl.col("tone") == "refresh").height == 12
        assert Charts(made, None)["streams"].to_dict()

    def test_intervals_of_both_runs_stand_beside_each_other(self, tmp_path: Path) -> None:
        rows = test_charts.data("intervals", document_of(tmp_path)["test"])
        q21 = dict(rows.filter(pl.col("operation") == "q21").select("where", "seconds").iter_rows())
        expected = {"power test 1": 2.1, "power test 2": 1.89, "beside other streams": 3.15}
        assert q21 == pytest.approx(expected, abs=2e-3)

    def test_a_run_without_a_test_says_so(self, tmp_path: Path) -> None:
        made = document_of(tmp_path) | {"test": None}
        charts = Charts(made, None)
        assert charts.why_empty("streams") == "The run was not a test of the specification."
        assert not set(test_charts.NAMES) & set(charts.names)


class TestWhatIf:
    def test_two_queries_in_half_the_time(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_test(tmp_path, PlayedTest())
        assert run_command(["whatif", "--halve", "q15,q17", "--runs", str(tmp_path)]) == 0
        assert_golden("whatif-test-halved.txt", capsys.readouterr().out)

    def test_what_the_metrics_depend_on(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_test(tmp_path, PlayedTest())
        assert run_command(["whatif", "--runs", str(tmp_path)]) == 0
        text = capsys.readouterr().out
        assert_golden("whatif-test-sensitivity.txt", text)
        assert max(map(len, text.splitlines())) <= 80

    def test_where_rounding_decides_the_figures_that_are_not_rounded_move(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        times = dict.fromkeys(even_times(), 0.0139)
        write_test(tmp_path, PlayedTest(seconds=times, gap_ns=0, factors=(1.0, 1.0)))
        assert run_command(["whatif", "--scale-operation", "q09=0.9", "--runs", str(tmp_path)]) == 0
        _, rounded, unrounded, *_ = (
            line.split() for line in capsys.readouterr().out.splitlines()[3:]
        )
        assert rounded == ["Power@1GB", "360,000.0", "360,000.0", "none"]
        assert unrounded[:2] == ["not", "rounded"]
        assert unrounded[-2:] == ["+0.4", "%"]

    def test_steady_passes_are_predicted_from_their_steady_times(self, tmp_path: Path) -> None:
        made = document_of(tmp_path, kind="steady", factors=(1.6, 1.1, 1.0, 1.02, 1.01))
        values = {
            candidate["metric"]: candidate["value"] for candidate in made["what_if"]["metrics"]
        }
        figure, metric = made["test"]["steady"]["figure"], made["test"]["metrics"][0]
        assert values["total_seconds"] == pytest.approx(figure["sum_seconds"])
        mean = figure["geometric_mean_seconds"]
        assert values["geometric_mean_seconds"] == pytest.approx(mean)
        assert values["power_like_per_h"] == pytest.approx(metric["unrounded"])

    def test_a_test_without_a_metric_is_refused_with_the_reason(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_test(tmp_path, PlayedTest(failing=("throughput-1", 1, QUERIES[0])))
        assert run_command(["whatif", "--halve", "q15", "--runs", str(tmp_path)]) == 1
        assert "q01 of throughput-1, stream 2 failed" in capsys.readouterr().err
