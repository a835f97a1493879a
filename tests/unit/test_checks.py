"""Each check has a run that is valid, and one for every way in which it is not."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from assay.checks import (
    answers,
    background,
    client,
    clocks,
    completeness,
    judge,
    outcomes,
    probes,
    row_counts,
    steal,
    thresholds,
)
from assay.model.verdict import CheckResult, Verdict, worst
from assay.record.reader import Run
from tests.conftest import BEGUN_NS, CPUS, MS, S, SyntheticRun, an_event, write_stream

VALID, UNKNOWN, INVALID = Verdict.VALID, Verdict.UNKNOWN, Verdict.INVALID
METHODOLOGY = Path(__file__).parents[2] / "docs" / "numbers" / "checks.md"
# Samples just outside the measured part widen it by up to two intervals of some hundred.
SHARE_RELATIVE = 0.05

# An operation that returned nothing has a file all the same: columns without rows.
NO_ROWS = pa.table({"n": pa.array([], pa.int64())})


def checked(check: ModuleType, run: Run, verdict: Verdict) -> CheckResult:
    result: CheckResult = check.check(run)
    assert result.verdict is verdict, result.reason
    return result


class TestAll:
    def test_every_check_calls_the_made_run_valid(self, synthetic: SyntheticRun) -> None:
        results = judge.judge(synthetic.write())
        assert {result.check: result.verdict.word for result in results} == dict.fromkeys(
            [
                "answers",
                "background_load",
                "client_saturation",
                "clock_order",
                "completeness",
                "conditions",
                "driver_lag",
                "fleet",
                "limits",
                "mix",
                "outcomes",
                "probes",
                "profile_agrees",
                "rate_held",
                "recovery",
                "response_limits",
                "row_counts",
                "slowing",
                "specified_rate",
                "state",
                "steal",
            ],
            "valid",
        )

    def test_a_reason_is_never_empty(self, synthetic: SyntheticRun) -> None:
        assert all(result.reason for result in judge.judge(synthetic.write()))

    def test_the_worst_wins(self) -> None:
        def of(*verdicts: Verdict) -> Verdict:
            return worst(CheckResult("c", verdict, "r") for verdict in verdicts)

        assert of(VALID, VALID) is VALID
        assert of(VALID, UNKNOWN, VALID) is UNKNOWN
        assert of(UNKNOWN, INVALID, VALID) is INVALID

    def test_without_any_check_nothing_is_known(self) -> None:
        assert worst([]) is UNKNOWN

    def test_the_worst_is_told_first(self, synthetic: SyntheticRun) -> None:
        synthetic.events[3] |= {"outcome": "failed", "error": "x"}
        synthetic.status = "interrupted"
        verdicts = [result.verdict for result in judge.judge(synthetic.write())]
        assert verdicts == sorted(verdicts, reverse=True)
        assert verdicts[0] is INVALID

    def test_a_check_that_breaks_down_is_unknown_and_the_others_go_on(
        self,
        synthetic: SyntheticRun,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        def broken(_: Run) -> CheckResult:
            raise KeyError("no such column")

        monkeypatch.setattr(steal, "check", broken)
        results = {result.check: result for result in judge.judge(synthetic.write())}
        assert results["steal"].verdict is UNKNOWN
        assert not results["steal"].measured
        assert "KeyError" in results["steal"].reason
        assert "failed because of a defect in Assay" in caplog.text
        assert results["answers"].verdict is VALID

    def test_a_record_without_streams_is_judged_and_never_valid(
        self, synthetic: SyntheticRun
    ) -> None:
        synthetic.sealed = False
        run = synthetic.write()
        for path in (run.dir / "raw").glob("*.arrows"):
            path.unlink()
        results = judge.judge(run)
        assert worst(results) is not VALID


class TestThresholds:
    def constants(self) -> dict[str, float]:
        return {name: value for name, value in vars(thresholds).items() if name.isupper()}

    def table(self) -> dict[str, float]:
        """Rows `| name | value | meaning |` whose name looks like a constant's."""
        cells = [
            line.split("|")[1:-1]
            for line in METHODOLOGY.read_text("utf-8").splitlines()
            if "|" in line
        ]
        rows = [[cell.strip(" `") for cell in row] for row in cells if len(row) == 3]
        return {
            name: float(value)
            for name, value, _ in rows
            if re.fullmatch(r"[A-Z][A-Z_]+_(MAX|MIN)", name)
        }

    def test_the_methodology_repeats_every_threshold_and_no_other(self) -> None:
        assert self.table() == self.constants()

    def test_every_threshold_is_used_by_a_check(self) -> None:
        folder = Path(thresholds.__file__).parent
        sources = "".join(
            p.read_text("utf-8") for p in folder.rglob("*.py") if p.stem != "thresholds"
        )
        assert [name for name in self.constants() if name not in sources] == []


class TestAnswers:
    def test_right_rows_are_valid(self, synthetic: SyntheticRun) -> None:
        assert (
            checked(answers, synthetic.write(), VALID).reason
            == "2 of 2 answers right, in every pass"
        )

    def test_a_wrong_row_is_invalid_and_named(self, synthetic: SyntheticRun) -> None:
        synthetic.results["b"] = {1: pa.table({"n": [2]})}
        reason = checked(answers, synthetic.write(), INVALID).reason
        assert reason == "wrong answer: b, row 1, n: 2 instead of 1"

    def test_a_wrong_row_in_one_pass_only_is_invalid(self, synthetic: SyntheticRun) -> None:
        synthetic.events[-1]["digest"] = 2
        synthetic.results["b"][2] = pa.table({"n": [7]})
        checked(answers, synthetic.write(), INVALID)

    def test_no_rows_where_there_should_be_some_are_invalid(self, synthetic: SyntheticRun) -> None:
        synthetic.events[-1] |= {"digest": 0, "rows": 0}
        synthetic.results["b"] = synthetic.results["b"] | {0: NO_ROWS}
        reason = checked(answers, synthetic.write(), INVALID).reason
        assert reason == "wrong answer: b, 0 rows instead of 1"

    def test_no_rows_where_there_should_be_none_are_valid(self, synthetic: SyntheticRun) -> None:
        for event in synthetic.events:
            if event["operation"] == "b":
                event.update(digest=0, rows=0)
        synthetic.results["b"] = {0: NO_ROWS}
        synthetic.expected["b"] = "n\n"
        checked(answers, synthetic.write(), VALID)

    def test_a_result_of_which_no_rows_were_kept_is_unknown(self, synthetic: SyntheticRun) -> None:
        synthetic.events[-1]["digest"] = 99
        assert "b returned more" in checked(answers, synthetic.write(), UNKNOWN).reason

    def test_without_reference_rows_it_is_unknown_with_the_scale(
        self, synthetic: SyntheticRun
    ) -> None:
        synthetic.expected = {}
        run = synthetic.write()
        for path in (run.dir / "raw" / "results" / "expected").glob("*.csv"):
            path.unlink()
        reason = checked(answers, run, UNKNOWN).reason
        assert reason == "answers not verified: Assay has no reference rows for scale 1"

    def test_for_drawn_parameters_the_reason_says_so(self, synthetic: SyntheticRun) -> None:
        synthetic.facts["request"] = {"parameters": "drawn"}
        synthetic.expected = {"a": "n\n1\n"}
        assert "default parameters only" in checked(answers, synthetic.write(), UNKNOWN).reason

    @pytest.mark.parametrize("status", ["interrupted", "failed", "running"])
    def test_for_a_run_that_ended_before_they_were_made_the_reason_says_so(
        self, synthetic: SyntheticRun, status: str
    ) -> None:
        synthetic.facts["request"] = {"parameters": "drawn"}
        synthetic.expected = {"a": "n\n1\n"}
        synthetic.status, synthetic.sealed = status, False
        reason = checked(answers, synthetic.write(), UNKNOWN).reason
        assert reason.endswith("the run ended before reference rows were made")

    def test_an_operation_without_reference_rows_is_named(self, synthetic: SyntheticRun) -> None:
        synthetic.expected = {"a": "n\n1\n"}
        assert checked(answers, synthetic.write(), UNKNOWN).reason.endswith(
            "Assay has no reference rows for b"
        )

    def test_what_is_drawn_at_each_execution_is_left_to_the_row_counts(
        self, synthetic: SyntheticRun
    ) -> None:
        drawn = {"drawn_operations": ["a"], "rows_expected": {"a": 1}}
        synthetic.facts["workload"] = drawn
        synthetic.expected = {"b": "n\n1\n"}
        result = checked(answers, synthetic.write(), VALID)
        assert result.reason == "1 of 1 answers right, in every pass"
        assert result.measured

    def test_a_wrong_answer_of_another_operation_is_seen_all_the_same(
        self, synthetic: SyntheticRun
    ) -> None:
        synthetic.facts["workload"] = {"drawn_operations": ["a"], "rows_expected": {"a": 1}}
        synthetic.expected = {"b": "n\n2\n"}
        assert checked(answers, synthetic.write(), INVALID).reason.startswith("wrong answer: b")

    def test_where_all_is_drawn_nothing_is_compared(self, synthetic: SyntheticRun) -> None:
        drawn = {"drawn_operations": ["a", "b"], "rows_expected": {"a": 1, "b": 1}}
        synthetic.facts["workload"] = drawn
        synthetic.expected = {"none": ""}
        assert not checked(answers, synthetic.write(), VALID).measured

    def test_what_is_drawn_and_not_counted_is_unknown_with_the_mend(
        self, synthetic: SyntheticRun
    ) -> None:
        synthetic.facts["workload"] = {"drawn_operations": ["a"], "rows_expected": {"b": 1}}
        synthetic.expected = {"b": "n\n1\n"}
        reason = checked(answers, synthetic.write(), UNKNOWN).reason
        assert "values of a are drawn at each execution: set `rows` in workload.toml" in reason

    def test_an_engine_that_returns_nothing_is_unknown(self, synthetic: SyntheticRun) -> None:
        synthetic.facts["engine"] = {"answers": False}
        assert "returns no rows" in checked(answers, synthetic.write(), UNKNOWN).reason

    def test_if_nothing_succeeded_it_is_unknown(self, synthetic: SyntheticRun) -> None:
        for event in synthetic.events:
            event.update(outcome="failed", error="x")
        assert "no operation succeeded" in checked(answers, synthetic.write(), UNKNOWN).reason

    def test_the_tolerance_of_a_sum_is_the_one_of_the_record(self, synthetic: SyntheticRun) -> None:
        columns = {"a": {}, "b": {"n": "sum"}}
        synthetic.facts["workload"] = {"answer_columns": columns}
        synthetic.results["b"] = {1: pa.table({"n": [101]})}
        checked(answers, synthetic.write(), VALID)

    def test_and_shrinks_with_the_scale(self, synthetic: SyntheticRun) -> None:
        synthetic.facts["workload"] = {"answer_columns": {"a": {}, "b": {"n": "sum"}}}
        synthetic.facts["request"] = {"scale": 0.01}
        synthetic.results["b"] = {1: pa.table({"n": [101]})}
        checked(answers, synthetic.write(), INVALID)


class TestRowCounts:
    @pytest.fixture
    def counted(self, synthetic: SyntheticRun) -> SyntheticRun:
        synthetic.facts["workload"] = {"rows_expected": {"b": 1}}
        return synthetic

    def test_as_many_rows_as_told_are_valid(self, counted: SyntheticRun) -> None:
        result = checked(row_counts, counted.write(), VALID)
        assert result.reason == "4 executions returned the expected number of rows"
        assert result.measured

    def test_another_number_in_one_execution_is_invalid_and_named(
        self, counted: SyntheticRun
    ) -> None:
        counted.events[-1]["rows"] = 0
        result = checked(row_counts, counted.write(), INVALID)
        assert "1 of 4 executions returned a wrong number of rows" in result.reason
        assert result.reason.endswith("the first was b: 0 instead of 1")
        assert (result.value, result.threshold) == (1.0, 0.0)

    @pytest.mark.parametrize(("rows", "verdict"), [(0, INVALID), (1, VALID), (4, INVALID)])
    def test_the_least_and_the_most_are_right_and_others_are_not(
        self, counted: SyntheticRun, rows: int, verdict: Verdict
    ) -> None:
        counted.facts["workload"] = {"rows_expected": {"b": [1, 3]}}
        counted.events[-1]["rows"] = rows
        result = checked(row_counts, counted.write(), verdict)
        assert (verdict is VALID) or result.reason.endswith(f"{rows} instead of 1 to 3")

    def test_a_warm_up_counts(self, counted: SyntheticRun) -> None:
        counted.events[1]["rows"] = 2
        assert counted.events[1]["phase"] == "warmup"
        checked(row_counts, counted.write(), INVALID)

    def test_rows_that_were_not_counted_are_not_right(self, counted: SyntheticRun) -> None:
        counted.events[-1]["rows"] = None
        assert "b: None instead of 1" in checked(row_counts, counted.write(), INVALID).reason

    @pytest.mark.parametrize(("rows", "verdict"), [(0, VALID), (1, INVALID)])
    def test_no_rows_may_be_what_is_told(
        self, counted: SyntheticRun, rows: int, verdict: Verdict
    ) -> None:
        counted.facts["workload"] = {"rows_expected": {"b": 0}}
        for event in counted.events:
            event["rows"] = rows
        checked(row_counts, counted.write(), verdict)

    def test_other_operations_may_return_what_they_like(self, counted: SyntheticRun) -> None:
        counted.events[0]["rows"] = 7
        checked(row_counts, counted.write(), VALID)

    def test_what_failed_is_left_to_the_outcomes(self, counted: SyntheticRun) -> None:
        counted.events[-1] |= {"outcome": "failed", "error": "x", "rows": 0}
        assert checked(row_counts, counted.write(), VALID).reason.startswith("3 executions")

    def test_if_none_succeeded_it_is_unknown(self, counted: SyntheticRun) -> None:
        for event in counted.events:
            event |= {"outcome": "failed", "error": "x"}
        assert checked(row_counts, counted.write(), UNKNOWN).reason.endswith("none of b succeeded")

    def test_without_a_number_nothing_is_measured(self, synthetic: SyntheticRun) -> None:
        result = checked(row_counts, synthetic.write(), VALID)
        assert (result.measured, "no operation declares" in result.reason) == (False, True)

    def test_an_engine_that_returns_nothing_is_not_measured(self, counted: SyntheticRun) -> None:
        counted.facts["engine"] = {"answers": False}
        result = checked(row_counts, counted.write(), VALID)
        assert (result.measured, "the engine engine returns no rows" in result.reason) == (
            False,
            True,
        )


class TestOutcomes:
    def test_all_ok_is_valid_with_their_number(self, synthetic: SyntheticRun) -> None:
        assert "8 operations were due" in checked(outcomes, synthetic.write(), VALID).reason

    def test_a_failure_is_invalid_with_its_first_message(self, synthetic: SyntheticRun) -> None:
        synthetic.events[3] |= {"outcome": "failed", "error": "timeout", "rows": None}
        messages = [{"class": "timeout", "operation": 1, "message": "took too long\nmore"}]
        synthetic.driver = {"errors": messages}
        reason = checked(outcomes, synthetic.write(), INVALID).reason
        assert reason.startswith("1 of 8 operations failed, in b; the first was b: ")
        assert reason.endswith("timeout: took too long")

    def test_a_failure_without_words_is_still_invalid(self, synthetic: SyntheticRun) -> None:
        synthetic.events[3] |= {"outcome": "failed", "error": "RuntimeError", "rows": None}
        synthetic.driver = {"errors": [{"class": "RuntimeError", "operation": 1, "message": ""}]}
        assert checked(outcomes, synthetic.write(), INVALID).reason.endswith("RuntimeError")

    def test_no_operation_is_unknown(self, synthetic: SyntheticRun) -> None:
        run = synthetic.write()
        write_stream(run.dir / "raw" / "events.arrows", [])
        checked(outcomes, run, UNKNOWN)

    def test_a_number_used_twice_is_invalid(self, synthetic: SyntheticRun) -> None:
        synthetic.events[3]["sequence"] = synthetic.events[2]["sequence"]
        assert (
            "the record contains an operation twice"
            in checked(outcomes, synthetic.write(), INVALID).reason
        )

    def test_an_outcome_that_does_not_exist_is_invalid(self, synthetic: SyntheticRun) -> None:
        synthetic.events[3]["outcome"] = "perhaps"
        assert "perhaps" in checked(outcomes, synthetic.write(), INVALID).reason

    def test_counts_that_differ_from_the_drivers_are_invalid(self, synthetic: SyntheticRun) -> None:
        run = synthetic.write()
        write_stream(run.dir / "raw" / "events.arrows", synthetic.events[:-1])
        assert "the driver counted" in checked(outcomes, run, INVALID).reason

    def test_a_killed_driver_told_nothing_and_that_alone_is_no_contradiction(
        self, synthetic: SyntheticRun
    ) -> None:
        synthetic.driver = None
        checked(outcomes, synthetic.write(), VALID)

    def test_skipped_operations_balance_but_are_no_success(self, synthetic: SyntheticRun) -> None:
        synthetic.events[3] |= {"outcome": "skipped", "started_ns": None, "finished_ns": None}
        assert "1 of 8 operations" in checked(outcomes, synthetic.write(), UNKNOWN).reason


class TestClocks:
    def test_times_in_order_are_valid(self, synthetic: SyntheticRun) -> None:
        checked(clocks, synthetic.write(), VALID)

    def test_an_end_before_its_beginning_is_invalid(self, synthetic: SyntheticRun) -> None:
        synthetic.events[3]["finished_ns"] = synthetic.events[3]["started_ns"] - 1
        assert (
            "events have times that run backwards: "
            in checked(clocks, synthetic.write(), INVALID).reason
        )

    def test_a_beginning_before_its_schedule_is_invalid(self, synthetic: SyntheticRun) -> None:
        synthetic.events[3]["scheduled_ns"] = synthetic.events[3]["started_ns"] + 1
        checked(clocks, synthetic.write(), INVALID)

    def test_two_things_at_once_in_one_session_are_invalid(self, synthetic: SyntheticRun) -> None:
        synthetic.events[4]["started_ns"] -= 1
        synthetic.events[4]["scheduled_ns"] -= 1
        reason = checked(clocks, synthetic.write(), INVALID).reason
        assert "begin before the previous one of their session has ended" in reason

    def test_in_two_sessions_they_are_not(self, synthetic: SyntheticRun) -> None:
        synthetic.events[4]["started_ns"] -= 1
        synthetic.events[4]["scheduled_ns"] -= 1
        synthetic.events[4]["session"] = 1
        checked(clocks, synthetic.write(), VALID)

    def test_skipped_operations_have_no_times_to_be_wrong(self, synthetic: SyntheticRun) -> None:
        synthetic.events[3] |= {"outcome": "skipped", "started_ns": None, "finished_ns": None}
        checked(clocks, synthetic.write(), VALID)


class TestCompleteness:
    def test_a_sealed_complete_run_is_valid(self, synthetic: SyntheticRun) -> None:
        checked(completeness, synthetic.write(), VALID)

    def test_a_changed_file_is_invalid_and_named(self, synthetic: SyntheticRun) -> None:
        run = synthetic.write()
        (run.dir / "raw" / "driver.json").write_text("{}", encoding="utf-8")
        assert "raw/driver.json was changed" in checked(completeness, run, INVALID).reason

    @pytest.mark.parametrize("status", ["failed", "interrupted", "running"])
    def test_a_run_that_did_not_end_is_unknown(self, synthetic: SyntheticRun, status: str) -> None:
        synthetic.status = status
        synthetic.facts["reason"] = "why"
        synthetic.sealed = False
        reason = checked(completeness, synthetic.write(), UNKNOWN).reason
        assert status in reason
        assert "why" in reason

    @pytest.mark.parametrize(
        ("driver", "figures"),
        [
            ({"ended": "done"}, "its measurements are complete"),
            ({"ended": "cancelled"}, "its measurements cover only a part of the workload"),
            (None, "its measurements cover only a part of the workload"),
        ],
    )
    def test_figures_are_whole_once_the_plan_was_played(
        self, synthetic: SyntheticRun, driver: dict[str, Any] | None, figures: str
    ) -> None:
        synthetic.status, synthetic.sealed, synthetic.driver = "interrupted", False, driver
        assert figures in checked(completeness, synthetic.write(), UNKNOWN).reason

    def test_a_killed_run_has_no_reason_of_its_own(self, synthetic: SyntheticRun) -> None:
        synthetic.status = "running"
        synthetic.sealed = False
        assert (
            "the run is running (its process was killed or has not ended)"
            in checked(completeness, synthetic.write(), UNKNOWN).reason
        )

    def test_a_complete_run_without_a_seal_is_unknown(self, synthetic: SyntheticRun) -> None:
        synthetic.sealed = False
        assert "no seal" in checked(completeness, synthetic.write(), UNKNOWN).reason


def use_of_others(run: SyntheticRun, share: float) -> None:
    """Takes CPU time of our processes away, so that others must have used it."""
    ours = [row for row in run.streams["processes"] if row["account"] == "engine and driver"]
    for row in ours:
        row["user_ns"] = max(
            0, row["user_ns"] - round(share * CPUS * (row["time_ns"] - BEGUN_NS + S))
        )


class TestBackground:
    def test_a_quiet_machine_is_valid(self, synthetic: SyntheticRun) -> None:
        checked(background, synthetic.write(), VALID)

    @pytest.mark.parametrize(("over", "verdict"), [(-0.02, VALID), (0.02, UNKNOWN)])
    def test_the_threshold_is_the_border(
        self, synthetic: SyntheticRun, over: float, verdict: Verdict
    ) -> None:
        share = thresholds.BACKGROUND_SHARE_MAX + over
        use_of_others(synthetic, share)
        result = checked(background, synthetic.write(), verdict)
        assert result.value == pytest.approx(share, rel=SHARE_RELATIVE)
        assert result.threshold == thresholds.BACKGROUND_SHARE_MAX

    @pytest.mark.parametrize(
        ("account", "message"),
        [("engine and driver", "had to share the machine"), ("driver", "processes are unknown")],
    )
    def test_an_engine_that_is_not_followed_may_be_in_it(
        self, synthetic: SyntheticRun, account: str, message: str
    ) -> None:
        use_of_others(synthetic, 2 * thresholds.BACKGROUND_SHARE_MAX)
        for row in synthetic.streams["processes"]:
            row["account"] = account
        assert message in checked(background, synthetic.write(), UNKNOWN).reason

    def test_without_samples_it_is_unknown_and_not_measured(self, synthetic: SyntheticRun) -> None:
        synthetic.streams["cpus"] = []
        assert not checked(background, synthetic.write(), UNKNOWN).measured


class TestSteal:
    def stolen(self, run: SyntheticRun, share: float | None) -> None:
        for row in run.streams["cpus"]:
            past_ns = row["time_ns"] - BEGUN_NS + S
            row["steal_ns"] = None if share is None else round(share * past_ns)

    @pytest.mark.parametrize(("over", "verdict"), [(-0.01, VALID), (0.01, UNKNOWN)])
    def test_the_threshold_is_the_border(
        self, synthetic: SyntheticRun, over: float, verdict: Verdict
    ) -> None:
        share = thresholds.STEAL_SHARE_MAX + over
        self.stolen(synthetic, share)
        assert checked(steal, synthetic.write(), verdict).value == pytest.approx(
            share, rel=SHARE_RELATIVE
        )

    def test_a_kernel_that_does_not_tell_is_unknown(self, synthetic: SyntheticRun) -> None:
        self.stolen(synthetic, None)
        assert not checked(steal, synthetic.write(), UNKNOWN).measured


class TestProbes:
    def test_probes_that_saw_everything_are_valid(self, synthetic: SyntheticRun) -> None:
        checked(probes, synthetic.write(), VALID)

    def test_without_probes_it_is_unknown(self, synthetic: SyntheticRun) -> None:
        synthetic.probes = None
        assert "no probe ran" in checked(probes, synthetic.write(), UNKNOWN).reason

    def test_a_probe_that_failed_is_unknown_with_its_error(self, synthetic: SyntheticRun) -> None:
        assert synthetic.probes is not None
        synthetic.probes["disks"]["error"] = "/proc/diskstats: no such file"
        assert "disks failed: /proc/diskstats" in checked(probes, synthetic.write(), UNKNOWN).reason

    @pytest.mark.parametrize(("over_ms", "verdict"), [(-10, VALID), (10, UNKNOWN)])
    def test_a_gap_of_more_intervals_than_the_threshold_is_unknown(
        self, synthetic: SyntheticRun, over_ms: int, verdict: Verdict
    ) -> None:
        limit_ms = thresholds.PROBE_GAP_INTERVALS_MAX * 100
        self.stretch(synthetic, begun_ms=400, wall_ms=limit_ms + over_ms)
        checked(probes, synthetic.write(), verdict)

    def test_a_probe_with_an_interval_of_its_own_is_held_to_that(
        self, synthetic: SyntheticRun
    ) -> None:
        limit_ms = thresholds.PROBE_GAP_INTERVALS_MAX * 100
        self.stretch(synthetic, begun_ms=400, wall_ms=2 * limit_ms)
        assert synthetic.probes is not None
        synthetic.probes["system"]["interval_s"] = 0.3
        assert checked(probes, synthetic.write(), VALID).threshold == pytest.approx(
            thresholds.PROBE_GAP_INTERVALS_MAX * 0.3
        )

    def stretch(self, run: SyntheticRun, begun_ms: float, wall_ms: float) -> None:
        """Makes the last operation so long, and takes away all samples that fall into it."""
        last = run.events[-1]
        begun_ns = last["started_ns"]
        last["finished_ns"] = begun_ns + round(wall_ms * MS)
        run.streams["system"] = [
            row
            for row in run.streams["system"]
            if not begun_ns < row["time_ns"] < last["finished_ns"]
        ] + [{"time_ns": begun_ns}]
        run.streams["system"].sort(key=lambda row: row["time_ns"])
        run.streams["processes"] = run.streams["disks"] = []
        assert run.probes is not None
        run.probes = {"system": run.probes["system"]}

    def test_a_stream_that_is_gone_saw_nothing_at_all(self, synthetic: SyntheticRun) -> None:
        synthetic.facts["request"] = {"probe_interval_s": 0.01}
        synthetic.sealed = False
        for name in ("system", "processes", "disks"):
            synthetic.streams[name] = [
                row | {"time_ns": time_ns}
                for row in synthetic.streams[name][:1]
                for time_ns in range(BEGUN_NS, synthetic.ended_ns, 10 * MS)
            ]
        run = synthetic.write()
        checked(probes, run, VALID)
        (run.dir / "raw" / "disks.arrows").unlink()
        assert (
            "took no sample for 1.2 s, so that time is not covered"
            in checked(probes, Run(run.dir), UNKNOWN).reason
        )

    @pytest.mark.parametrize(("over", "verdict"), [(-0.003, VALID), (0.003, UNKNOWN)])
    def test_probes_that_cost_more_than_the_threshold_are_unknown(
        self, synthetic: SyntheticRun, over: float, verdict: Verdict
    ) -> None:
        share = thresholds.PROBE_CORE_SHARE_MAX + over
        for name in ("disks", "processes", "system"):
            first, last = synthetic.streams[f"probe-{name}"]
            last["cpu_ns"] = round((last["time_ns"] - first["time_ns"]) * share / 3)
        run = synthetic.write()
        checked(probes, run, verdict)


class TestClient:
    def test_an_embedded_engine_shares_its_process_so_nothing_is_measured(
        self, synthetic: SyntheticRun
    ) -> None:
        result = checked(client, synthetic.write(), VALID)
        assert not result.measured

    def test_sessions_that_waited_for_the_recorder_are_unknown(
        self, synthetic: SyntheticRun
    ) -> None:
        synthetic.driver = {"recorder_waits": 1}
        assert "wait for Assay's recorder" in checked(client, synthetic.write(), UNKNOWN).reason

    def served(self, run: SyntheticRun, share: float | None) -> Run:
        """A server whose driver is a process of its own and uses this share of its one CPU."""
        run.facts["engine"] = {"kind": "server"}
        if share is not None:
            seen: list[dict[str, Any]] = [
                {
                    "time_ns": row["time_ns"],
                    "pid": 102,
                    "account": "driver",
                    "user_ns": round(share * (row["time_ns"] - BEGUN_NS + S)),
                }
                for row in run.streams["system"]
            ]
            run.streams["processes"] += seen
        return run.write()

    @pytest.mark.parametrize(("over", "verdict"), [(-0.05, VALID), (0.05, UNKNOWN)])
    def test_the_threshold_is_the_border(
        self, synthetic: SyntheticRun, over: float, verdict: Verdict
    ) -> None:
        share = thresholds.CLIENT_SHARE_MAX + over
        result = checked(client, self.served(synthetic, share), verdict)
        assert result.value == pytest.approx(share, rel=SHARE_RELATIVE)

    def test_a_server_whose_driver_was_not_sampled_is_unknown(
        self, synthetic: SyntheticRun
    ) -> None:
        assert not checked(client, self.served(synthetic, None), UNKNOWN).measured


def test_a_run_made_of_one_event_is_judged(synthetic: SyntheticRun) -> None:
    synthetic.events = [an_event(0, "a", BEGUN_NS, 100)]
    synthetic.results = {"a": {1: pa.table({"n": [1]})}}
    synthetic.facts["plan"] = {"operations": ["a"]}
    assert worst(judge.judge(synthetic.write())) is VALID
