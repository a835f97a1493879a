"""Counters of a made-up engine, whose growth is known, as rates, totals and figures."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import assay.engines
from assay.analysis.counters.engine_counters import (
    Shown,
    around,
    declared,
    engine_counters,
    figures,
    operation_growth,
    rates,
    totals,
)
from assay.analysis.counters.objects import declared_tables
from assay.probes.streams import ENGINE, ENGINE_OPERATIONS, ENGINE_STATUS, Stream
from tests.conftest import BEGUN_NS, S, SyntheticRun, an_event, stream_table

HITS = {"name": "hits", "title": "Hits", "unit": "blocks", "source": "cache", "counter": "hits"}
READS = {"name": "reads", "title": "Reads", "unit": "blocks", "source": "cache", "counter": "reads"}
OPEN = {**HITS, "name": "open", "counter": "open", "kind": "gauge"}
SHARE = {"name": "hit_share", "title": "Hit share", "part": ["hits"], "whole": ["hits", "reads"]}


def readings(*rows: tuple[int, str, str, float]) -> pl.DataFrame:
    """Rows of (second, object, counter, value) of one source."""
    names = ("time_ns", "source", "object", "counter", "value")
    made = [
        dict(zip(names, (second * S, "cache", thing, counter, value), strict=True))
        for second, thing, counter, value in rows
    ]
    return pl.DataFrame(made, schema_overrides={"value": pl.Float64})


def hits_readings(values: list[float]) -> pl.DataFrame:
    return readings(*((second, "t", "hits", value) for second, value in enumerate(values)))


class TestRates:
    def test_growth_a_second(self) -> None:
        assert rates(hits_readings([5.0, 7.0, 7.0, 10.0]))["per_s"].to_list() == [
            None,
            2.0,
            0.0,
            3.0,
        ]

    def test_a_reset_is_null_and_not_negative(self) -> None:
        assert rates(hits_readings([5.0, 1.0, 3.0]))["per_s"].to_list() == [None, None, 2.0]

    def test_two_counters_do_not_mix(self) -> None:
        mixed = readings((0, "a", "n", 1), (0, "b", "n", 50), (1, "a", "n", 2), (1, "b", "n", 60))
        frame = rates(mixed).drop_nulls().sort("object")
        assert frame.select("object", "per_s").rows() == [("a", 1.0), ("b", 10.0)]


class TestTotals:
    def total(self, frame: pl.DataFrame, begun: float, ended: float) -> Any:
        return totals(frame, round(begun * S), round(ended * S))["growth"].to_list()

    def test_from_the_reading_before_to_the_reading_after(self) -> None:
        assert self.total(hits_readings([0.0, 10.0, 25.0, 45.0, 100.0]), 1.5, 2.5) == [35.0]

    def test_readings_that_end_early_give_what_there_is(self) -> None:
        assert self.total(hits_readings([0.0, 10.0, 25.0]), 1.0, 9.0) == [15.0]

    def test_a_reset_in_between_is_null_even_if_it_grew_beyond(self) -> None:
        assert self.total(hits_readings([10.0, 2.0, 90.0]), 0.0, 2.0) == [None]

    def test_absent_at_an_edge_is_null(self) -> None:
        late = readings((0, "a", "n", 1), (1, "a", "n", 2), (1, "b", "n", 7))
        frame = totals(late, 0, S).sort("object")
        assert frame["growth"].to_list() == [1.0, None]

    def test_a_window_after_the_last_reading_has_that_one(self) -> None:
        assert around(hits_readings([1.0, 2.0]), 5 * S, 6 * S)["value"].to_list() == [2.0]


class TestFigures:
    def test_objects_are_summed_and_scaled(self) -> None:
        frame = readings((0, "a", "hits", 2), (0, "b", "hits", 3), (1, "a", "hits", 4))
        table_frame = figures(frame, [Shown(**HITS, scale=10.0)])
        assert table_frame["value"].to_list() == [50.0, None], "an object is missing in the second"

    def test_one_object_can_be_named(self) -> None:
        frame = readings((0, "a", "hits", 2), (0, "b", "hits", 3))
        assert figures(frame, [Shown(**HITS, object="b")])["value"].to_list() == [3.0]

    def test_what_the_engine_does_not_count_has_no_rows(self) -> None:
        assert figures(hits_readings([1.0]), [Shown(**READS)]).is_empty()


class TestOperations:
    def test_the_median_of_the_passes_that_were_read(self) -> None:
        events = [an_event(n, "q", n * S, 10) for n in range(4)]
        events.append(an_event(4, "q", 4 * S, 10, outcome="failed", error="x"))
        edges = [
            {
                "sequence": sequence,
                "edge": edge,
                "time_ns": sequence * S,
                "source": "cache",
                "object": "t",
                "counter": "hits",
                "value": float(value),
            }
            # The second was reset, the third was not read, the fifth failed.
            for sequence, values in {0: (0, 10), 1: (50, 1), 3: (20, 50), 4: (0, 999)}.items()
            for edge, value in zip(("start", "end"), values, strict=True)
        ]
        made = pl.from_arrow(stream_table("events", events))
        assert isinstance(made, pl.DataFrame)
        frame = operation_growth(made, pl.DataFrame(edges), ["source", "object", "counter"])
        assert frame.select("operation", "counter", "growth", "passes").rows() == [
            ("q", "hits", 20.0, 2)
        ]


class TestDeclarations:
    def test_a_declaration_is_read(self) -> None:
        shown, shares = declared({"counters": [HITS, READS, OPEN], "shares": [SHARE]})
        assert [figure.kind for figure in shown] == ["counter", "counter", "gauge"]
        assert shares[0].whole == ("hits", "reads")

    @pytest.mark.parametrize(
        ("facts", "message"),
        [
            ({"counters": [HITS | {"colour": "red"}]}, "colour"),
            ({"counters": [{"name": "hits"}]}, "title"),
            ({"counters": [HITS | {"kind": "speed"}]}, "speed"),
            ({"counters": [HITS | {"scale": "1e-3"}]}, "scale"),
            ({"counters": ["hits"]}, "cannot be read"),
            ([], "cannot be read"),
            ({"counters": [HITS], "shares": [SHARE]}, "reads"),
            ({"counters": [HITS], "shares": [{"name": "x", "title": "X", "part": []}]}, "whole"),
        ],
    )
    def test_what_is_wrong_is_named(self, facts: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            declared(facts)

    def test_every_engine_s_declaration_can_be_read(self) -> None:
        files = sorted(Path(assay.engines.__path__[0]).glob("*/counters.toml"))
        assert files
        for file in files:
            facts = tomllib.loads(file.read_text(encoding="utf-8"))
            shown, _ = declared(facts)
            names = [figure.name for figure in shown]
            assert len(names) == len(set(names)), file
            sources = {path.stem for path in (file.parent / "conf" / "counters").glob("*.sql")}
            # An engine that is a library is asked by calls, not by statements.
            if not sources:
                continue
            module = "".join(path.read_text("utf-8") for path in file.parent.glob("counters.py"))
            used = {figure.source for figure in shown}
            used |= {table.source for table in declared_tables(facts)}
            unknown = {name for name in used - sources if f'"{name}"' not in module}
            assert unknown == set(), file


class TestOfARun:
    FACTS = {"counters": [HITS, READS, OPEN], "shares": [SHARE]}  # noqa: RUF012 - a constant

    def document(self, synthetic: SyntheticRun) -> dict[str, Any]:
        run = synthetic.write()
        raw = run.dir / "raw"
        with Stream(raw, "engine", ENGINE) as stream:
            for second in range(4):
                about = (BEGUN_NS + (second - 1) * S, "cache", "t")
                stream.push(*about, "hits", 30.0 * second)
                stream.push(*about, "reads", 10.0 * second)
                stream.push(*about, "open", 3.0)
        measured = [event for event in synthetic.events if event["phase"] == "measured"]
        with Stream(raw, "engine-operations", ENGINE_OPERATIONS) as stream:
            for event in measured:
                for edge, value in (("start", 100.0), ("end", 107.0)):
                    stream.push(event["sequence"], edge, 0, "cache", "t", "hits", value)
        run.facts["engine"] = run.facts.get("engine", {}) | {"counters": self.FACTS}
        counters = engine_counters(run)
        assert counters is not None
        return counters

    def test_totals_rates_shares_and_operations(self, synthetic: SyntheticRun) -> None:
        report = self.document(synthetic)
        hits, reads, gauge = report["counters"]
        assert hits["total"] == 3 * reads["total"]
        assert hits["per_s"] == pytest.approx(hits["total"] / report["window_s"])
        assert hits["operations"] == {"a": 7.0, "b": 7.0}
        assert (gauge["total"], gauge["last"]) == (None, 3.0)
        assert report["shares"][0]["share"] == pytest.approx(0.75)

    @pytest.mark.parametrize(("per_s", "each"), [(100.0, 3.0), (8.0, 0.0)])
    def test_what_our_own_session_counted_is_taken_away(
        self, synthetic: SyntheticRun, per_s: float, each: float
    ) -> None:
        """The server counts so many a second of which 8 are ours; 2 s had 19, 16 of them ours.

        If all that was counted is ours, an execution with more of it just had more looks.
        """
        run = synthetic.write()
        raw = run.dir / "raw"
        with Stream(raw, "engine", ENGINE) as stream:
            for second in range(4):
                time_ns = BEGUN_NS + (second - 1) * S
                stream.push(time_ns, "cache", "t", "hits", per_s * second)
                stream.push(time_ns, "own", "t", "hits", 8.0 * second)
        measured = [event for event in synthetic.events if event["phase"] == "measured"]
        with Stream(raw, "engine-operations", ENGINE_OPERATIONS) as stream:
            for event in measured:
                for edge, time_ns, value in (("start", 0, 100.0), ("end", 2 * S, 119.0)):
                    stream.push(event["sequence"], edge, time_ns, "cache", "t", "hits", value)
                    stream.push(event["sequence"], edge, time_ns, "own", "t", "hits", 5.0)
        facts = {"counters": [{**HITS, "less": "own"}, {**HITS, "name": "all"}], "shares": []}
        run.facts["engine"] = run.facts.get("engine", {}) | {"counters": facts}
        counters = engine_counters(run)
        assert counters is not None
        apart, whole = counters["counters"]
        assert (apart["per_s"], whole["per_s"]) == (per_s - 8.0, per_s)
        assert apart["operations"] == {"a": each, "b": each}
        assert whole["operations"] == {"a": 19.0, "b": 19.0}

    def test_series_are_rates_of_counters_and_values_of_gauges(
        self, synthetic: SyntheticRun
    ) -> None:
        hits, _, gauge = self.document(synthetic)["series"]
        assert hits["values"][0] is None
        assert set(hits["values"][1:]) == {30.0}
        assert set(gauge["values"]) == {3.0}
        assert gauge["time_s"] == hits["time_s"]

    def standing(
        self, synthetic: SyntheticRun, *readings: tuple[str, int, float, float]
    ) -> list[dict[str, Any]]:
        """Figures of a run with these readings: edge, time in seconds, calls, threads."""
        calls = HITS | {"name": "calls", "source": "status", "counter": "calls"}
        threads = OPEN | {"name": "threads", "source": "status", "counter": "threads"}
        run = synthetic.write()
        with Stream(run.dir / "raw", "engine", ENGINE) as stream:
            for second in range(4):
                stream.push(BEGUN_NS + (second - 1) * S, "cache", "t", "hits", 1.0)
        with Stream(run.dir / "raw", "engine-status", ENGINE_STATUS) as stream:
            for edge, second, made, working in readings:
                stream.push(edge, BEGUN_NS + second * S, "status", "status", "calls", made)
                stream.push(edge, BEGUN_NS + second * S, "status", "status", "threads", working)
        facts = {"counters": {"counters": [HITS, calls, threads]}}
        run.facts["engine"] = run.facts.get("engine", {}) | facts
        counters = engine_counters(run)
        assert counters is not None
        return counters["counters"][1:]

    def test_how_it_stood_is_told_from_the_last_readings_of_both_edges(
        self, synthetic: SyntheticRun
    ) -> None:
        read = (("start", -5, 10.0, 7.0), ("start", 0, 30.0, 8.0), ("end", 4, 50.0, 2.0))
        calls, threads = self.standing(synthetic, *read)
        assert (calls["total"], calls["per_s"]) == (20.0, 5.0)
        assert (threads["total"], threads["last"]) == (None, 2.0)

    def test_how_it_stood_at_one_edge_alone_is_no_growth(self, synthetic: SyntheticRun) -> None:
        calls, threads = self.standing(synthetic, ("start", 0, 30.0, 8.0))
        assert (calls["total"], threads["last"]) == (None, None)

    def test_it_can_be_printed_as_json(self, synthetic: SyntheticRun) -> None:
        report = self.document(synthetic)
        assert json.loads(json.dumps(report, allow_nan=False)) == report

    def test_without_a_stream_or_a_declaration_nothing_is_told(
        self, synthetic: SyntheticRun
    ) -> None:
        run = synthetic.write()
        assert engine_counters(run) is None
        run.facts["engine"] = {"counters": self.FACTS}
        assert engine_counters(run) is None


def test_the_columns_are_the_record_s() -> None:
    assert [name for name, _, _ in ENGINE] == ["time_ns", "source", "object", "counter", "value"]
    assert ENGINE[-1] == ("value", "float64", False)
