"""Limits that took no effect are told as such, and what was used of each stands beside it."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.host.limits import limits_used
from assay.checks import limits
from assay.model.verdict import CheckResult, Verdict
from assay.report.sections.changes import changes_section
from assay.report.words.changes import changes_lines, changes_paragraph
from tests.conftest import S, SyntheticRun

MIB = 1 << 20
NOTHING = dict.fromkeys(
    (
        "cpu_ns",
        "periods",
        "throttled_periods",
        "throttled_ns",
        "reads",
        "writes",
        "read_bytes",
        "written_bytes",
        "memory_bytes",
        "memory_peak_bytes",
        "memory_limit_hits",
        "oom_kills",
    ),
    0,
)
READ_AHEAD = {
    "what": "read-ahead of loop0 (KiB)",
    "path": "/sys/block/loop0/queue/read_ahead_kb",
    "before": "8192",
    "asked": "0",
    "effective": "0",
    "restored": True,
}


def limited(
    asked: dict[str, float],
    effective: dict[str, float | None] | None = None,
    **grown: int | None,
) -> dict[str, Any]:
    """Of ten seconds in which the counters grew."""
    return {
        "version": 1,
        "device": "loop0",
        "asked": asked,
        "effective": asked if effective is None else effective,
        "notes": ["a note"],
        "counted": {
            "start": NOTHING | {"time_ns": 5 * S},
            "end": NOTHING | {"time_ns": 15 * S} | grown,
        },
    }


def judged(
    synthetic: SyntheticRun,
    limit_facts: dict[str, Any] | None,
    *changes: dict[str, Any],
    **request: Any,
) -> CheckResult:
    asked = {"limits": limit_facts["asked"]} if limit_facts else {}
    synthetic.facts = {"request": asked | request, "limits": limit_facts, "changes": list(changes)}
    return limits.check(synthetic.write())


class TestLimits:
    def test_that_were_kept(self, synthetic: SyntheticRun) -> None:
        limit_facts = limited(
            {"cpu": 0.5, "cpus": 1, "read-iops": 500, "read-rate": 4.0 * MIB, "memory": 64.0 * MIB},
            cpu_ns=int(4.9 * S),
            periods=500,
            throttled_periods=400,
            reads=4990,
            read_bytes=20 * MIB,
            memory_peak_bytes=64 * MIB,
            memory_limit_hits=12,
        )
        result = judged(synthetic, limit_facts)
        assert result.verdict is Verdict.VALID
        assert result.reason == (
            "cpu 0.5 cores, 0.49 cores used, run out in 80 % of the periods; cpus 1; read-iops"
            " 500/s, 499/s used; read-rate 4 MiB/s, 2 MiB/s used; memory 64 MiB, at most 64 MiB"
            " used, met 12 times"
        )

    def test_whether_they_were_felt(self, synthetic: SyntheticRun) -> None:
        limit_facts = limited(
            {"cpu": 2.0, "read-iops": 500, "write-iops": 10, "memory": 64.0 * MIB},
            periods=500,
            reads=4990,
            writes=3,
        )
        synthetic.facts = {"limits": limit_facts}
        used = limits_used(synthetic.write())
        assert used is not None
        assert {use.name: use.binding for use in used.uses} == {
            "cpu": False,
            "read-iops": True,
            "write-iops": None,
            "memory": False,
        }

    @pytest.mark.parametrize(
        ("asked", "grown"),
        [
            ({"cpu": 0.5}, {"cpu_ns": 7 * S}),
            ({"read-iops": 500}, {"reads": 6000}),
            ({"write-rate": 1.0 * MIB}, {"written_bytes": 13 * MIB}),
            ({"memory": 64.0 * MIB}, {"memory_peak_bytes": 128 * MIB}),
        ],
    )
    def test_of_which_more_was_used_did_not_take_effect(
        self, synthetic: SyntheticRun, asked: dict[str, float], grown: dict[str, int]
    ) -> None:
        result = judged(synthetic, limited(asked, **grown))
        assert result.verdict is Verdict.INVALID
        assert "did not take effect" in result.reason

    def test_a_burst_that_was_saved_up_is_none(self, synthetic: SyntheticRun) -> None:
        limit_facts = limited({"read-iops": 1000}, reads=190)
        limit_facts["counted"]["end"]["time_ns"] = 5 * S + S // 10
        assert judged(synthetic, limit_facts).verdict is Verdict.VALID

    @pytest.mark.parametrize("effective", [None, 1.0])
    def test_that_the_kernel_does_not_tell_did_not_take_effect(
        self, synthetic: SyntheticRun, effective: float | None
    ) -> None:
        result = judged(synthetic, limited({"cpu": 0.5}, {"cpu": effective}))
        assert result.verdict is Verdict.INVALID
        assert "did not take effect: the kernel reported" in result.reason

    def test_that_were_rounded_did(self, synthetic: SyntheticRun) -> None:
        limit_facts = limited({"memory": 64.0 * MIB}, {"memory": 64.0 * MIB - 4096})
        assert judged(synthetic, limit_facts).verdict is Verdict.VALID

    def test_of_which_nothing_was_counted_are_unknown(self, synthetic: SyntheticRun) -> None:
        limit_facts = limited({"cpu": 0.5})
        del limit_facts["counted"]["end"]
        result = judged(synthetic, limit_facts)
        assert (result.verdict, result.measured) == (Verdict.UNKNOWN, False)

    def test_that_were_not_recorded_are_unknown(self, synthetic: SyntheticRun) -> None:
        result = judged(synthetic, None, limits={"cpu": 0.5})
        assert result.verdict is Verdict.UNKNOWN


class TestChanges:
    def test_that_took_effect(self, synthetic: SyntheticRun) -> None:
        result = judged(synthetic, None, READ_AHEAD, read_ahead_bytes=0)
        assert (result.verdict, result.reason) == (Verdict.VALID, "read-ahead of loop0 (KiB)")

    def test_that_were_not_read_back(self, synthetic: SyntheticRun) -> None:
        result = judged(synthetic, None, READ_AHEAD | {"effective": "4"}, read_ahead_bytes=0)
        assert result.verdict is Verdict.UNKNOWN
        assert "0 was requested, and 4 was read back" in result.reason

    def test_that_were_never_made(self, synthetic: SyntheticRun) -> None:
        assert judged(synthetic, None, read_ahead_bytes=0).verdict is Verdict.UNKNOWN


class TestReport:
    def test_tells_of_both(self, synthetic: SyntheticRun) -> None:
        synthetic.facts = {
            "limits": limited({"read-iops": 500}, reads=4990, oom_kills=1),
            "changes": [READ_AHEAD],
        }
        document = {"changes": changes_section(synthetic.write())}
        assert changes_lines(document, 100) == [
            "  limits    read-iops 500/s, 499/s used; killed for want of memory: 1",
            "  changed   read-ahead of loop0 (KiB): 0 (was 8192); put back",
        ]
        text = changes_paragraph(document)
        assert "control groups of version 1; those of disks are of loop0" in text
        assert "Note: a note." in text

    def test_is_silent_of_neither(self, synthetic: SyntheticRun) -> None:
        document = {"changes": changes_section(synthetic.write())}
        assert document == {"changes": None}
        assert (changes_lines(document, 100), changes_paragraph(document)) == ([], "")
