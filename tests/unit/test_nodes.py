"""A query by its nodes, of records whose counts are known: its work, and whether it is faster."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from assay.analysis.cluster.counters import totals_by_operation, totals_of_a_pass
from assay.analysis.cluster.nodes import shared_cores, workers_of
from assay.analysis.figures.contract import Asked, Figure
from assay.analysis.figures.discovery import make
from assay.analysis.scales.costs import SENT_BYTES, SENT_MESSAGES, costs_of
from assay.analysis.size.runs import measured_of
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.clusters import as_cluster
from tests.conftest import write_stream
from tests.records import write_run
from tests.studies import MadeStudy

if TYPE_CHECKING:
    from pathlib import Path


def _written(made: Path, workers: int, *, part: float = 1.0, here: bool = True) -> Path:
    """A run of so many workers, two of which count, in a part of the time."""
    directory = write_run(made)
    stream = directory / "raw" / "events.arrows"
    with pa.ipc.open_stream(stream) as reader:
        events: list[dict[str, Any]] = reader.read_all().to_pylist()
    for event in events:
        took_ns = event["finished_ns"] - event["started_ns"]
        event["finished_ns"] = event["started_ns"] + round(took_ns * part)
    write_stream(stream, events)
    as_cluster(directory, here=here)
    facts: dict[str, Any] = json.loads((directory / "run.json").read_text("utf-8"))
    nodes = facts["cluster"]["nodes"]
    like = nodes[-1]
    nodes += [like | {"name": f"worker-{at}"} for at in range(3, workers + 1)]
    facts["cluster"]["nodes"] = nodes[: workers + 1]
    write_json(directory / "run.json", facts)
    write_seal(directory)
    return directory


def _figure(tmp_path: Path, *, here: bool) -> Figure:
    made = MadeStudy(tmp_path)
    for number in (1, 2):
        for workers in (1, 2, 4):
            run = _written(tmp_path / "made", workers, part=1.0 / workers, here=here)
            made.add("cluster", {"set.workers": str(workers)}, run, number)
    return make(Asked("nodes", "nodes", "By nodes", tuple(made.studied)))


def _rows(figure: Figure, name: str) -> list[dict[str, Any]]:
    table = next(candidate for candidate in figure.tables if candidate.name == name)
    heads = [column.name for column in table.columns]
    return [dict(zip(heads, row, strict=True)) for row in table.rows]


def test_workers_that_share_cores_show_their_work_and_no_speed_up(tmp_path: Path) -> None:
    figure = _figure(tmp_path, here=True)
    rows = _rows(figure, "nodes")
    assert [row["nodes"] for row in rows] == [1, 2, 4]
    assert all(row["messages"] and row["bytes between nodes"] for row in rows)
    assert [row["speed-up"] for row in rows] == [None, None, None]
    assert any(
        "speed-up by nodes: not measured: 4 workers share" in sentence
        for sentence in figure.missing
    )
    assert not any(table.name == "law" for table in figure.tables)


def test_nodes_of_their_own_have_a_speed_up_and_a_law(tmp_path: Path) -> None:
    figure = _figure(tmp_path, here=False)
    assert [row["speed-up"] for row in _rows(figure, "nodes")] == [
        None,
        pytest.approx(2.0),
        pytest.approx(4.0),
    ]
    law = {row["quantity"]: row["value"] for row in _rows(figure, "law")}
    assert law["contention (sigma)"] == pytest.approx(0.0, abs=1e-6)
    assert any("4 times as fast" in sentence for sentence in figure.says)


def test_an_engine_without_nodes_is_one_server(tmp_path: Path) -> None:
    made = MadeStudy(tmp_path)
    made.add("single", {"engine": "duckdb"}, write_run(tmp_path / "made"))
    figure = make(Asked("nodes", "nodes", "By nodes", tuple(made.studied)))
    assert _rows(figure, "nodes")[0]["nodes"] == 1
    assert "on one server" in figure.says[0]


def test_what_nodes_send_is_among_the_costs_of_a_pass(tmp_path: Path) -> None:
    run = Run(_written(tmp_path / "made", 2))
    costs = costs_of(run)
    assert costs[SENT_BYTES].value == pytest.approx(4096 * costs[SENT_MESSAGES].value)
    assert len(workers_of(run)) == 2
    assert shared_cores(run) is not None


def test_where_nobody_read_around_the_only_operation_a_pass_is_what_it_counted(
    tmp_path: Path,
) -> None:
    directory = _written(tmp_path / "made", 2)
    stream = directory / "raw" / "events.arrows"
    with pa.ipc.open_stream(stream) as reader:
        events: list[dict[str, Any]] = reader.read_all().to_pylist()
    write_stream(
        stream, [event for event in events if event["operation"] == events[0]["operation"]]
    )
    (directory / "raw" / "engine-operations.arrows").unlink()
    write_seal(directory)
    run = Run(directory)
    ((name, counted),) = totals_by_operation(run).items()
    assert name == events[0]["operation"]
    assert counted == totals_of_a_pass(run)
    assert costs_of(run)[SENT_BYTES].value == counted["bytes"] > 0
    (taken,) = measured_of([run]).operations[name]
    assert taken.sent_bytes == counted["bytes"]


def test_costs_for_paper_are_those_of_the_nodes(tmp_path: Path) -> None:
    run = Run(_written(tmp_path / "made", 2))
    measurement = measured_of([run])
    assert measurement.nodes == 2
    assert measurement.skew == pytest.approx(1 / 0.75)
    sent = sum(
        copy.sent_bytes or 0.0 for taken in measurement.operations.values() for copy in taken
    )
    assert sent == pytest.approx(costs_of(run)[SENT_BYTES].value, rel=0.2)


def test_runs_of_several_engines_make_no_paper(tmp_path: Path) -> None:
    cluster = Run(_written(tmp_path / "cluster", 2))
    alone = Run(write_run(tmp_path / "alone"))
    with pytest.raises(ValueError, match="numbers of nodes"):
        measured_of([cluster, alone])
