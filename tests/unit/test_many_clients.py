"""Clients that wait for each other's CPU time, and loads whose clients do not."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.client import many_clients
from assay.analysis.host.accounts import Accounts
from assay.analysis.load.latency import Window, distribution
from assay.analysis.load.summary import LoadSummary, OperationLoad, Pace
from assay.analysis.load_plan import Load
from tests.cases import case, operation, passes

WINDOW_S, CPUS = 10.0, 2


def crowd(
    clients: int = 20,
    background_s: float = 0.0,
    idle_s: float = 0.0,
    rate: float | None = None,
    **where: float,
) -> Case:
    """Clients that queue for two CPUs; by default each is on one for a tenth of its time."""
    parts = where or {"run_queue": 0.88, "cpu_user": 0.09, "client": 0.03}
    none = distribution(pl.Series([], dtype=pl.Int64))
    counted = OperationLoad(10, 10, 0, 0, 0, None, 1.0, none, none)
    asked = Load("open" if rate else "closed", clients, rate, WINDOW_S, None)
    of = LoadSummary(asked, Window(0, 1), counted, {}, Pace(1.0, (1.0,), None), None)
    engine_s = WINDOW_S * CPUS - background_s - idle_s
    busy_s = engine_s + background_s
    accounts = Accounts(WINDOW_S, CPUS, {"engine": engine_s}, busy_s, idle_s, None)
    times = passes({"q1": [WINDOW_S] * clients})
    return case(operation(**parts), load=of, accounts=accounts, executions=times, cores=CPUS)


def test_the_number_of_clients_that_is_enough_is_told() -> None:
    (finding,) = many_clients.find(crowd())
    assert finding.effect_share == pytest.approx(0.88)
    assert finding.tells == "shape"
    assert "20 clients compute on 2 CPUs" in finding.claim
    assert finding.to_try == "use --clients 3, or more CPUs"


@pytest.mark.parametrize(
    "quiet",
    [
        # CPUs are idle, operations begin by a schedule, or others have the CPUs.
        crowd(idle_s=4.0),
        crowd(rate=100.0),
        crowd(clients=2, background_s=17.0),
        # Few wait, or no fewer clients are enough: they wait for something else most of the time.
        crowd(clients=4, run_queue=0.4, cpu_user=0.6),
        crowd(clients=20, run_queue=0.6, cpu_user=0.02, lock=0.38),
        replace(crowd(), pinned={"engine": 1}),
        replace(crowd(), load=None),
    ],
)
def test_its_twins_are_silent(quiet: Case) -> None:
    assert many_clients.find(quiet) == []
