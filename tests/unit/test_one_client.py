"""Locks between the clients of a load are tried with one client alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.waiting import lock_wait
from assay.analysis.load.latency import Window, distribution
from assay.analysis.load.summary import LoadSummary, OperationLoad, Pace
from assay.analysis.load_plan import Load
from assay.analysis.try_.trial import times_for
from assay.engines.discovery import find_engine
from assay.model.blocker import Blocker
from assay.model.errors import UsageError
from assay.model.finding import Advice
from assay.record.reader import Run
from assay.running.asked.request import RunRequest
from assay.study.experiments.discovery import experiments
from assay.study.experiments.following import followed
from tests.cases import case, operation
from tests.loads import an_operation, closed, open_load, write_load
from tests.records import MS

OWN = Blocker(session=7, own=True, looks=9, share=1.0, object="ledger", mode="row")
OTHER = Blocker(session=8, own=False, looks=9, share=1.0, object="ledger", mode="row")
ONE_CLIENT = Advice("one-client", "clients")


def load(shape: str = "closed", clients: int = 4) -> LoadSummary:
    none = distribution(pl.Series([], dtype=pl.Int64))
    counted = OperationLoad(10, 10, 0, 0, 0, None, 1.0, none, none)
    asked = Load(shape, clients, 10.0 if shape == "open" else None, 10.0, None)
    return LoadSummary(asked, Window(0, 1), counted, {}, Pace(1.0, (1.0,), None), None)


def waiting(*seen: Blocker, queue: float = 0.1, **facts: Any) -> Case:
    """Clients that wait for locks for 60 % of their time."""
    split = operation(lock=0.6, run_queue=queue, cpu_user=0.4 - queue)
    return case(split, **{"blockers": seen, "load": load()} | facts)


@pytest.mark.parametrize("seen", [(OWN,), ()], ids=["seen", "not seen"])
def test_waits_for_locks_of_other_clients_can_be_tried(seen: tuple[Blocker, ...]) -> None:
    (finding,) = lock_wait.find(waiting(*seen))
    assert finding.advice == Advice("one-client", "clients", {}, pytest.approx(0.6))
    assert "runs one client alone, which shows what the waits cost" in (finding.to_try or "")


@pytest.mark.parametrize(
    "twin",
    [
        waiting(OTHER),
        waiting(OWN, load=load(clients=1)),
        waiting(OWN, load=load("open")),
        waiting(OWN, load=None),
        # One client alone would be faster because CPUs are idle then.
        waiting(OWN, queue=0.35),
        waiting(OWN, is_observed=True),
    ],
    ids=["another session", "one client", "open load", "no load", "queue for CPUs", "observed"],
)
def test_other_waits_for_locks_are_not_tried_with_one_client(twin: Case) -> None:
    (finding,) = lock_wait.find(twin)
    assert finding.advice is None
    assert "one client alone" not in (finding.to_try or "")


def test_the_run_is_the_same_with_one_client() -> None:
    request = RunRequest(workload="tpcc", engine="sqlite", scale=1, clients=8, time_s=1.0)
    changed = followed(request, ONE_CLIENT, find_engine("sqlite"))
    assert changed.text == "one client alone"
    assert changed.request == request.changed(clients=1)
    assert not experiments()["one-client"].stays


def test_a_run_without_clients_is_refused() -> None:
    request = RunRequest(workload="tpch", engine="sqlite", scale=1)
    with pytest.raises(UsageError, match="without clients"):
        followed(request, ONE_CLIENT, find_engine("sqlite"))


class TestTimes:
    """Four clients complete 100 operations of 80 ms in 2.06 s."""

    @pytest.fixture
    def crowd(self, tmp_path: Path) -> Run:
        events = [an_operation(n, n * 20 * MS, 0, 80 * MS, session=n % 4) for n in range(100)]
        return Run(write_load(tmp_path, closed(4), events, 2.0))

    def test_one_client_is_judged_by_what_an_operation_takes_its_client(self, crowd: Run) -> None:
        times = times_for(ONE_CLIENT, crowd)
        assert times.whole_s == pytest.approx(4 * 2.06 / 100)
        assert times.operations == pytest.approx({"select": 0.08, "update": 0.08})

    def test_other_changes_are_judged_by_throughput(self, crowd: Run) -> None:
        fewer = Advice("clients", "clients", {"value": "2"})
        assert times_for(fewer, crowd).whole_s == pytest.approx(2.06 / 100)
        assert times_for(None, crowd) == times_for(fewer, crowd)

    def test_of_an_open_load_it_stays_the_mean_latency(self, tmp_path: Path) -> None:
        events = [an_operation(n, n * 20 * MS, 3 * MS, 1 * MS) for n in range(100)]
        run = Run(write_load(tmp_path, open_load(50.0, 4), events, 2.0))
        assert times_for(ONE_CLIENT, run).whole_s == pytest.approx(0.004)
