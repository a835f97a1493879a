"""Figures of a query that reads from a disk: over time, beside the disk, and what bounds it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.ablation.bound import bound_by
from assay.analysis.ablation.removed import Removal
from assay.analysis.ceiling.trials import Estimate, read_ceiling
from assay.analysis.figures.contract import Asked, Figure
from assay.analysis.figures.discovery import make
from assay.analysis.figures.subjects import briefly, subjects_of
from assay.analysis.host.roofline import Placed, Reads, place
from assay.analysis.study_runs import StudyRun
from assay.analysis.try_.trial import Gain
from assay.record.reader import Run
from assay.report.study.charts import chart_rows, charts_of
from tests.disk_runs import Reading, write_ceiling, write_reading

COMPUTATION = {"remove": ["computation"]}


@pytest.fixture
def ceilings(tmp_path: Path) -> tuple[StudyRun, ...]:
    return (StudyRun("disk", {}, 1, Run(write_ceiling(tmp_path / "ceiling"))),)


def added(runs: Path, name: str, number: int, reading: Reading) -> StudyRun:
    run = write_reading(runs, reading, f"20261122T10000{number}Z-{name.replace(' ', '-')}")
    return StudyRun(name, {"change": name}, number, Run(run))


def by_elimination(runs: Path, removed_s: float = 0.98, rounds: int = 3) -> tuple[StudyRun, ...]:
    """A query as it is, without its computation, and without read-ahead, in rounds."""
    made: list[StudyRun] = []
    for number in range(1, rounds + 1):
        drift = 1 + 0.01 * number
        plain = Reading(drift)
        removed = Reading(removed_s * drift, request=COMPUTATION)
        twice = {"read_ahead_bytes": 0}
        halved = Reading(1.8 * drift, reads=20_000, size_bytes=4096, request=twice)
        for name, reading in {"as it is": plain, "no computing": removed, "halved": halved}.items():
            made.append(added(runs, name, number, reading))
    return tuple(made)


def drawn(kind: str, runs: tuple[StudyRun, ...], ceilings: tuple[StudyRun, ...] = ()) -> Figure:
    return make(Asked(kind, kind, "A title", runs, {}, ceilings))


def as_document(figure: Figure) -> dict[str, Any]:
    """As a study's document has a figure, with what an article has beside it."""
    row = {"key": "4 KiB random", "article": 4564.31, "article_times": None, "unit": "/s"}
    compared = [row | {"title": "4 KiB random", "ours": {}, "base": None, "our_times": None}]
    return asdict(figure) | {"article": {"compared": compared}}


def drawn_rows(figure: Figure) -> list[dict[str, Any]]:
    """What the figure's one chart draws; it is made, too."""
    document = as_document(figure)
    (chart,) = document["charts"]
    assert len(charts_of(document)) == 1
    return chart_rows(document, chart)


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Figure:
    """One round over time, to be looked at and left as it is."""
    return drawn("series", by_elimination(tmp_path_factory.mktemp("series"), rounds=1))


class TestSeries:
    def test_an_operation_as_a_whole_in_iostats_words(self, series: Figure) -> None:
        values = {measure.key: measure.values["as it is"].middle for measure in series.measures}
        assert values["reads"] == pytest.approx(10_000, rel=0.01)
        assert values["iops"] == pytest.approx(10_000 / 1.01, rel=0.01)
        assert values["io_size"] == pytest.approx(8192)
        assert values["mbps"] == pytest.approx(10_000 * 8192 / 1.01 / 1e6, rel=0.01)
        assert values["iowait"] == pytest.approx(0.25, abs=0.02)
        assert series.says[0].startswith("As it is: 1.01 s; reads at 9,900/s of 8 KiB")
        assert not series.missing

    def test_a_row_a_sample_around_the_query(self, series: Figure) -> None:
        table = next(candidate for candidate in series.tables if candidate.name == "over time")
        own = [row for row in table.rows if row[0] == "as it is"]
        assert [row[1] for row in own] == pytest.approx([0.1 * n for n in range(-1, 12)])
        names = [column.name for column in table.columns]
        assert own[5][names.index("reads/s")] == pytest.approx(10_000 / 1.01, rel=0.01)
        assert own[5][names.index("KiB a read")] == pytest.approx(8.0)

    def test_the_middle_round_is_drawn_and_said(self, tmp_path: Path) -> None:
        drift = {1: 1.01, 2: 1.02, 3: 1.03}
        runs = tuple(
            added(tmp_path, "as it is", number, Reading(times)) for number, times in drift.items()
        )
        figure = drawn("series", runs)
        assert any("as it is: 2" in note for note in figure.notes)

    def test_its_charts_are_made(self, series: Figure) -> None:
        charts = charts_of(as_document(series))
        assert list(charts) == ["series-cpu", "series-iops", "series-mbps", "series-io_size"]
        assert len(charts["series-cpu"].to_dict()["concat"]) == 3

    def test_a_run_whose_disk_nobody_watched_says_so(self, tmp_path: Path) -> None:
        run = write_reading(tmp_path, Reading())
        (run / "raw" / "disks.arrows").unlink()
        figure = drawn("series", (StudyRun("a", {}, 1, Run(run)),))
        assert figure.missing


class TestReadSizes:
    def test_each_size_both_ways_and_what_is_hidden(self, ceilings: tuple[StudyRun, ...]) -> None:
        figure = drawn("read_sizes", (), ceilings)
        page = figure.measure("8 KiB random")
        assert page is not None
        assert page.values["this disk"].middle == pytest.approx(1.02 / 88.192e-6, rel=0.001)
        assert (
            len([measure for measure in figure.measures if measure.key.endswith(" sequential")])
            == 13
        )
        assert "5.0 times that" in figure.says[0]
        assert figure.says[1].endswith("of that size, 1 x as many as at random.")
        assert any("may not be the medium" in note for note in figure.notes)

    def test_the_article_is_a_curve_beside_ours(self, ceilings: tuple[StudyRun, ...]) -> None:
        values = drawn_rows(drawn("read_sizes", (), ceilings))
        theirs = [row for row in values if row["curve"] == "the article: random"]
        assert [(row["x"], row["y"]) for row in theirs] == [(4096, 4564.31)]


class TestRoofline:
    def test_reads_are_placed_between_measured_sizes(self, ceilings: tuple[StudyRun, ...]) -> None:
        placed = place(Reads(8192, 11_000, 0.9), read_ceiling(ceilings[0].run))
        assert placed.depth == 1
        assert placed.share == pytest.approx(11_000 / (1.02 / 88.192e-6), rel=0.001)
        assert placed.more_at_once == pytest.approx(5.0, rel=0.001)
        assert placed.is_at_ceiling
        low, high = placed.share_interval or (0.0, 0.0)
        assert low < placed.share < high

    def test_many_at_once_are_held_against_as_many(self, ceilings: tuple[StudyRun, ...]) -> None:
        placed = place(Reads(8192, 11_000, 16.0), read_ceiling(ceilings[0].run))
        assert placed.depth == 16
        assert placed.share == pytest.approx(11_000 / (5 * 1.02 / 88.192e-6), rel=0.001)

    def test_what_nobody_measured_is_no_share(self, ceilings: tuple[StudyRun, ...]) -> None:
        placed = place(Reads(64 << 20, 10.0), read_ceiling(ceilings[0].run))
        assert (placed.share, placed.share_interval, placed.is_at_ceiling) == (None, None, None)

    def test_each_run_is_a_point(self, tmp_path: Path, ceilings: tuple[StudyRun, ...]) -> None:
        figure = drawn("roofline", by_elimination(tmp_path), ceilings)
        values = drawn_rows(figure)
        assert len([row for row in values if row["drawn"] == "point"]) == 9
        assert "of what this disk gives of that size at random, one at a time" in figure.says[0]
        assert any("not how many the disk can do" in sentence for sentence in figure.says)

    def test_how_contiguous_reads_were_is_told_of_a_trace(
        self, tmp_path: Path, ceilings: tuple[StudyRun, ...]
    ) -> None:
        figure = drawn("roofline", (added(tmp_path, "a", 1, Reading(sequential=4)),), ceilings)
        assert any(sentence.startswith("Of its reads 39 % begin where") for sentence in figure.says)
        (shares,) = (table for table in figure.tables if table.name == "contiguity")
        assert shares.rows[0][2] == pytest.approx(39 / 99)
        assert not figure.missing

    def test_without_a_trace_it_says_so(
        self, tmp_path: Path, ceilings: tuple[StudyRun, ...]
    ) -> None:
        figure = drawn("roofline", (added(tmp_path, "a", 1, Reading()),), ceilings)
        assert "were not traced" in figure.missing[0]

    def test_what_others_read_is_not_the_querys(
        self, tmp_path: Path, ceilings: tuple[StudyRun, ...]
    ) -> None:
        quiet = added(tmp_path, "quiet", 1, Reading(own_share=0.95, sequential=4))
        busy = added(tmp_path, "busy", 2, Reading(own_share=0.6, sequential=4))
        figure = drawn("roofline", (quiet, busy), ceilings)
        assert [row[0] for row in figure.tables[0].rows] == ["quiet"]
        assert any("40 % of what the device read" in sentence for sentence in figure.missing)
        assert any("busy, round 2" in note for note in drawn("series", (quiet, busy)).notes)

    def test_without_a_look_at_the_disk_it_says_so(self, tmp_path: Path) -> None:
        figure = drawn("roofline", by_elimination(tmp_path, rounds=1))
        assert "kind ceiling has no run" in figure.missing[0]


class TestVerdict:
    def test_no_difference_without_computing_is_the_disk(
        self, tmp_path: Path, ceilings: tuple[StudyRun, ...]
    ) -> None:
        figure = drawn("verdict", by_elimination(tmp_path), ceilings)
        assert figure.says[0].startswith(
            "Bound by the disk: without its computation the query takes 1.00 s and with it 1.02 s"
            " (2.0 % less [-2.0 %, -2.0 %])"
        )
        assert "waits for each" in figure.says[1]
        assert "no ablation of read-ahead alone" in figure.says[2]
        assert not figure.missing

    def test_half_of_the_time_is_computing(
        self, tmp_path: Path, ceilings: tuple[StudyRun, ...]
    ) -> None:
        figure = drawn("verdict", by_elimination(tmp_path, removed_s=0.4), ceilings)
        assert figure.says[0].startswith("Bound by its computation: ")

    def test_one_round_is_not_sure(self, tmp_path: Path, ceilings: tuple[StudyRun, ...]) -> None:
        figure = drawn("verdict", by_elimination(tmp_path, rounds=1), ceilings)
        assert "its certainty is unknown" in figure.says[0]

    def test_what_lacks_is_said(self, tmp_path: Path) -> None:
        figure = drawn("verdict", (added(tmp_path, "as it is", 1, Reading()),))
        assert "not run without its computation" in figure.says[0]
        assert len(figure.missing) == 2

    def test_nothing_as_it_is_is_nothing_to_compare_with(self, tmp_path: Path) -> None:
        alone = added(tmp_path, "no computing", 1, Reading(request=COMPUTATION))
        assert "nothing to compare with" in drawn("verdict", (alone,)).missing[0]


def removal(share: float, interval: tuple[float, float] | None, **more: Any) -> Removal:
    gain = Gain(1.0, 1 - share, share, interval)
    return Removal("q01", ("computation",), "all", (), gain, **more)


def at(share: float) -> Placed:
    return Placed(Reads(8192, share), 1, Estimate(1.0, None, None, 1), None, None)


@pytest.mark.parametrize(
    ("without", "placed", "by"),
    [
        (removal(0.02, (-0.01, 0.05)), at(0.95), "the disk"),
        (removal(0.02, (-0.01, 0.05)), at(0.3), "reading"),
        (removal(0.02, (-0.01, 0.05)), None, "reading"),
        (removal(0.3, (0.25, 0.35)), at(0.95), "both"),
        (removal(0.6, (0.55, 0.65)), at(0.3), "its computation"),
        (removal(0.05, (-0.9, 0.9)), at(0.95), None),
        (removal(-0.22, (-1.89, 0.49)), at(0.95), None),
        (removal(0.2, (-0.05, 0.4)), at(0.3), None),
        (removal(0.02, None, differs=("another scan",)), at(0.95), None),
        (None, at(0.95), None),
    ],
)
def test_what_bounds_it(without: Removal | None, placed: Placed | None, by: str | None) -> None:
    bound = bound_by(without, placed)
    assert bound.by == by
    assert (bound.reason is None) == (by is not None)


def test_names_lose_the_words_that_all_of_them_have(tmp_path: Path) -> None:
    asked = Asked("x", "series", "x", by_elimination(tmp_path, rounds=1))
    assert [subject.name for subject in briefly(subjects_of(asked))] == [
        "as it is",
        "no computing",
        "halved",
    ]
    (alone,) = briefly(subjects_of(Asked("x", "series", "x", asked.runs[:1])))
    assert alone.name == "DuckDB as it is"
