"""BSBM on Virtuoso as a person asks for it: mixes, meters by operation, plans of requests."""

from __future__ import annotations

from pathlib import Path

from assay.analysis.counters.activity import activity_between
from assay.analysis.counters.index_work import Span, index_work
from assay.analysis.operations import window_ns
from assay.record.reader import Run
from tests.e2e.conftest import Lab
from tests.e2e.test_virtuoso import laboratory, place

__all__ = ("laboratory", "place")
RUN = ["run", "bsbm", "--engine", "virtuoso", "--scale", "50", "--set", "NumberOfBuffers=20000"]
FEW = ["--warmup-mixes", "1", "--mixes", "3"]


def test_mixes_are_played_and_its_meters_told(laboratory: Lab) -> None:
    document = laboratory.document(*RUN, *FEW)
    outcomes = {check["check"]: check["verdict"] for check in document["checks"]}["outcomes"]
    assert outcomes == "valid"
    assert {"q1", "q12"} <= {operation["name"] for operation in document["operations"]}
    counted = document["engine_counters"]
    activity = counted["activity"]
    assert activity["missing"] is None
    assert activity["counted"]["rnd"] > 0
    assert activity["operations"], "one client's operations follow one another"
    assert {"RDF_QUAD", "RDF_OBJ"} <= {row["object"] for row in counted["index_work"]}
    names = [table["name"] for table in counted["tables"]]
    assert names == ["indexes", "indexes-first", "indexes-rest"]
    plans = [row for some in document["plans"].values() for row in some]
    assert any(plan["planning_s"] for plan in plans)
    run = Run(Path(document["path"]))
    window = window_ns(run.table("events"))
    assert window is not None
    assert activity_between(run, Span(*window)) == activity["counted"]
    assert index_work(run, Span(*window))
    stdout = laboratory.assay("show", "latest").stdout
    assert "activity" in stdout
    page = laboratory.page(document)
    assert 'id="counter:activity"' in page
