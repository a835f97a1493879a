"""A state is believed if the page cache and the first query's reads bear it out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.host.state import StartingState, starting_state
from assay.checks import state
from assay.checks.thresholds import (
    COLD_RESIDENT_SHARE_MAX,
    PROGRAMS_READ_BYTES_MAX,
    WARM_RESIDENT_SHARE_MIN,
)
from assay.model.verdict import CheckResult, Verdict
from assay.record.layout import ACCOUNT_ENGINE_AND_DRIVER
from assay.record.reader import Run
from tests.conftest import BEGUN_NS, MS, an_event
from tests.plans import captured_facts, made, made_plan

if TYPE_CHECKING:
    from tests.conftest import SyntheticRun

MIB = 1 << 20


def facts(asked: str, resident: int | None, **other: Any) -> dict[str, Any]:
    """`state` of run.json, of 100 MiB of data."""
    state_facts = {
        "asked": asked,
        "passes": int(asked == "hot"),
        "how": ["1 untimed pass first"] if asked == "hot" else ["done"],
        "left": [],
        "host_changes": [],
        "data_bytes": 100 * MIB,
        "resident_bytes_before_start": None if resident is None else resident * MIB,
    }
    return state_facts | other


def judged(
    run: SyntheticRun,
    recorded_facts: dict[str, Any],
    read_bytes: int | None = 5 * MIB,
    request: dict[str, Any] | None = None,
    scans: bool | None = None,
) -> CheckResult:
    """The verdict over a run whose first timed operation read so much."""
    run.facts |= {"state": recorded_facts, "request": request or {}}
    first = next(event for event in run.events if event["phase"] == "measured")
    times = {"start": first["started_ns"], "end": first["finished_ns"]}
    run.streams["tasks"] = [
        {"sequence": first["sequence"], "edge": edge, "time_ns": time, "read_bytes": read}
        for (edge, time), read in zip(
            times.items(), (0 if read_bytes is not None else None, read_bytes), strict=True
        )
    ]
    written = run.write()
    if scans is not None:
        _write_plan(run, first["operation"], scans=scans)
    return state.check(written)


def _write_plan(run: SyntheticRun, operation: str, *, scans: bool) -> None:
    root = made("scan", object="a_table") if scans else made("values")
    folder = run.dir / "raw" / "plans"
    folder.mkdir()
    document = captured_facts([made_plan(root, operation=operation)], [])
    (folder / "plans.json").write_text(json.dumps(document))


def test_a_record_that_tells_nothing_is_not_doubted(synthetic: SyntheticRun) -> None:
    assert state.check(synthetic.write()).verdict is Verdict.VALID


def test_hot_says_its_passes(synthetic: SyntheticRun) -> None:
    result = judged(synthetic, facts("hot", 90))
    assert (result.verdict, result.reason) == (Verdict.VALID, "hot: 1 untimed pass first")


def test_cold_is_nothing_in_memory_and_a_first_query_that_reads(synthetic: SyntheticRun) -> None:
    result = judged(synthetic, facts("cold", 0))
    assert result.verdict is Verdict.VALID
    assert "read 5 MiB from devices" in result.reason


@pytest.mark.parametrize(
    ("asked", "resident", "verdict"),
    [
        ("cold", 100 * COLD_RESIDENT_SHARE_MAX, Verdict.VALID),
        ("cold", 100 * COLD_RESIDENT_SHARE_MAX + 1, Verdict.UNKNOWN),
        ("os-warm", 100 * WARM_RESIDENT_SHARE_MIN, Verdict.VALID),
        ("os-warm", 100 * WARM_RESIDENT_SHARE_MIN - 1, Verdict.UNKNOWN),
    ],
)
def test_the_page_cache_has_to_bear_it_out(
    synthetic: SyntheticRun, asked: str, resident: float, verdict: Verdict
) -> None:
    result = judged(synthetic, facts(asked, round(resident)), read_bytes=4 * MIB)
    assert result.verdict is verdict, result.reason
    assert result.reason.startswith(
        asked if verdict is Verdict.VALID else f"the state {asked} was not"
    )


def test_reads_of_programs_do_not_make_a_warm_start_cold(synthetic: SyntheticRun) -> None:
    small = facts("os-warm", 5, data_bytes=5 * MIB)
    for row in synthetic.streams["processes"]:
        row["read_bytes"] = 58 * MIB
    result = judged(synthetic, small, read_bytes=3 * MIB)
    assert result.verdict is Verdict.VALID, result.reason
    assert result.reason.endswith(", a, the first query, read 3 MiB from devices")


@pytest.mark.parametrize(
    ("read", "verdict"),
    [
        (PROGRAMS_READ_BYTES_MAX, Verdict.VALID),
        (PROGRAMS_READ_BYTES_MAX + 1, Verdict.UNKNOWN),
        (1000 * MIB, Verdict.UNKNOWN),
        (1000 * MIB + 1, Verdict.VALID),
    ],
)
def test_large_reads_within_the_data_are_of_the_data(
    synthetic: SyntheticRun, read: int, verdict: Verdict
) -> None:
    recorded_facts = facts("os-warm", 1000, data_bytes=1000 * MIB)
    result = judged(synthetic, recorded_facts, read_bytes=read)
    assert result.verdict is verdict, result.reason
    assert ("bypass the page cache" in result.reason) is (verdict is Verdict.UNKNOWN)


def test_an_engine_that_says_it_reads_past_the_page_cache_is_believed(
    synthetic: SyntheticRun,
) -> None:
    result = judged(synthetic, facts("os-warm", 100, page_cache=False), read_bytes=0)
    assert result.verdict is Verdict.UNKNOWN
    assert result.reason.endswith("the engine bypasses the page cache")


def test_a_first_query_that_reads_nothing_is_doubted(synthetic: SyntheticRun) -> None:
    result = judged(synthetic, facts("cold", 0), read_bytes=0)
    assert result.verdict is Verdict.UNKNOWN
    assert "read nothing from devices" in result.reason


def test_what_processes_read_before_it_is_no_proof(synthetic: SyntheticRun) -> None:
    for row in synthetic.streams["processes"]:
        row["read_bytes"] = 58 * MIB
    result = judged(synthetic, facts("cold", 0), read_bytes=0)
    assert result.verdict is Verdict.UNKNOWN
    assert result.reason.endswith("a, the first query, read nothing from devices")


def test_the_start_may_have_brought_in_what_the_first_query_needs(synthetic: SyntheticRun) -> None:
    recorded_facts = facts("cold", 1, resident_bytes_after_start=5 * MIB)
    result = judged(synthetic, recorded_facts, read_bytes=0)
    assert result.verdict is Verdict.VALID, result.reason
    assert result.reason.endswith("the engine's start had read 4 MiB of the data files into memory")


def test_a_start_that_brought_nothing_in_is_no_proof(synthetic: SyntheticRun) -> None:
    recorded_facts = facts("cold", 1, resident_bytes_after_start=1 * MIB)
    assert judged(synthetic, recorded_facts, read_bytes=0).verdict is Verdict.UNKNOWN


class TestTheFirstQuery:
    """Which operation of a test is looked at."""

    def state_of(self, run: SyntheticRun, **reads: int) -> StartingState:
        """Operations in their order, each with what it read."""
        run.facts |= {
            "state": facts("cold", 0),
            "test": {"refresh": {"insert": "rf1", "delete": "rf2", "batches": 1}},
        }
        run.events = [
            an_event(number, name, BEGUN_NS + number * 10 * MS, 5)
            for number, name in enumerate(reads)
        ]
        run.streams["tasks"] = [
            {"sequence": event["sequence"], "edge": edge, "time_ns": 0, "read_bytes": bytes_}
            for event in run.events
            for edge, bytes_ in (("start", 0), ("end", reads[event["operation"]]))
        ]
        run.write()
        state = starting_state(Run(run.dir))
        assert state is not None
        return state

    def test_a_refresh_function_is_no_query(self, synthetic: SyntheticRun) -> None:
        state = self.state_of(synthetic, rf1=0, q14=7)
        assert (state.first_operation, state.first_read_bytes) == ("q14", 7)
        assert isinstance(state.first_read_bytes, int)

    def test_what_it_brought_in_the_query_need_not_read(self, synthetic: SyntheticRun) -> None:
        self.state_of(synthetic, rf1=5, q14=0)
        assert state.check(Run(synthetic.dir)).verdict is Verdict.VALID

    def test_what_was_read_after_it_is_no_proof(self, synthetic: SyntheticRun) -> None:
        self.state_of(synthetic, rf1=0, q14=0, q02=9)
        assert state.check(Run(synthetic.dir)).verdict is Verdict.UNKNOWN

    def test_one_that_must_read_goes_before_one_that_need_not(
        self, synthetic: SyntheticRun
    ) -> None:
        self.state_of(synthetic, rf1=0, q14=0, q02=9)
        _write_plan(synthetic, "q02", scans=True)
        host_state = starting_state(Run(synthetic.dir))
        assert host_state is not None
        assert (host_state.first_operation, host_state.first_scans) == ("q02", True)

    def test_of_refresh_functions_alone_there_is_none(self, synthetic: SyntheticRun) -> None:
        assert self.state_of(synthetic, rf1=9).first_operation is None


@pytest.mark.parametrize(("scans", "verdict"), [(True, Verdict.UNKNOWN), (False, Verdict.VALID)])
def test_one_that_scans_no_table_need_not_read(
    synthetic: SyntheticRun, scans: bool, verdict: Verdict
) -> None:
    result = judged(synthetic, facts("cold", 0), read_bytes=0, scans=scans)
    assert result.verdict is verdict, result.reason


def test_reads_that_were_not_metered_are_said_to_be(synthetic: SyntheticRun) -> None:
    result = judged(synthetic, facts("cold", 0), read_bytes=None)
    assert result.verdict is Verdict.VALID
    assert "not measured" in result.reason


@pytest.mark.parametrize(
    ("recorded_facts", "message"),
    [
        ({"data_bytes": 0}, "the engine has no data files"),
        ({"resident_bytes_before_start": None, "left": ["it broke"]}, "it broke"),
    ],
)
def test_what_could_not_be_seen_is_no_state(
    synthetic: SyntheticRun, recorded_facts: dict[str, Any], message: str
) -> None:
    result = judged(synthetic, facts("cold", 0, **recorded_facts))
    assert (result.verdict, result.reason) == (
        Verdict.UNKNOWN,
        f"the state cold was not reached: {message}",
    )


def test_what_is_allowed_need_not_be_done(synthetic: SyntheticRun) -> None:
    """A permission that the state does not need is none the worse for it."""
    recorded_facts = facts("os-warm", 100 * MIB)
    result = judged(synthetic, recorded_facts, request={"allow_host_changes": True})
    assert result.verdict is Verdict.VALID, result.reason


def test_caches_that_were_to_be_dropped_and_were_not(synthetic: SyntheticRun) -> None:
    recorded_facts = facts("cold", 0, left=["drop_caches: Permission denied"])
    result = judged(synthetic, recorded_facts, request={"allow_host_changes": True})
    assert result.verdict is Verdict.UNKNOWN
    assert result.reason == "the state cold was not reached: drop_caches: Permission denied"


@pytest.mark.parametrize(
    ("asked", "passes", "message"),
    [("hot", 1, "hot"), ("hot", 3, "hot after 3 passes"), ("cold", 0, "cold")],
)
def test_a_heading_names_it(synthetic: SyntheticRun, asked: str, passes: int, message: str) -> None:
    synthetic.facts["state"] = facts(asked, 0, passes=passes)
    host_state = starting_state(synthetic.write())
    assert host_state is not None
    assert host_state.text == message


class TestLoaded:
    """Whatever loading left is the state; who loaded is what can be in doubt."""

    ENGINE_PID = 4711

    def judged(
        self, run: SyntheticRun, pids: list[int], account: str = "engine", **other: Any
    ) -> tuple[CheckResult, StartingState]:
        run.environment |= {
            "data": {"loaded_by_pids": pids, "loaded_ns": BEGUN_NS - 2000 * MS},
            "accounts": {str(self.ENGINE_PID): account, "1": "driver"},
        }
        after = {"resident_bytes_after_start": 40 * MIB, "engine_cache": None} | other
        result = judged(run, facts("loaded", None, **after), read_bytes=0)
        host_state = starting_state(Run(run.dir))
        assert host_state is not None
        return result, host_state

    def test_the_process_that_loaded_is_the_one_that_is_measured(
        self, synthetic: SyntheticRun
    ) -> None:
        cached = [{"name": "t", "cached_bytes": 6 * MIB, "bytes": 8 * MIB}]
        result, host_state = self.judged(synthetic, [self.ENGINE_PID], engine_cache=cached)
        assert result.verdict is Verdict.VALID
        assert result.reason.startswith(
            "loaded: 40 % of 100 MiB of data files in memory, 6 MiB in the engine's own cache, "
        )
        assert result.reason.endswith(
            "after loading, a, the first query, read nothing from devices"
        )
        assert host_state.since_load_s is not None
        assert host_state.since_load_s >= 2

    @pytest.mark.parametrize(
        ("pids", "account"), [([], "engine"), ([1], "engine"), ([ENGINE_PID], "driver")]
    )
    def test_another_process_is_another_state(
        self, synthetic: SyntheticRun, pids: list[int], account: str
    ) -> None:
        result, _ = self.judged(synthetic, pids, account)
        assert result.verdict is Verdict.UNKNOWN
        assert result.reason.endswith("were loaded by another process than the measured one")

    def test_an_embedded_engine_shares_its_process(self, synthetic: SyntheticRun) -> None:
        result, _ = self.judged(synthetic, [self.ENGINE_PID], ACCOUNT_ENGINE_AND_DRIVER)
        assert result.verdict is Verdict.VALID, result.reason
        assert "own cache" not in result.reason

    def test_what_was_not_looked_at_is_not_known(self, synthetic: SyntheticRun) -> None:
        result, _ = self.judged(synthetic, [self.ENGINE_PID], resident_bytes_after_start=None)
        assert result.verdict is Verdict.UNKNOWN
        assert "not recorded" in result.reason

    def test_a_server_that_died_has_forgotten_what_loading_left(
        self, synthetic: SyntheticRun
    ) -> None:
        synthetic.facts["crashes"] = [{"noticed_ns": 1, "words": "signal 8", "seconds": 1.0}]
        result, _ = self.judged(synthetic, [self.ENGINE_PID])
        assert result.verdict is Verdict.UNKNOWN
        assert result.reason.endswith("crashed and was restarted")

    def test_without_files_there_is_no_state(self, synthetic: SyntheticRun) -> None:
        result, _ = self.judged(synthetic, [self.ENGINE_PID], data_bytes=0)
        assert "the engine has no data files" in result.reason
