"""A hash join whose equality leaves many pairs, and joins that are as fast as their rows allow."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.findings.joins import range_join
from assay.model.finding import Advice, Finding
from tests.cases import case, node, operation, plan, plans

CONDITION = "share = share and moment >= moment and moment < until"


def found(condition: str = CONDITION, seconds: float = 0.9, **facts: Any) -> list[Finding]:
    """Trades look for the price of their moment among all prices of their share."""
    rows = facts.pop("rows", 200_000.0)
    trades = node("scan", object="trades", rows=rows, seconds=0.1)
    prices = node("scan", object="prices", rows=rows / 10, seconds=0.0)
    about = {"rows": rows, "seconds": seconds, "condition": condition} | facts
    join = node("hash join", trades, prices, **about)
    joined = operation(overrides={"seconds": 1.0})
    return range_join.find(case(joined, plans=plans(plan(join, execution_s=1.0))))


def test_pairs_that_are_equal_and_then_compared_by_a_range_are_suspected() -> None:
    (finding,) = found()
    assert finding.effect_share == pytest.approx(0.9)
    assert "equal by share = share are compared one by one by moment >= moment and" in finding.claim
    assert finding.settle is not None


@pytest.mark.parametrize(
    "twin",
    [
        {"condition": "share = share and day = day"},
        {"condition": "moment >= moment and moment < until"},
        # As fast as rows are looked up, too few of them, or slow for its files.
        {"seconds": 0.1},
        {"rows": 1_000.0},
        {"spilled_bytes": 1 << 24},
    ],
)
def test_its_twins_are_silent(twin: dict[str, Any]) -> None:
    assert found(**twin) == []


def reduced(condition: str = "symbol = symbol and moment <= moment", **facts: Any) -> list[Finding]:
    """Each of 4,000 trades is joined with all earlier prices of its share, to keep the newest."""
    prices = node("scan", object="prices", rows=facts.pop("prices", 160_000.0), seconds=0.0)
    trades = node("scan", object=facts.pop("other", "trades"), rows=4_000.0, seconds=0.0)
    pairs = facts.pop("pairs", 9_700_000.0)
    join = node("hash join", prices, trades, rows=pairs, seconds=0.1, condition=condition)
    between = node(facts.pop("between", "projection"), join, rows=pairs, seconds=0.0)
    top = node("aggregate", between, **{"rows": 4_000.0, "seconds": 0.9} | facts)
    joined = operation(overrides={"seconds": 1.0})
    return range_join.find(case(joined, plans=plans(plan(top, execution_s=1.0))))


def test_pairs_of_which_an_aggregate_keeps_few_are_suspected() -> None:
    (finding,) = reduced()
    assert finding.effect_share == pytest.approx(1.0)
    assert "joins 160 k rows to 9.7 M pairs, of which Aggregate makes 4 k rows" in finding.claim
    assert "asof join" in (finding.to_try or "")
    assert finding.settle is not None


def test_a_table_that_is_joined_with_itself_is_summed_by_a_window() -> None:
    (finding,) = reduced(other="prices")
    assert (finding.to_try or "").startswith("for a sum over a range, use a window function")
    assert finding.advice == Advice("window-function", "q1", {}, finding.effect_share)
    assert "`assay try a-run range-join:q1` measures it; or add" in (finding.to_try or "")
    (apart,) = reduced()
    assert apart.advice is None
    assert (apart.to_try or "").startswith("add an equality")


@pytest.mark.parametrize(
    "twin",
    [
        # No range, or each row has one match, as with the period of a price.
        {"condition": "symbol = symbol"},
        {"pairs": 160_000.0},
        # Most pairs are kept, or another operator needs all of them.
        {"rows": 5_000_000.0},
        {"between": "window"},
        {"prices": 2_000_000.0},
    ],
)
def test_twins_whose_pairs_are_few_or_wanted_are_silent(twin: dict[str, Any]) -> None:
    assert reduced(**twin) == []
