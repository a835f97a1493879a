"""What the checks say of a specified mix: shares, limits, bounds of its rate, conditions."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assay.analysis.load.summary import summarise_load
from assay.analysis.load.transactions import transactions
from assay.analysis.summarise import summarise
from assay.checks import conditions, mix, response_limits, specified_rate
from assay.model.verdict import CheckResult, Verdict
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.record.writer import write_json
from assay.report.words.loads.operation import retries_words
from assay.report.words.loads.transactions import rate_words, transaction_lines
from tests.conftest import write_stream
from tests.loads import an_operation, closed, write_load
from tests.records import BEGUN_NS, MS, S

VALID, UNKNOWN, INVALID = Verdict.VALID, Verdict.UNKNOWN, Verdict.INVALID
SECONDS = 10.0
RATE = {
    "operation": "select",
    "seconds": 60.0,
    "waits": "tpmX",
    "no_waits": "NOPM",
    "least": 9.0,
    "most": 12.86,
}
WAITS = [{"keying_ns": 1, "think_mean_ns": 1}] * 2


def checked(check: ModuleType, run: Run, verdict: Verdict) -> CheckResult:
    result: CheckResult = check.check(run)
    assert result.verdict is verdict, result.reason
    return result


def played(selects: int, updates: int, service_ns: int = MS) -> list[dict[str, Any]]:
    """So many of each type that succeeded, one after another."""
    names = ["select"] * selects + ["update"] * updates
    step = round(SECONDS * S / len(names))
    return [
        an_operation(number, number * step, 0, service_ns, operation=name)
        for number, name in enumerate(names)
    ]


def specified(
    tmp_path: Path,
    events: list[dict[str, Any]],
    request: dict[str, Any] | None = None,
    *,
    clients: int = 2,
    phase: dict[str, Any] | None = None,
    **workload: Any,
) -> Run:
    """The record of a load of a workload that specifies its mix."""
    path = write_load(tmp_path, closed(clients), events, SECONDS, **(phase or {}))
    facts = json.loads((path / "run.json").read_text())
    facts["workload"] |= workload
    facts["request"] |= {"scale": 1.0} | (request or {})
    write_json(path / "run.json", facts)
    write_seal(path)
    return Run(path)


class TestMix:
    def test_a_type_below_its_share_breaks_the_mix_and_is_named(self, tmp_path: Path) -> None:
        run = specified(tmp_path, played(970, 30), shares_min={"update": 0.04, "select": 0.43})
        result = checked(mix, run, INVALID)
        assert "update was 3.00 % of 1,000" in result.reason
        assert (result.value, result.threshold) == (0.03, 0.04)

    def test_one_that_is_not_played_at_all_does_too(self, tmp_path: Path) -> None:
        run = specified(tmp_path, played(100, 0), shares_min={"payment": 0.43})
        assert "payment was 0.00 %" in checked(mix, run, INVALID).reason

    def test_shares_that_are_enough_are_valid(self, tmp_path: Path) -> None:
        run = specified(tmp_path, played(960, 40), shares_min={"update": 0.04})
        checked(mix, run, VALID)

    def test_what_failed_is_no_transaction_of_the_mix(self, tmp_path: Path) -> None:
        events = played(960, 40)
        events[-1] |= {"outcome": "failed", "error": "40001"}
        checked(mix, specified(tmp_path, events, shares_min={"update": 0.04}), INVALID)

    @pytest.mark.parametrize(
        ("updates", "waits", "verdict"),
        [(9, 0, UNKNOWN), (8, 0, INVALID), (7, 1, UNKNOWN), (6, 1, INVALID)],
    )
    def test_what_is_left_of_the_last_deck_and_what_terminals_hold_may_be_missing(
        self, tmp_path: Path, updates: int, waits: int, verdict: Verdict
    ) -> None:
        wait = {"keying_ns": 1, "think_mean_ns": 1}
        deck = {"deck": True, "weights": [9, 1], "waits": [wait] * 2 * waits}
        events = played(100 - updates, updates)
        checked(mix, specified(tmp_path, events, phase=deck, shares_min={"update": 0.1}), verdict)

    def test_a_workload_without_shares_is_not_checked(self, tmp_path: Path) -> None:
        assert not checked(mix, specified(tmp_path, played(1, 1)), VALID).measured


class TestResponseLimits:
    def test_a_ninetieth_percentile_above_its_limit_is_invalid(self, tmp_path: Path) -> None:
        slow = played(50, 50)
        for event in slow[80:]:
            event["finished_ns"] = event["started_ns"] + 6 * S
        run = specified(tmp_path, slow, limits_s={"update": 5.0, "select": 5.0})
        result = checked(response_limits, run, INVALID)
        assert "the response time of update exceeds its limit" in result.reason
        assert (result.value, result.threshold) == (6.0, 5.0)

    def test_one_of_ten_may_be_slower(self, tmp_path: Path) -> None:
        events = played(100, 10)
        for event in events[:10]:
            event["finished_ns"] = event["started_ns"] + 6 * S
        checked(response_limits, specified(tmp_path, events, limits_s={"select": 5.0}), VALID)

    def test_waiting_for_its_turn_counts(self, tmp_path: Path) -> None:
        events = played(50, 0)
        for event in events:
            event["scheduled_ns"] -= 6 * S
        checked(response_limits, specified(tmp_path, events, limits_s={"select": 5.0}), INVALID)

    def test_too_few_say_nothing(self, tmp_path: Path) -> None:
        checked(
            response_limits, specified(tmp_path, played(3, 0), limits_s={"select": 5.0}), UNKNOWN
        )


class TestSpecifiedRate:
    def rated(self, tmp_path: Path, selects: int, clients: int = 2, scale: float = 100.0) -> Run:
        """With 100 units of scale, 900 to 1,286 a minute are right: 150 to 214 in ten seconds."""
        phase = {"waits": WAITS}
        more: dict[str, Any] = {"rate": RATE, "terminals": clients / scale}
        events = played(selects, 1)
        request = {"scale": scale}
        return specified(tmp_path, events, request, clients=2, phase=phase, **more)

    @pytest.mark.parametrize(
        ("selects", "verdict"),
        [(180, VALID), (100, INVALID), (300, INVALID), (140, UNKNOWN), (220, UNKNOWN)],
    )
    def test_it_is_between_its_bounds_but_for_chance(
        self, tmp_path: Path, selects: int, verdict: Verdict
    ) -> None:
        result = checked(specified_rate, self.rated(tmp_path, selects), verdict)
        assert "between 900.0 and 1,286.0" in result.reason

    def test_another_number_of_clients_is_said(self, tmp_path: Path) -> None:
        result = checked(specified_rate, self.rated(tmp_path, 180, clients=20), UNKNOWN)
        assert "bounds apply to 20 clients at this scale, and the run had 2" in result.reason

    def test_without_waits_it_has_another_name_and_no_bounds(self, tmp_path: Path) -> None:
        run = specified(tmp_path, played(100, 1), rate=RATE)
        assert not checked(specified_rate, run, VALID).measured
        told_of = transactions(run, summarise_load(run))
        assert told_of is not None
        assert told_of.rate is not None
        assert (told_of.rate.name, told_of.rate.least) == ("NOPM", None)
        assert told_of.rate.value == pytest.approx(600)


class TestConditions:
    def kept(self, tmp_path: Path, rows: dict[tuple[str, str], int], phases: list[str]) -> Run:
        events = [
            an_operation(number, 0, 0, MS, phase=phase, operation=name, rows=count)
            for number, ((phase, name), count) in enumerate(rows.items())
        ]
        workload: dict[str, Any] = {
            "before": ["c01", "c11"],
            "after": ["c01"],
            "operation_titles": {"c01": "sums agree"},
        }
        run = specified(tmp_path, [*events, an_operation(99, 0, 0, MS)], **workload)
        plan = [{"name": name, "operations": [], "arrival": {"shape": "power"}} for name in phases]
        facts = json.loads((run.dir / "run.json").read_text())
        facts["plan"]["phases"] += plan
        write_json(run.dir / "run.json", facts)
        for name in ("c01", "c11"):
            (run.dir / "raw" / "results" / "expected" / f"{name}.csv").write_text("w_id|w_ytd\n")
        return Run(run.dir)

    def test_rows_that_violate_one_make_the_run_invalid(self, tmp_path: Path) -> None:
        rows = {("before", "c01"): 0, ("before", "c11"): 0, ("after", "c01"): 3}
        result = checked(conditions, self.kept(tmp_path, rows, ["before", "after"]), INVALID)
        assert "condition c01 (sums agree) was violated after the load, by 3 rows" in result.reason

    def test_all_that_held_are_counted(self, tmp_path: Path) -> None:
        rows = {("before", "c01"): 0, ("before", "c11"): 0, ("after", "c01"): 0}
        result = checked(conditions, self.kept(tmp_path, rows, ["before", "after"]), VALID)
        assert result.reason == "all consistency conditions held: 2 before and 1 after the load"

    def test_one_that_was_not_looked_at_is_unknown(self, tmp_path: Path) -> None:
        rows = {("before", "c01"): 0, ("before", "c11"): 0}
        checked(conditions, self.kept(tmp_path, rows, ["before", "after"]), UNKNOWN)

    def test_a_state_that_they_would_have_ended_is_said(self, tmp_path: Path) -> None:
        rows = {("after", "c01"): 0}
        result = checked(conditions, self.kept(tmp_path, rows, ["after"]), VALID)
        assert "Assay checked no condition before the load," in result.reason

    def test_a_workload_without_conditions_has_none(self, tmp_path: Path) -> None:
        assert not checked(conditions, specified(tmp_path, played(1, 1)), VALID).measured


class TestTypes:
    def test_retries_are_counted_by_class_and_shown_with_shares_and_limits(
        self, tmp_path: Path
    ) -> None:
        events = played(90, 10)
        run = specified(
            tmp_path, events, rate=RATE, shares_min={"update": 0.04}, limits_s={"update": 5.0}
        )
        again = {
            "operation": "update",
            "attempt": 0,
            "started_ns": BEGUN_NS,
            "finished_ns": BEGUN_NS,
        }
        rows = [again | {"sequence": 95, "error": "40001"} for _ in range(2)]
        rows += [again | {"sequence": 96, "error": "40P01"}]
        # Of an operation that was not measured.
        rows += [again | {"sequence": 5000, "error": "40P01"}]
        write_stream(run.dir / "raw" / "attempts.arrows", rows)
        load = summarise_load(run)
        assert load is not None
        operation = {"retries": 3, "retries_by_class": load.by_name["update"].retries_by_class}
        assert retries_words(operation) == "3 (40001 2, 40P01 1)"
        types = transactions(run, load)
        assert types is not None
        update = {kind.name: kind for kind in types.types}["update"]
        assert update.retries == {"40001": 2, "40P01": 1}
        assert (update.share, update.limit_kept) == (0.1, True)
        document = {"transactions": types.facts(), "metrics": {"throughput_per_s": 10.0}}
        lines = "\n".join(transaction_lines(document, 80))
        assert "10.00 % (at least 4.0 %)   limit 5.00 s kept" in lines
        message = rate_words(document)
        assert message is not None
        assert message.startswith("NOPM 540: 90 select that succeeded, a minute")
        assert message.endswith("so this is no tpmX")

    def test_a_workload_without_a_rate_tells_the_classes_of_its_retries(
        self, tmp_path: Path
    ) -> None:
        """Oracle: what was written; one attempt is of an operation that the stop cut short."""
        events = played(90, 10)
        events[-1] |= {"outcome": "failed", "error": "cancelled", "retries": 1}
        run = specified(tmp_path, events)
        moment = {"attempt": 0, "started_ns": BEGUN_NS, "finished_ns": BEGUN_NS, "error": "40001"}
        rows = [
            moment | {"sequence": row["sequence"], "operation": row["operation"]}
            for row in (events[0], events[-1])
        ]
        write_stream(run.dir / "raw" / "attempts.arrows", rows)
        retries_by_class = {
            operation.name: operation.retries_by_class for operation in summarise(run).operations
        }
        assert retries_by_class == {
            events[0]["operation"]: {"40001": 1},
            events[-1]["operation"]: {},
        }

    def test_another_workload_has_none(self, tmp_path: Path) -> None:
        run = specified(tmp_path, played(1, 1))
        assert transactions(run, summarise_load(run)) is None
        assert transaction_lines({"transactions": None}, 80) == []
