"""TPC-C on PostgreSQL: five transactions, their mix, and what has to hold before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay._core import program_marks
from tests.e2e.conftest import POSTGRESQL, laboratory_in_memory
from tests.e2e.program_plans import assert_programs_have_plans

TRANSACTIONS = ("new-order", "payment", "order-status", "delivery", "stock-level")
Told = dict[str, Any]
BRIEF = ["--scale", "1", "--clients", "4", "--time", "4s", "--warmup", "1s"]


def marked(events: pl.DataFrame, operation: str, wanted: str) -> pl.Series:
    """A mark of the executions of an operation that succeeded."""
    shift = 0
    for program_mark in program_marks(f"tpcc.{operation}"):
        name, _, bits = program_mark.partition(":")
        width = int(bits or 1)
        if name == wanted:
            own = events.filter((pl.col("operation") == operation) & (pl.col("outcome") == "ok"))
            return own.select(pl.col("marks").cast(pl.Int64) // 2**shift % 2**width)["marks"]
        shift += width
    raise AssertionError(wanted)


@pytest.fixture(scope="module")
def played(server_place: Path) -> Iterator[tuple[Told, pl.DataFrame]]:
    """One run that all tests look at."""
    with laboratory_in_memory(server_place) as lab:
        document = lab.document("run", "tpcc", "--engine", POSTGRESQL, *BRIEF)
        events = pl.read_ipc_stream(Path(document["path"]) / "raw" / "events.arrows")
        as_text = pl.col("operation", "outcome", "phase").cast(pl.String)
        yield document, events.with_columns(as_text)


def test_the_conditions_hold_before_and_after(played: tuple[Told, pl.DataFrame]) -> None:
    document, events = played
    by_check = {check["check"]: check for check in document["checks"]}
    assert by_check["answers"]["verdict"] == "valid", by_check["answers"]["reason"]
    rows = {
        phase: events.filter(pl.col("phase") == phase).select("operation", "rows").rows()
        for phase in ("before", "after")
    }
    conditions = [f"c{number:02}" for number in range(1, 13)]
    assert rows["before"] == [(name, 0) for name in conditions]
    # The eleventh is of the data as they are loaded.
    assert rows["after"] == [(name, 0) for name in conditions if name != "c11"]


def test_each_statement_of_its_programs_has_a_plan(played: tuple[Told, pl.DataFrame]) -> None:
    assert_programs_have_plans(played[0])


def test_all_five_complete_in_the_shares_of_their_cards(
    played: tuple[Told, pl.DataFrame],
) -> None:
    _, events = played
    own = events.filter(pl.col("operation").is_in(TRANSACTIONS))
    assert set(own["outcome"]) == {"ok"}
    counted = Counter(own["operation"])
    decks = own.height / 23
    # Each client is in the middle of a deck when its part begins, and when it ends.
    for name in TRANSACTIONS:
        cards = 10 if name in ("new-order", "payment") else 1
        assert abs(counted[name] - decks * cards) <= 2 * 4 * cards


def test_transactions_do_what_their_marks_say(played: tuple[Told, pl.DataFrame]) -> None:
    _, events = played
    rolled_back = marked(events, "new-order", "rolled_back")
    # One in a hundred: none at all, or four times as many, is not to be expected of hundreds.
    assert rolled_back.sum() <= 4 * max(len(rolled_back) / 100, 3)
    lines = marked(events, "new-order", "lines")
    assert (lines.min(), lines.max()) == (5, 15)
    assert marked(events, "payment", "by_name").mean() == pytest.approx(0.6, abs=0.2)
    assert marked(events, "payment", "remote").sum() == 0
    assert marked(events, "delivery", "skipped").sum() == 0
