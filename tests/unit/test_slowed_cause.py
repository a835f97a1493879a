"""Which resource is slowed if no cause of a run's time can be removed."""

from __future__ import annotations

from typing import Any, cast

import pytest

from assay.analysis.diagnose.way import Untried
from assay.analysis.time.tree import TimeNode
from assay.model.finding import Finding
from assay.running.asked.request import RunRequest
from assay.study.diagnosing.candidates import Candidate
from assay.study.diagnosing.slowing import slowed_candidate

BOUND = Finding("Executing 80 % of the time", 0.8, None, (), "bound-by", tells="bound")


class Summary:
    """The parts of a summary that count here."""

    def __init__(self, *parts: tuple[str, str, float], findings: tuple[Finding, ...] = (BOUND,)):
        groups = dict.fromkeys(group for group, _, _ in parts)
        self.time = TimeNode(
            "all",
            "all",
            1.0,
            tuple(
                TimeNode(
                    group,
                    group,
                    sum(share for of, _, share in parts if of == group),
                    tuple(TimeNode(name, name, share) for of, name, share in parts if of == group),
                )
                for group in groups
            ),
        )
        self.findings = findings


def slowed(*parts: tuple[str, str, float], **asked: Any) -> Candidate | Untried | None:
    request = RunRequest(workload="tpch", engine="duckdb", scale=0.01, **asked)
    return slowed_candidate(cast("Any", Summary(*parts)), request)


@pytest.mark.parametrize(
    ("parts", "resource"),
    [
        ([("computing", "executing", 0.7), ("waiting", "disk_read", 0.2)], "cpu"),
        ([("computing", "executing", 0.3), ("waiting", "disk_read", 0.6)], "disk"),
        # A busy host: most of the time is waiting for a CPU.
        ([("computing", "executing", 0.1), ("computing", "queue", 0.9)], "cpu"),
    ],
)
def test_the_most_used_resource_is_slowed(
    parts: list[tuple[str, str, float]], resource: str
) -> None:
    candidate = slowed(*parts)
    assert isinstance(candidate, Candidate)
    assert candidate.request.slow == {resource: 2.0}
    assert not candidate.stays
    assert candidate.slowing is not None
    # The baseline measures the use of the resource as the slowed run does.
    assert candidate.slowing.request.slow == {resource: 1.0}


def test_time_in_locks_is_of_no_resource_that_can_be_slowed() -> None:
    assert slowed(("computing", "executing", 0.1), ("waiting", "lock", 0.9)) is None


def test_a_run_that_slows_a_resource_itself_says_why_not() -> None:
    untried = slowed(("computing", "executing", 0.9), slow={"disk": 2.0})
    assert isinstance(untried, Untried)
    assert "already slows or limits a resource" in untried.why


def test_a_running_server_says_why_not() -> None:
    request = RunRequest(
        workload="tpch", engine="postgresql", scale=0.01, dsn="postgresql://localhost/shop"
    )
    summary = cast("Any", Summary(("computing", "executing", 0.9)))
    untried = slowed_candidate(summary, request)
    assert isinstance(untried, Untried)
    assert "does not pause the processes of a running server" in untried.why
