"""Figures of clusters on records whose counts are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.analysis.figures.contract import Asked, Figure
from assay.analysis.figures.discovery import make
from assay.analysis.stats.variance import coefficient_of_variation
from assay.analysis.study_runs import StudyRun
from assay.record.reader import Run
from tests.clusters import as_cluster
from tests.conftest import BEGUN_NS, SyntheticRun, an_event
from tests.records import write_run


def runs(tmp_path: Path) -> tuple[StudyRun, ...]:
    """Two workers in two rounds, and one server."""
    each = [as_cluster(write_run(tmp_path / str(number))) for number in (1, 2)]
    cluster = [
        StudyRun("q", {"set.workers": "2"}, number, Run(directory))
        for number, directory in enumerate(each, start=1)
    ]
    alone = StudyRun("q", {"set.workers": "none"}, 1, Run(write_run(tmp_path / "alone")))
    return (*cluster, alone)


def figure(of: tuple[StudyRun, ...], kind: str, **options: Any) -> Figure:
    return make(Asked("f", kind, "Title", of, options))


def table(made: Figure, name: str) -> list[dict[str, Any]]:
    candidate = next(result_table for result_table in made.tables if result_table.name == name)
    heads = [column.name for column in candidate.columns]
    return [dict(zip(heads, row, strict=True)) for row in candidate.rows]


class TestCluster:
    def test_a_block_of_rows_for_each_subject(self, tmp_path: Path) -> None:
        made = figure(runs(tmp_path), "cluster")
        rows = table(made, "cluster")
        assert [row["node"] for row in rows] == [
            "cluster of 3 nodes",
            "coordinator",
            "worker-1",
            "worker-2",
            "one server",
        ]
        whole = rows[0]
        assert whole["messages"] == pytest.approx(1500)
        assert whole["KB a second"] == pytest.approx(6000)
        assert whole["waiting for another node, %"] == pytest.approx(15)
        assert rows[-1]["messages"] is None
        assert table(made, "lines")[-1]["line"].startswith("One server, 0.4 s. 90% cpu")
        assert rows[-1]["CPU, % of a core"] == pytest.approx(90)

    def test_its_measures_have_keys_that_an_article_can_name(self, tmp_path: Path) -> None:
        made = figure(runs(tmp_path), "cluster")
        name = made.subjects[0]
        values = {
            measure.key: measure.values[name].middle
            for measure in made.measures
            if name in measure.values
        }
        assert values["seconds"] == pytest.approx(0.4)
        assert values["messages"] == pytest.approx(1500)
        assert values["2 messages"] == pytest.approx(500)
        assert values["waiting"] == pytest.approx(0.15)
        assert values["message"] == 4096
        assert values["first seconds"] == pytest.approx(0.6)
        assert values["later seconds"] == pytest.approx(0.4)
        assert {measure.key for measure in made.measures if made.subjects[1] in measure.values} == {
            "seconds",
            "cpu",
            "first seconds",
            "later seconds",
            "variability",
        }

    def test_another_operation_can_be_asked_for(self, tmp_path: Path) -> None:
        made = figure(runs(tmp_path), "cluster", operation="q02")
        measure = made.measure("seconds")
        assert measure is not None
        assert measure.values[made.subjects[0]].middle == pytest.approx(0.1)

    def test_it_says_what_is_uneven_and_what_varies(self, tmp_path: Path) -> None:
        made = figure(runs(tmp_path), "cluster")
        said = " ".join(made.says)
        assert "1,500/s messages of 4" in said
        assert "90 % of a core of at most 200 %" in said
        assert "is uneven: CPU time 1.33 times the mean on worker-1" in said
        assert "the first execution took 600 ms, 1.5 x a later one; later ones deviate by" in said
        assert "more than 5.0 %" in said
        assert made.missing == (f"{made.subjects[1]} is one server: it sends itself no messages",)

    def test_rounds_stand_beside_each_other(self, tmp_path: Path) -> None:
        (first, *_) = table(figure(runs(tmp_path), "cluster"), "variability")
        assert (first["executions"], first["rounds"]) == (6, 2)
        assert first["medians of rounds apart"] == 0

    def test_what_was_not_counted_is_missing_and_why(self, tmp_path: Path) -> None:
        silent = Run(as_cluster(write_run(tmp_path), declared={"counters": []}))
        made = figure((StudyRun("q", {}, 1, silent),), "cluster")
        (sentence,) = made.missing
        assert sentence.endswith("not measured: the engine declares no counters of nodes")

    def test_one_execution_deviates_from_nothing(self) -> None:
        assert coefficient_of_variation([1.0]) is None
        assert coefficient_of_variation([1.0, 1.0]) == 0
        assert coefficient_of_variation([1.0, 3.0]) == pytest.approx(2**0.5 / 2)


class TestBarriers:
    def run(self, synthetic: SyntheticRun, **more: Any) -> StudyRun:
        synthetic.events = [an_event(0, "a", BEGUN_NS, 8000)]
        synthetic.write()
        return StudyRun("q", {"set.workers": "2"}, 1, Run(as_cluster(synthetic.dir, **more)))

    def test_the_share_that_is_lost_and_where(self, synthetic: SyntheticRun) -> None:
        def cores(node: str, second: float) -> float:
            at_work = round(second % 1.0, 3) < 0.65 or second < 1 or second > 8.65
            return {"coordinator": 0.0}.get(node, 0.9 if at_work else 0.05)

        made = figure((self.run(synthetic, cores=cores),), "barriers", rows=3)
        lost = made.measure("lost")
        assert lost is not None
        assert lost.values[made.subjects[0]].middle == pytest.approx(0.25, abs=0.02)
        assert len(table(made, "barriers")) == 3
        over_time = table(made, "over time")
        assert {row["in barriers"] for row in over_time} == {"", "yes"}
        assert max(row["cores"] for row in over_time) == pytest.approx(1.8)
        assert [chart.name for chart in made.charts] == ["lost", "cores"]
        assert "7 barriers took 25 % of the time" in made.says[0]

    def test_a_steady_cluster_has_none(self, synthetic: SyntheticRun) -> None:
        made = figure((self.run(synthetic),), "barriers")
        assert "no barriers; 65 % of the platform's cores were busy" in made.says[0]

    def test_subjects_without_say_why(self, tmp_path: Path) -> None:
        made = figure(runs(tmp_path), "barriers")
        assert made.says == ()
        assert "ten samples" in made.missing[0]
        assert "one server" in made.missing[1]
