"""What limits a sweep is named where it was built, by as much as was built, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.sweep.client_time import ClientTime
from assay.analysis.sweep.limit import (
    CLIENT,
    COMMIT,
    CPU,
    LATCH,
    LOCK,
    LOG,
    READS,
    RETRIES,
    UNKNOWN,
    ScalingLimit,
    limiting,
)

ONE_S = 1e-3
ONE = ClientTime(
    1,
    ONE_S,
    causes={"cpu_user": 0.7e-3, "disk_write": 0.2e-3, "client": 0.1e-3},
    statements={
        ("pay", "read row"): 0.3e-3,
        ("pay", "write row"): 0.3e-3,
        ("pay", "commit"): 0.3e-3,
    },
    cores={"engine": 0.8, "driver": 0.1},
    cpus=4,
)
# What each cause is of in the split of an operation's time.
PARTS = {
    LOCK: "lock",
    LATCH: "latch",
    CPU: "run_queue",
    LOG: "disk_write",
    READS: "disk_read",
    CLIENT: "client",
}


def planted(name: str, share: float, clients: int = 8, at: str = "write row") -> ClientTime:
    """One client's time with a cause that is so much of it, on top of what it took alone."""
    added = ONE_S * share / (1 - share)
    time_fields: dict[str, Any] = {"clients": clients, "operation_s": ONE_S + added}
    if name == RETRIES:
        return replace(ONE, **time_fields, failed_s={"pay": added, "look": 0.0})
    statements = dict(ONE.statements) | {("pay", at): ONE.statements["pay", at] + added}
    if name == UNKNOWN:
        return replace(ONE, **time_fields, statements=statements)
    part = PARTS[name]
    causes = dict(ONE.causes) | {part: ONE.causes.get(part, 0.0) + added}
    return replace(ONE, **time_fields, causes=causes, statements=statements)


def limit(*after: ClientTime, knee_at: float | None = 4.0) -> ScalingLimit:
    times: dict[int, list[ClientTime]] = {1: [ONE]}
    for client_time in after:
        times.setdefault(client_time.clients, []).append(client_time)
    scaling_limit = limiting(times, knee_at)
    assert scaling_limit is not None
    return scaling_limit


@pytest.mark.parametrize("share", [0.3, 0.7])
@pytest.mark.parametrize("name", [RETRIES, *PARTS])
def test_a_cause_is_named_at_its_size(name: str, share: float) -> None:
    scaling_limit = limit(planted(name, share))
    assert scaling_limit.name == name
    added = ONE_S * share / (1 - share)
    assert scaling_limit.grown[0].longer_s == pytest.approx(added)
    before = sum(ONE.causes.get(part, 0.0) for part in [PARTS.get(name, "")])
    before += ONE.causes["cpu_user"] if name == CPU else 0.0
    assert scaling_limit.grown[0].share == pytest.approx((before + added) / (ONE_S + added))
    assert "100 % of what is more" in scaling_limit.claim


@pytest.mark.parametrize("name", [LOCK, LOG, CPU])
def test_the_statement_that_grew_is_named(name: str) -> None:
    scaling_limit = limit(planted(name, 0.7, at="read row"))
    assert scaling_limit.statement is not None
    assert scaling_limit.statement[:2] == ("pay", "read row")
    assert "most in statement read row of pay" in scaling_limit.claim


def test_of_conflicts_the_operation_that_is_made_again_is_named() -> None:
    scaling_limit = limit(planted(RETRIES, 0.6))
    assert scaling_limit.statement is not None
    assert scaling_limit.statement[:2] == ("pay", "")
    assert "most in pay (+1.5 ms" in scaling_limit.claim
    assert "60 % of a client's time" in scaling_limit.claim


@pytest.mark.parametrize("name", [LATCH, LOCK])
def test_a_wait_at_commits_is_one_for_other_commits(name: str) -> None:
    assert limit(planted(name, 0.7, at="commit")).name == COMMIT
    assert limit(planted(LOG, 0.7, at="commit")).name == LOG


@pytest.mark.parametrize("name", [RETRIES, *PARTS])
def test_below_the_noise_nothing_limits(name: str) -> None:
    scaling_limit = limit(planted(name, 0.05))
    assert scaling_limit.name is None
    assert scaling_limit.claim.startswith("nothing limits up to 8 clients")


def test_an_operation_that_takes_no_longer_is_limited_by_nothing() -> None:
    assert limit(replace(ONE, clients=8)).name is None


def test_what_was_not_measured_is_said_to_be_that() -> None:
    scaling_limit = limit(planted(UNKNOWN, 0.7))
    assert scaling_limit.name is None
    assert "what for was not measured; most in statement write row of pay" in scaling_limit.claim


def test_sessions_that_cannot_be_told_apart_still_have_their_conflicts() -> None:
    """As where threads serve whatever session has work: nothing is split but failed attempts."""
    alone = replace(ONE, causes={})
    scaling_limit = limiting({1: [alone], 8: [replace(planted(RETRIES, 0.8), causes={})]}, None)
    assert scaling_limit is not None
    assert scaling_limit.name == RETRIES
    slower = {("pay", "commit"): 3.3e-3}
    unsplit = replace(alone, clients=8, operation_s=4e-3, statements=dict(ONE.statements) | slower)
    at_commits = limiting({1: [alone], 8: [unsplit]}, None)
    assert at_commits is not None
    assert at_commits.name == COMMIT
    # Its share is that of the statement: what the rest of the time went into is not known.
    assert at_commits.grown[0].share == pytest.approx(3.3 / 4)
    assert [grown_cause.name for grown_cause in at_commits.grown] == [COMMIT, RETRIES, UNKNOWN]
    assert at_commits.grown[2].share == pytest.approx(0.7 / 4)


def test_rounds_that_were_not_split_are_left_out_where_others_were() -> None:
    scaling_limit = limit(planted(LOCK, 0.7), replace(planted(LOCK, 0.7), causes={}))
    assert scaling_limit.name == LOCK
    assert scaling_limit.grown[0].share == pytest.approx(0.7)


def test_no_cause_that_is_a_small_part_of_many_is_named_alone() -> None:
    parts = {"lock": 0.25e-3, "latch": 0.25e-3, "disk_read": 0.25e-3, "client": 0.35e-3}
    after = replace(ONE, clients=8, operation_s=2e-3, causes=dict(ONE.causes) | parts)
    assert limit(after).name is None


def test_rounds_give_an_interval_and_the_knee_its_share() -> None:
    rounds = [planted(LOCK, share) for share in (0.68, 0.70, 0.72)]
    scaling_limit = limit(planted(LOCK, 0.4, clients=4), *rounds)
    low, high = scaling_limit.grown[0].interval or (0.0, 0.0)
    assert low < 0.70 < high
    assert "; at the knee, with 4, it is 40 %" in scaling_limit.claim
    early = limit(planted(LOCK, 0.4, clients=4), *rounds, knee_at=20.0)
    assert "no knee is in the range" in early.claim


def test_who_had_the_cpus_is_said() -> None:
    busy = {"engine": 1.2, "driver": 1.9, "others": 0.8}
    claim = limit(replace(planted(CPU, 0.7), cores=busy)).claim
    assert "of 4 CPUs 3.9 were busy (all of them were busy)" in claim
    assert "the load generator takes more than the engine" in claim
    assert "what others took is part of it" in claim
    assert "all of them" not in limit(planted(LOCK, 0.7)).claim


def test_a_log_that_limits_says_how_busy_its_disk_was() -> None:
    client_time = replace(planted(LOG, 0.7), device_busy=0.97, flush_s=0.004)
    assert "the data's device was busy 97 %, a flush of it took 4 ms" in limit(client_time).claim


def test_one_number_of_clients_tells_nothing() -> None:
    assert limiting({4: [planted(LOCK, 0.7)]}, None) is None
