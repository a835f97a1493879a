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


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_is_drawn_follows_the_schema(tmp_path: Path, kind: str) -> None:
    directory = KINDS[kind](tmp_path)
    run = Run(directory)
    charts = Charts(document(run, directory), read_timeline(run), read_load(run))
    drawn = [name for name in charts.names if charts.why_empty(name) is None]
    assert drawn
    for name in drawn:
        assert charts[name].to_dict()["$schema"], name


def test_all_charts_are_among_them(tmp_path: Path) -> None:
    drawn = set()
    for kind, write in KINDS.items():
        run = Run(write(tmp_path / kind))
        drawn |= set(Charts(document(run, run.dir), read_timeline(run), read_load(run)).names)
    assert drawn == set(Charts.NAMES)
