"""Whatever text is taken for a plan of Virtuoso's, it is one, or is refused with what is wrong."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.plans.recorded import shares
from assay.engines.virtuoso.plan_totals import read_native
from assay.engines.virtuoso.plans import normalised
from assay.model.plan import Plan
from tests.plans import NATIVE, native

NAMES = sorted(file.stem for file in (NATIVE / "virtuoso").glob("*.json"))
THREAD_S = 2.0
TOTALS = f"\n {THREAD_S * 1000:.0f} msec 100% cpu, 1 rnd 2 seq 0% same seg 0% same pg\n"
TEXTS = {name: read_native(native("virtuoso", name)).text for name in NAMES}


def plan_of(text: str) -> Plan:
    return normalised(text, "q01", 0, "q01-0.json")


@given(st.sampled_from(NAMES), st.data())
def test_a_text_that_is_cut_off_is_refused_with_its_line(name: str, data: st.DataObject) -> None:
    lines = TEXTS[name].rstrip().splitlines()
    kept = data.draw(st.integers(1, len(lines) - 1))
    with pytest.raises(ValueError, match=rf"line {kept}: the text ends before `"):
        plan_of("\n".join(lines[:kept]))


@given(st.sampled_from(NAMES), st.data(), st.text(max_size=80))
def test_a_line_that_is_another_makes_a_plan_or_a_refusal(
    name: str, data: st.DataObject, other: str
) -> None:
    lines = TEXTS[name].splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    replaced = data.draw(st.sampled_from([other, "", "}", "{", "fork {", *lines]))
    lines[at] = replaced
    _made_or_refused("\n".join(lines) + TOTALS)


@given(st.text(max_size=300))
def test_any_text_makes_a_plan_or_a_refusal(text: str) -> None:
    _made_or_refused(text)


@given(st.recursive(st.none() | st.floats() | st.text(max_size=5), st.lists, max_leaves=5))
def test_any_file_makes_a_plan_or_a_refusal(value: Any) -> None:
    whole = {"plan": value, "log": value, "clock_hz": value, "tables": value, "executed": value}
    _made_or_refused(json.dumps(whole))


def _made_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        for node in plan_of(text).root.walk():
            assert node.seconds is None or node.seconds >= 0
            assert node.rows is None or node.rows >= 0


@st.composite
def chains(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """Lines of a chain; figures of queries in code are also in the step that asks them."""
    lines: list[str] = []
    for number in range(draw(st.integers(1, 3))):
        percent = draw(st.floats(0, 100).map(lambda share: round(share, 3)))
        figures = f"time {percent}% fanout {draw(st.integers(0, 9))} input 5 rows"
        kind = draw(st.sampled_from(["table", "fork", "fill", "probe", "code"]))
        if kind == "table" or depth > 2:
            lines += [figures, f"t{number} {draw(st.integers(0, 99))} rows(.a$1)", " a = 1"]
        elif kind == "probe":
            lines += [figures, f"Hash source 7  {draw(st.integers(0, 9))} rows(.a$1) -> ()"]
        elif kind == "code":
            lines += [figures, "END Node", "After test:", "0: if (  {"]
            lines += [*draw(chains(depth + 1)), "}", ") then 4 else 5 unkn 5", "4: BReturn 1"]
        else:
            opener = "fork {" if kind == "fork" else "hash filler {"
            lines += [figures, opener, *draw(chains(depth + 1)), "}"]
    return lines


@given(chains())
def test_all_shares_are_one_and_all_time_is_the_threads(lines: list[str]) -> None:
    plan = plan_of("\n".join(["{", *lines, "}"]) + TOTALS)
    if plan.seconds:
        assert plan.seconds == pytest.approx(THREAD_S)
        assert sum(share or 0.0 for share in shares(plan)) == pytest.approx(1)
