"""Asking for plans of prepared statements: which values are asked with, and what is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay.engines.plan_reading import CachedPlan, Explained
from assay.model.plan import Plan
from assay.model.script import Draw, Script
from assay.running.plans import ROWS_OF_VALUES, Capture
from tests.unit.test_plan_capture import SCANNED, Engine, Reader, operation, tell_nobody

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

WIDE = Draw("n", integer=(1, 1_000_000))


class PreparedReader(Reader):
    """Says of prepared statements what it was told to say."""

    def explain_prepared(
        self, statements: Sequence[tuple[str, Sequence[Sequence[object]]]], limit_s: float
    ) -> Iterator[Explained]:
        self.rows = [rows for _, rows in statements]
        cached = CachedPlan("generic", False, 3, ("Seq Scan t",))
        yield Explained(SCANNED, None, 0.1, cached=cached)


def captured(raw: Path, reader: Reader, *, prepared: bool) -> tuple[Plan, dict[str, Any]]:
    script = Script((operation("q01", "select $1", draws=(WIDE,)),), prepared=prepared)
    Capture(Engine(), reader, raw, 1).all(script, {}, 0.0, tell_nobody)
    document: dict[str, Any] = json.loads((raw / "plans" / "plans.json").read_text())
    return Plan.read(document["plans"][0]), document


def test_prepared_statements_are_asked_with_values_of_several_executions(tmp_path: Path) -> None:
    reader = PreparedReader()
    plan, _ = captured(tmp_path, reader, prepared=True)
    (rows,) = reader.rows
    assert len(rows) == len({value for (value,) in rows}) == ROWS_OF_VALUES
    assert (plan.mode, plan.planned_each_time) == ("generic", False)
    assert (plan.captures, plan.shapes, plan.others) == (3, 2, ("Seq Scan t",))


def test_what_is_sent_as_text_is_planned_each_time(tmp_path: Path) -> None:
    reader = PreparedReader(Explained(SCANNED, None, 0.1))
    plan, _ = captured(tmp_path, reader, prepared=False)
    assert len(reader.asked) == 1
    assert (plan.mode, plan.planned_each_time, plan.shapes) == (None, True, None)


def test_a_reader_that_cannot_prepare_says_nothing_of_it(tmp_path: Path) -> None:
    plan, _ = captured(tmp_path, Reader(Explained(SCANNED, None, 0.1)), prepared=True)
    assert (plan.mode, plan.planned_each_time) == (None, None)
