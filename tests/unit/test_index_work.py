"""Meters of look-ups and of indexes, of a made-up engine whose counts are known."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from assay.analysis.counters.activity import (
    activity_between,
    activity_by_operation,
    activity_document,
    activity_facts,
    why_no_activity,
)
from assay.analysis.counters.index_work import (
    IndexWork,
    Span,
    index_facts,
    index_work,
    of_readings,
    share_of_reads,
)
from assay.analysis.figures.contract import Asked
from assay.analysis.figures.discovery import make
from assay.analysis.load.parts import parts, tables_apart
from assay.analysis.operations import window_ns
from assay.analysis.study_runs import StudyRun
from assay.probes.streams import ENGINE, ENGINE_OPERATIONS, ENGINE_STATUS, Stream
from assay.record.reader import Run
from tests.conftest import BEGUN_NS, S, SyntheticRun

ACTIVITY = {
    "title": "what it looked up",
    "source": "web",
    "counters": {"rnd": "random", "seq": "next", "same pg": "near", "fork": "threads"},
    "missing": "it was asked over connections",
}
INDEX_WORK = {
    "source": "indexes",
    "touches": "touches",
    "reads": "reads",
    "buffers": "held",
    "without": ["all"],
    "holds": {"literals": ["texts"], "quads": ["triples.by_object", "triples"]},
}
TABLE = {
    "name": "indexes",
    "title": "of the measured part",
    "source": "indexes",
    "object": "index",
    "without": ["all"],
    "order": "reads",
    "apart": "of a part",
    "columns": [
        {"counter": "touches", "title": "TOUCHES", "unit": "rows"},
        {"counter": "reads", "title": "READS", "unit": "pages"},
        {"counter": "held", "title": "HELD", "unit": "pages", "kind": "gauge"},
    ],
}
DECLARED = {"activity": ACTIVITY, "index_work": INDEX_WORK, "counters": [], "tables": [TABLE]}
# What each index does in a second: rows found, and pages read while memory fills, and later.
EACH_S = {"texts": (100, 60, 6), "triples": (5000, 10, 1), "triples.by_object": (9000, 0, 0)}
FILLS_S = 2


def reads_by(second: int, filling: int, later: int) -> float:
    return filling * min(second, FILLS_S) + later * max(0, second - FILLS_S)


def counted(synthetic: SyntheticRun, declared: Any = DECLARED) -> Run:
    """A run with readings from a second before its warm-up to its end."""
    run = synthetic.write()
    with Stream(run.dir / "raw", "engine", ENGINE) as stream:
        for second in range(8):
            time_ns = BEGUN_NS + (second - 4) * S
            for index, (rows, filling, later) in EACH_S.items():
                stream.push(time_ns, "indexes", index, "touches", float(rows * second))
                pages = reads_by(second, filling, later)
                stream.push(time_ns, "indexes", index, "reads", pages)
                if second in (2, 5):
                    stream.push(time_ns, "indexes", index, "held", 10.0 * second)
            stream.push(time_ns, "indexes", "all", "touches", 1e9)
            for counter, each_s in (
                ("random", 1000),
                ("next", 2000),
                ("near", 770),
                ("threads", 3),
            ):
                stream.push(time_ns, "web", "web", counter, float(each_s * second))
    with Stream(run.dir / "raw", "engine-operations", ENGINE_OPERATIONS) as stream:
        for event in synthetic.events:
            for edge, factor in (("start", 0.0), ("end", 1.0)):
                about = (event["sequence"], edge, event["started_ns"], "web", "web")
                stream.push(*about, "random", 12_345.0 * factor)
    run.facts["engine"] = run.facts.get("engine", {}) | {"counters": declared}
    return run


SECONDS_2_TO_4 = Span(BEGUN_NS - 2 * S, BEGUN_NS)


class TestIndexes:
    def test_what_was_done_to_each_between_two_instants(self, synthetic: SyntheticRun) -> None:
        indexes = index_work(counted(synthetic), SECONDS_2_TO_4)
        assert indexes == (
            IndexWork("texts", 200.0, 12.0, 20.0, "literals"),
            IndexWork("triples", 10_000.0, 2.0, 20.0, "quads"),
            IndexWork("triples.by_object", 18_000.0, 0.0, 20.0, "quads"),
        )
        assert [index.name for index in indexes] == ["texts", "triples", "by_object"]
        assert indexes[0].missed == pytest.approx(0.06)
        assert share_of_reads(indexes, "literals") == pytest.approx(12 / 14)
        assert share_of_reads(indexes, "literals", "quads") == 1

    def test_how_the_engine_stood_at_the_edges_is_a_look_at_its_pool(
        self, synthetic: SyntheticRun
    ) -> None:
        run = counted(synthetic)
        begun, ended = window_ns(run.table("events")) or (0, 0)
        with Stream(run.dir / "raw", "engine-status", ENGINE_STATUS) as stream:
            for edge, time_ns, held in (("start", begun, 31.0), ("end", ended + S, 62.0)):
                stream.push(edge, time_ns, "indexes", "triples", "held", held)
        before, whole = Span(begun - 2 * S, begun), Span(begun - 2 * S, ended)
        each = [
            {index.object: index.buffers for index in index_work(run, span) or ()}
            for span in (before, whole)
        ]
        assert [row["triples"] for row in each] == [31.0, 62.0]
        assert each[1]["texts"] is None
        table_rows = [table["rows"] for table in tables_apart(run)]
        held = [{row["object"]: row["values"][2] for row in rows} for rows in table_rows]
        assert [lock["triples"] for lock in held] == [31.0, 62.0]

    def test_an_index_that_is_in_no_first_reading_has_grown_from_nothing(self) -> None:
        names = ("time_ns", "source", "object", "counter", "value")
        rows = [
            (0, "indexes", "reset", "touches", 5.0),
            (1, "indexes", "reset", "touches", 2.0),
            (1, "indexes", "new", "touches", 7.0),
        ]
        declared = index_facts({"index_work": INDEX_WORK})
        assert declared is not None
        readings = pl.DataFrame(rows, names, orient="row")
        (new,) = of_readings(readings, declared, Span(0, 1), {}) or ()
        assert (new.object, new.touches, new.reads, new.holds) == ("new", 7.0, None, None)

    def test_of_one_reading_nothing_has_grown(self, synthetic: SyntheticRun) -> None:
        assert index_work(counted(synthetic), Span(BEGUN_NS + 9 * S, BEGUN_NS + 9 * S)) is None

    def test_an_engine_that_declares_none_tells_nothing(self, synthetic: SyntheticRun) -> None:
        run = counted(synthetic, {})
        assert index_work(run, SECONDS_2_TO_4) is None
        assert activity_between(run, SECONDS_2_TO_4) is None
        assert (activity_document(run), activity_by_operation(run)) == (None, {})
        assert why_no_activity(run) == "its engine declares none"
        assert tables_apart(run) == []

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"holds": {"cats": ["a"]}}, "cats"),
            ({"touch": "x"}, "touch"),
        ],
    )
    def test_a_declaration_that_is_wrong_is_refused(self, change: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            index_facts({"index_work": INDEX_WORK | change})

    def test_where_no_page_was_read_no_share_is_known(self) -> None:
        assert share_of_reads([IndexWork("texts", 5.0, 0.0, holds="literals")], "literals") is None
        assert IndexWork("a", 0.0, 5.0).missed is None


class TestParts:
    def events(self, *phases: tuple[str, int, int]) -> pl.DataFrame:
        rows = [
            {
                "phase": phase,
                "operation": "a",
                "outcome": "ok",
                "error": None,
                "started_ns": begun,
                "finished_ns": ended,
            }
            for phase, begun, ended in phases
        ]
        return pl.DataFrame(rows, schema_overrides={"error": pl.String})

    def test_memory_filled_before_the_measured_part(self) -> None:
        part_values = parts(self.events(("warmup", 0, 40), ("measured", 50, 150)))
        assert part_values is not None
        assert (part_values.first, part_values.rest) == (Span(0, 50), Span(50, 150))

    def test_without_a_warm_up_the_first_tenth_is_the_first_part(self) -> None:
        part_values = parts(self.events(("measured", 50, 150)))
        assert part_values is not None
        assert (part_values.first, part_values.rest) == (Span(50, 60), Span(60, 150))

    def test_when_it_was_steady_decides_where_that_is_known(self) -> None:
        part_values = parts(self.events(("warmup", 0, 40), ("measured", 50, 150)), steady_ns=90)
        assert part_values is not None
        assert (part_values.first.ended_ns, part_values.first_text) == (90, "until it was steady")

    def test_of_nothing_there_are_no_parts(self) -> None:
        assert parts(self.events(("warmup", 0, 40))) is None


class TestActivity:
    def test_between_two_instants_by_the_words_of_the_line(self, synthetic: SyntheticRun) -> None:
        counters = activity_between(counted(synthetic), SECONDS_2_TO_4)
        assert counters == {"rnd": 2000.0, "seq": 4000.0, "same pg": 1540.0, "fork": 6.0}

    def test_an_operation_s_is_the_median_of_those_that_were_read(
        self, synthetic: SyntheticRun
    ) -> None:
        counters = activity_by_operation(counted(synthetic))
        assert counters == {"a": {"rnd": 12_345.0}, "b": {"rnd": 12_345.0}}

    def test_a_report_has_lines_of_the_part_of_intervals_and_of_operations(
        self, synthetic: SyntheticRun
    ) -> None:
        section = activity_document(counted(synthetic))
        assert section is not None
        assert section["missing"] is None
        each = [interval["line"].split()[0] for interval in section["intervals"]]
        assert set(each) == {"1K"}
        assert section["line"].split()[0] == f"{len(each)}K"
        assert [operation["line"].strip() for operation in section["operations"]] == [
            "12.35K rnd"
        ] * 2

    def test_where_its_meters_did_not_move_it_says_why_it_has_none(
        self, synthetic: SyntheticRun
    ) -> None:
        elsewhere = ACTIVITY | {"source": "nowhere"}
        section = activity_document(counted(synthetic, DECLARED | {"activity": elsewhere}))
        assert section is not None
        assert (section["missing"], section["line"]) == ("it was asked over connections", None)

    @pytest.mark.parametrize(
        ("change", "message"), [({"counters": {"cats": "a"}}, "cats"), ({"titel": "x"}, "titel")]
    )
    def test_a_declaration_that_is_wrong_is_refused(self, change: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            activity_facts({"activity": ACTIVITY | change})


class TestApart:
    def test_tables_are_told_of_both_parts_with_gauges_at_their_ends(
        self, synthetic: SyntheticRun
    ) -> None:
        run = counted(synthetic)
        first, rest = tables_apart(run)
        assert (first["name"], rest["name"]) == ("indexes-first", "indexes-rest")
        assert rest["title"] == "of a part, from then on"
        held = {row["object"]: row["values"][2] for row in rest["rows"]}
        window = window_ns(run.table("events"))
        assert window is not None
        assert held["texts"] == (50.0 if window[1] >= BEGUN_NS + S else 20.0)
        assert {row["object"] for row in first["rows"]} == set(EACH_S)


class TestFigures:
    def figure(self, synthetic: SyntheticRun, kind: str) -> Any:
        run = counted(synthetic)
        study_run = StudyRun("load", {"scale": "100 Mt"}, 1, run)
        return make(Asked("f", kind, "Title", (study_run,)))

    def test_meters_are_a_column_a_subject_and_a_line(self, synthetic: SyntheticRun) -> None:
        figure = self.figure(synthetic, "activity")
        meters, lines = figure.tables
        assert next(column.name for column in meters.columns) == "meter"
        by_name = dict(meters.rows)
        assert by_name["sequential rows"] == 2 * by_name["random look-ups"]
        assert by_name["disk reads"] is None
        assert "rnd" in str(lines.rows[0][1])
        page = figure.measure("look-ups on the page of the one before")
        assert next(iter(page.values.values())).middle == pytest.approx(0.77)
        assert figure.missing == ()

    def test_indexes_are_told_while_memory_fills_and_from_then_on(
        self, synthetic: SyntheticRun
    ) -> None:
        figure = self.figure(synthetic, "indexes")
        since, steady = figure.tables
        assert (since.name, steady.name) == ("since the start", "steady")
        assert [column.name for column in since.columns] == ["index", "touches", "reads", "buffers"]
        assert since.rows[0][0] == "texts"
        assert figure.measure("literals") is not None

    @pytest.mark.parametrize("kind", ["activity", "indexes"])
    def test_an_engine_without_meters_is_said_to_be_one(
        self, synthetic: SyntheticRun, kind: str
    ) -> None:
        run = StudyRun("load", {}, 1, synthetic.write())
        figure = make(Asked("f", kind, "Title", (run,)))
        assert len(figure.missing) == 1
        assert figure.tables == ()
