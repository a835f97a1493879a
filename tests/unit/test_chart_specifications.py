"""Every chart of every kind of run is one that Vega-Lite takes: the page itself does not check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.record.reader import Run
from assay.report.charts.run import Charts
from assay.report.document import document
from assay.report.page.record import read_load, read_timeline
from tests.clusters import as_cluster
from tests.mixes import steady_run
from tests.records import write_run
from tests.sampled import as_sampled
from tests.servers import as_server
from tests.specified import write_test
from tests.traced import as_traced
from tests.unit.test_report_load import held

KINDS: dict[str, Callable[[Path], Path]] = {
    "power": write_run,
    "load": held,
    "test": write_test,
    "sampled": lambda runs: as_sampled(write_run(runs)),
    "traced": lambda runs: as_traced(write_run(runs)),
    "server": lambda runs: as_server(write_run(runs)),
    "mixes": steady_run,
    "cluster": lambda runs: as_cluster(write_run(runs)),
}


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Charts]:
    """The charts of one run of every kind."""
    runs = {kind: Run(write(tmp_path_factory.mktemp(kind))) for kind, write in KINDS.items()}
    return {
        kind: Charts(document(run, run.dir), read_timeline(run), read_load(run))
        for kind, run in runs.items()
    }


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_is_drawn_follows_the_schema(charts: dict[str, Charts], kind: str) -> None:
    of_kind = charts[kind]
    drawn = [name for name in of_kind.names if of_kind.why_empty(name) is None]
    assert drawn
    for name in drawn:
        assert of_kind[name].to_dict()["$schema"], name


def test_all_charts_are_among_them(charts: dict[str, Charts]) -> None:
    drawn = {name for of_kind in charts.values() for name in of_kind.names}
    assert drawn == set(Charts.NAMES)
