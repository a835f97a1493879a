"""A state is believed if the page cache and the first query's reads bear it out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.state import starting_state
from assay.checks import state
from assay.checks.thresholds import COLD_RESIDENT_SHARE_MAX, WARM_RESIDENT_SHARE_MIN
from assay.model.verdict import CheckResult, Verdict
from tests.plans import captured_facts, made, made_plan

if TYPE_CHECKING:
    from tests.conftest import SyntheticRun

MIB = 1 << 20


def facts(asked: str, resident: int | None, **other: Any) -> dict[str, Any]:
    """`state` of run.json, of 100 MiB of data."""
    told = {
        "asked": asked,
        "passes": int(asked == "hot"),
        "how": ["1 untimed pass first"] if asked == "hot" else ["done"],
        "left": [],
        "host_changes": [],
        "data_bytes": 100 * MIB,
        "resident_bytes_before_start": None if resident is None else resident * MIB,
    }
    return told | other


def judged(
    run: SyntheticRun,
    told: dict[str, Any],
    read_bytes: int | None = 5 * MIB,
    request: dict[str, Any] | None = None,
    scans: bool | None = None,
) -> CheckResult:
    """The verdict over a run whose first timed operation read so much."""
    run.facts |= {"state": told, "request": request or {}}
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
    result = judged(synthetic, facts(asked, round(resident)))
    assert result.verdict is verdict, result.reason
    assert result.reason.startswith(asked if verdict is Verdict.VALID else f"state {asked} not")


def test_a_first_query_that_reads_nothing_is_doubted(synthetic: SyntheticRun) -> None:
    result = judged(synthetic, facts("cold", 0), read_bytes=0)
    assert result.verdict is Verdict.UNKNOWN
    assert "read from no device" in result.reason


def test_the_start_may_have_read_what_the_first_query_needs(synthetic: SyntheticRun) -> None:
    for row in synthetic.streams["processes"]:
        row["read_bytes"] = 4 * MIB
    result = judged(synthetic, facts("cold", 0), read_bytes=0)
    assert result.verdict is Verdict.VALID, result.reason
    assert "read 0 B from devices, the engine's start 4 MiB" in result.reason


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
    ("told", "words"),
    [
        ({"data_bytes": 0}, "there are no data files"),
        ({"resident_bytes_before_start": None, "left": ["it broke"]}, "it broke"),
    ],
)
def test_what_could_not_be_seen_is_no_state(
    synthetic: SyntheticRun, told: dict[str, Any], words: str
) -> None:
    result = judged(synthetic, facts("cold", 0, **told))
    assert (result.verdict, result.reason) == (
        Verdict.UNKNOWN,
        f"state cold not reached: {words}",
    )


def test_caches_that_were_to_be_dropped_and_were_not(synthetic: SyntheticRun) -> None:
    told = facts("cold", 0, left=["drop_caches: Permission denied"])
    result = judged(synthetic, told, request={"allow_host_changes": True})
    assert result.verdict is Verdict.UNKNOWN
    assert result.reason == "state cold not reached: drop_caches: Permission denied"


@pytest.mark.parametrize(
    ("asked", "passes", "words"),
    [("hot", 1, "hot"), ("hot", 3, "hot after 3 passes"), ("cold", 0, "cold")],
)
def test_a_heading_names_it(synthetic: SyntheticRun, asked: str, passes: int, words: str) -> None:
    synthetic.facts["state"] = facts(asked, 0, passes=passes)
    told = starting_state(synthetic.write())
    assert told is not None
    assert told.words == words
