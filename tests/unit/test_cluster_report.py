"""What people and programs see of a cluster: terminal, page, document, chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.record.reader import Run
from assay.report.charts.run import Charts
from assay.report.document import document
from assay.report.terminal.cluster import cluster_lines, operation_lines
from assay.report.words.cluster import barrier_words
from tests.clusters import as_cluster
from tests.loads import an_operation, closed, write_load
from tests.records import MS, write_run
from tests.unit.test_report_document import document_of
from tests.unit.test_report_html import charts_of, page_of
from tests.unit.test_report_terminal import rendered

WIDTH = 100


def made(tmp_path: Path, **more: Any) -> Path:
    return as_cluster(write_run(tmp_path), **more)


def lines(directory: Path) -> str:
    return "\n".join(cluster_lines(document_of(directory), WIDTH))


class TestTerminal:
    def test_the_line_of_all_nodes_and_one_of_each(self, tmp_path: Path) -> None:
        text = rendered(document_of(made(tmp_path)), width=WIDTH)
        assert "  Cluster 3 nodes, 2.5 s. 1.5K m/s 6K KB/s 130% cpu" in text
        assert "    worker-1: 1K m/s 4K KB/s 80% cpu" in text
        assert "  skew: CPU time 1.33 times the mean on worker-1" in text

    def test_explain_has_operations_seconds_and_what_is_not_measured(self, tmp_path: Path) -> None:
        text = lines(made(tmp_path))
        assert "Workers: 100 % cpu is one core, and the nodes may use 2: 200 %" in text
        assert "q01, one execution\n  Cluster 3 nodes, 0.4 s. 1.5K m/s" in text
        assert " s  Cluster 3 nodes, 0.5 s. 1.5K m/s" in text
        assert "messages: pages fetched from another worker" in text
        assert "  rows: not measured: it does not tell" in text

    def test_an_operation_has_its_own(self, tmp_path: Path) -> None:
        lines = list(operation_lines(document_of(made(tmp_path)), "q03", WIDTH))
        assert lines[0].startswith("Cluster 3 nodes, 0.2 s. 1.5K m/s")
        assert list(operation_lines(document_of(write_run(tmp_path / "b")), "q03", WIDTH)) == []

    @pytest.mark.parametrize(
        ("barriers", "message"),
        [
            ({"missing": "elsewhere"}, "barriers: not measured: elsewhere"),
            ({"missing": None, "lost_share": None}, "long enough"),
            ({"missing": None, "lost_share": 0.0, "count": 0}, "barriers: none"),
        ],
    )
    def test_barriers_that_are_not_there_say_so(self, barriers: Any, message: str) -> None:
        assert message in barrier_words(barriers)[0]

    def test_another_engine_has_no_lines(self, tmp_path: Path) -> None:
        assert lines(write_run(tmp_path)) == ""


class TestPage:
    def test_it_has_the_line_its_operations_and_the_chart(self, tmp_path: Path) -> None:
        directory = made(tmp_path)
        page = page_of(directory)
        assert 'id="cluster-line">Cluster 3 nodes, 2.5 s. 1.5K m/s' in page
        assert "\nworker-2: 500 m/s" in page
        assert "q02  Cluster 3 nodes, 0.1 s." in page
        assert "q01, skew: CPU time 1.33 times the mean on worker-1" in page
        assert "cluster" in charts_of(page)

    def test_findings_lead_to_it(self, tmp_path: Path) -> None:
        directory = made(tmp_path)
        waits = [
            finding
            for finding in document_of(directory)["findings"]
            if finding["method"] == "node-waits"
        ]
        assert waits[0]["effect_share"] == pytest.approx(0.15)
        assert "--vary exchange.batch=64kB,16MB" in waits[0]["to_try"]
        assert 'href="#cluster"' in page_of(directory)

    def test_a_page_of_another_engine_has_no_such_section(self, tmp_path: Path) -> None:
        assert 'id="cluster"' not in page_of(write_run(tmp_path))


class TestChart:
    def chart(self, directory: Path) -> dict[str, Any]:
        run = Run(directory)
        specification: dict[str, Any] = Charts(document(run, directory), None).cluster.to_dict()
        return specification

    def test_has_a_panel_a_figure(self, tmp_path: Path) -> None:
        assert len(self.chart(made(tmp_path))["vconcat"]) == 4

    def test_without_counters_it_has_cores_alone(self, tmp_path: Path) -> None:
        specification = self.chart(made(tmp_path, declared={"counters": []}))
        assert len(specification["vconcat"]) == 1

    def test_of_nodes_elsewhere_it_has_what_they_count(self, tmp_path: Path) -> None:
        assert len(self.chart(made(tmp_path, here=False))["vconcat"]) == 3

    def test_bands_are_where_barriers_of_a_load_are(self, tmp_path: Path) -> None:
        def cores(node: str, second: float) -> float:
            return 0.0 if node == "coordinator" else 0.9 if round(second % 1, 3) < 0.65 else 0.05

        rows = [an_operation(number, number * MS, 0, MS // 2) for number in range(4_000)]
        directory = as_cluster(write_load(tmp_path, closed(1), rows, 4.0), cores=cores)
        specification = self.chart(directory)
        name = specification["vconcat"][0]["layer"][0]["data"]["name"]
        bands = specification["datasets"][name]
        assert [round(band["ended_s"] - band["begun_s"], 3) for band in bands] == [0.3] * 3
        by_method = {finding["method"]: finding for finding in document_of(directory)["findings"]}
        assert by_method["barriers"]["effect_share"] == pytest.approx(0.9 / 4, abs=0.03)
        assert "--operation" not in by_method["barriers"]["to_try"]
