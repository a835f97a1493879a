"""What parts cost and whether what is left reads the same, on runs and plans made by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.analysis.ablation.removed import differences, reading, removals
from assay.analysis.figures.contract import Asked, Figure
from assay.analysis.figures.discovery import make
from assay.model.plan import Plan, PlanNode
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.conftest import write_stream
from tests.plans import made, made_plan, with_plans
from tests.records import write_run
from tests.studies import MadeStudy

PAGES, ROWS = 8192 * 100, 6000.0
AS_IT_WAS, LESS = 1.0, 0.25


def scan(table: str = "t", **more: Any) -> PlanNode:
    facts = {
        "native": "Seq Scan",
        "object": table,
        "rows": ROWS,
        "removed_rows": 10.0,
        "read_bytes": PAGES,
        "cached_bytes": 0,
    }
    return made("scan", **(facts | more))


def plan(*scans: PlanNode) -> Plan:
    return made_plan(made("aggregate", *scans))


def compared(before: PlanNode, after: PlanNode) -> tuple[str, ...]:
    return differences(reading([plan(before)]), reading([plan(after)]))


class TestReading:
    def test_the_same_scan_under_other_operators_reads_the_same(self) -> None:
        sorted_plan = made_plan(made("sort", made("aggregate", scan())))
        assert differences(reading([sorted_plan]), reading([plan(scan())])) == ()

    def test_pages_may_come_from_the_cache_or_from_elsewhere(self) -> None:
        assert compared(scan(), scan(read_bytes=0, cached_bytes=PAGES)) == ()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"native": "Index Only Scan", "index": "i"}, "Index Only Scan of t by i: 1"),
            ({"object": "u"}, "Seq Scan of t: 0 in its plan and not 1"),
            ({"native": "Parallel Seq Scan"}, "Parallel Seq Scan of t: 1"),
            ({"read_bytes": PAGES // 2}, "t: 400 KiB of pages and not 800 KiB"),
            ({"removed_rows": 6000.0}, "rows looked at"),
            ({"rows": 10.0, "removed_rows": ROWS}, "t: 10 rows given and not 6"),
        ],
    )
    def test_another_way_of_reading_is_told(self, change: dict[str, Any], message: str) -> None:
        assert any(message in text for text in compared(scan(), scan(**change)))

    def test_rounded_averages_are_no_difference(self) -> None:
        assert compared(scan(), scan(rows=ROWS + 1)) == ()

    @pytest.mark.parametrize(
        ("after", "message"),
        [
            (("a",), "b of t: no longer read"),
            (("a", "b", "c"), "c of t: read, and not read before"),
        ],
    )
    def test_columns_are_compared_where_the_engine_tells_them(
        self, after: tuple[str, ...], message: str
    ) -> None:
        assert compared(scan(columns=("a", "b")), scan(columns=after)) == (message,)
        assert compared(scan(), scan(columns=after)) == ()

    def test_workers_are_compared(self) -> None:
        parallel = made_plan(made("exchange", scan(), workers=2))
        assert differences(reading([plan(scan())]), reading([parallel])) == (
            "2 workers are at work on it and not 0",
        )

    def test_what_is_not_told_is_not_compared(self) -> None:
        untold = scan(read_bytes=None, cached_bytes=None, rows=None, removed_rows=None)
        assert compared(untold, scan()) == ()
        assert reading([plan(untold)]).bytes == {}


def written(place: Path, factor: float, removed: tuple[str, ...], *scans: PlanNode) -> Path:
    """A run whose operations take so many times as long, of a plan with these scans."""
    run = write_run(place)
    events = run / "raw" / "events.arrows"
    took = ((pl.col("finished_ns") - pl.col("started_ns")) * factor).cast(pl.Int64)
    rows = pl.read_ipc_stream(events).with_columns(
        (pl.col("started_ns") + took).alias("finished_ns")
    )
    events.unlink()
    write_stream(events, rows.to_dicts())
    facts = json.loads((run / "run.json").read_text("utf-8"))
    facts["request"]["remove"] = list(removed)
    statement_facts = {"removed": [{"name": name, "words": name} for name in removed], "stays": []}
    facts["statements"] = {"q01": {"text": "x", "rewritten": statement_facts if removed else None}}
    write_json(run / "run.json", facts)
    shutil.rmtree(run / "raw" / "plans", ignore_errors=True)
    if scans:
        return with_plans(run, [made_plan(made("aggregate", *scans))])
    write_seal(run)
    return run


def study(place: Path, after: PlanNode | None, *, removed: str = "computation") -> Figure:
    """A figure of three rounds of a query as it was, and of the same in a quarter of the time."""
    declared_study = MadeStudy(place)
    for number in (1, 2, 3):
        drift = 1 + 0.01 * number
        plain = written(place / "made", AS_IT_WAS * drift, (), scan())
        declared_study.add("q", {"engine": "postgresql", "remove": "as it is"}, plain, number)
        scans = () if after is None else (after,)
        less = written(place / "made", LESS * (1 + 0.02 * number), (removed,), *scans)
        declared_study.add("q", {"engine": "postgresql", "remove": removed}, less, number)
    return make(Asked("removed", "removed", "Prices", tuple(declared_study.studied)))


def only_row(figure: Figure) -> dict[str, Any]:
    (row,) = figure.tables[0].rows
    return dict(zip([column.name for column in figure.tables[0].columns], row, strict=True))


class TestFigure:
    def test_a_removal_that_reads_the_same_has_a_price_with_its_interval(
        self, tmp_path: Path
    ) -> None:
        figure = study(tmp_path, scan())
        row = only_row(figure)
        assert row["share"] == pytest.approx(0.75, abs=0.02)
        assert row["at least"] < row["share"] < row["at most"]
        assert row["price"] == pytest.approx(row["as it was"] - row["without it"])
        assert row["reading"] == "the same"
        assert figure.missing == ()
        assert figure.measures[0].values["PostgreSQL"].middle == row["share"]
        assert "reads the same" in figure.says[0]

    def test_one_that_reads_otherwise_failed_and_has_no_measure(self, tmp_path: Path) -> None:
        figure = study(tmp_path, scan(native="Index Only Scan", index="i"))
        assert figure.measures == ()
        assert figure.says == ()
        (missing,) = figure.missing
        assert "q01 without computation: it reads other data" in missing
        assert "Index Only Scan of t by i" in missing

    def test_one_without_plans_is_not_known(self, tmp_path: Path) -> None:
        figure = study(tmp_path, None)
        assert figure.measures == ()
        assert "whether it reads the same is not known" in figure.missing[0]

    def test_another_part_is_priced_with_what_it_read(self, tmp_path: Path) -> None:
        figure = study(tmp_path, scan(read_bytes=0), removed="join:u")
        assert figure.missing == ()
        assert "of pages" in only_row(figure)["reading"]
        assert "join:u is worth most" in figure.says[0]
        assert any("is in its price" in note for note in figure.notes)

    def test_a_run_without_the_plain_one_beside_it_is_missing(self, tmp_path: Path) -> None:
        declared_study = MadeStudy(tmp_path)
        less = written(tmp_path / "made", LESS, ("sort",), scan())
        declared_study.add("q", {"engine": "postgresql", "remove": "sort"}, less)
        figure = make(Asked("removed", "removed", "Prices", tuple(declared_study.studied)))
        assert "no run as it was beside it" in figure.missing[0]

    def test_one_round_has_no_interval(self, tmp_path: Path) -> None:
        plain = Run(written(tmp_path / "a", AS_IT_WAS, (), scan()))
        less = Run(written(tmp_path / "b", LESS, ("computation",), scan()))
        (removal,) = removals([(plain, less)])
        assert removal.gain is not None
        assert removal.gain.interval is None
        assert removal.verdict == "reads the same"
