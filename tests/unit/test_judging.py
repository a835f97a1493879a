"""How sure a cause is: by its witnesses, by the plan that ran, and by the room in its node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.judging import judged
from assay.analysis.findings.plans.captured_plan import doubt_of_plan
from assay.model.finding import Evidence, Finding
from tests.cases import RUN, case, node, operation, plan, plans

OF_WAITS = Evidence("lock 60 % of its time", "where:q1")
OF_COUNTERS = Evidence("600 waits", "counter:lock_waits")
AGAINST = Evidence("nobody waited", "session:1", contradicts=True)


def cause(*evidence: Evidence, **facts: Any) -> Finding:
    made = Finding(
        "Something held a lock",
        0.6,
        None,
        (RUN,),
        "lock-wait",
        evidence=evidence,
        part="waiting/lock",
    )
    return replace(made, **{"operations": ("q1",), "fractions": {"q1": 0.6}} | facts)


def of(run_case: Case, *findings: Finding) -> tuple[Finding, ...]:
    return judged(run_case, findings).findings


LOCKED = case(operation(lock=0.6, cpu_user=0.4))


class TestWitnesses:
    def test_two_kinds_make_it_seen(self) -> None:
        (finding,) = of(LOCKED, cause(OF_WAITS, OF_COUNTERS))
        assert (finding.certainty, finding.settle) == ("seen", None)

    @pytest.mark.parametrize("evidence", [(OF_WAITS,), (OF_WAITS, OF_WAITS), ()])
    def test_one_kind_makes_it_suspected_and_says_what_would_settle_it(
        self, evidence: tuple[Evidence, ...]
    ) -> None:
        (finding,) = of(LOCKED, cause(*evidence))
        assert finding.certainty == "suspected"
        assert finding.settle

    def test_one_that_contradicts_silences_it(self) -> None:
        made = judged(LOCKED, [cause(OF_WAITS, OF_COUNTERS, AGAINST)])
        assert made.findings == ()
        assert [finding.method for finding in made.silenced] == ["lock-wait"]

    def test_what_is_no_cause_is_left_as_it_is(self) -> None:
        shape = cause(OF_WAITS, tells="shape")
        assert of(LOCKED, shape) == (shape,)


class TestRoom:
    def test_no_cause_claims_more_than_its_node(self) -> None:
        (finding,) = of(LOCKED, cause(OF_WAITS, OF_COUNTERS, fractions={"q1": 0.9}))
        assert finding.fractions == {"q1": 0.6}
        assert finding.effect_share == pytest.approx(0.6)

    def test_a_cause_below_the_noise_is_left_out(self) -> None:
        assert of(LOCKED, cause(OF_WAITS, OF_COUNTERS, fractions={"q1": 0.04})) == ()

    def test_two_that_claim_the_same_time_are_alternatives(self) -> None:
        first = cause(OF_WAITS, OF_COUNTERS)
        second = cause(OF_WAITS, OF_COUNTERS, method="other", fractions={"q1": 0.5})
        larger, smaller = of(LOCKED, first, second)
        assert larger.shares_with == ()
        assert smaller.shares_with == ("lock-wait:q1",)

    def test_two_that_have_room_beside_each_other_are_not(self) -> None:
        first = cause(OF_WAITS, OF_COUNTERS, fractions={"q1": 0.3})
        second = cause(OF_WAITS, OF_COUNTERS, method="other", fractions={"q1": 0.3})
        assert [finding.shares_with for finding in of(LOCKED, first, second)] == [(), ()]

    def test_time_to_be_saved_holds_the_effect(self) -> None:
        (finding,) = of(LOCKED, cause(OF_WAITS, OF_COUNTERS, saved=(0.7, 0.5)))
        assert finding.saved == (pytest.approx(0.6), pytest.approx(0.6))


def planned(execution_s: float, seconds: float = 1.0, **facts: Any) -> Case:
    own = plan(node("scan", seconds=execution_s), **facts)
    return case(operation(overrides={"seconds": seconds}), plans=plans(own))


class TestPlanThatRan:
    @pytest.mark.parametrize("execution_s", [0.5, 1.0, 2.0])
    def test_a_plan_about_as_slow_as_the_timed_one_is_believed(self, execution_s: float) -> None:
        assert doubt_of_plan(planned(execution_s), "q1") is None

    @pytest.mark.parametrize("execution_s", [0.4, 2.1])
    def test_another_time_may_be_another_plan(self, execution_s: float) -> None:
        assert "the captured plan of q1 took" in (doubt_of_plan(planned(execution_s), "q1") or "")

    def test_only_the_time_in_which_a_plan_worked_counts(self) -> None:
        own = plans(plan(node("scan", seconds=0.2)))
        waited = operation(cpu_user=0.3, lock=0.7, overrides={"seconds": 1.0})
        assert doubt_of_plan(case(waited, plans=own), "q1") is None

    def test_plans_that_differ_between_captures_are_doubted(self) -> None:
        assert "several plans" in (doubt_of_plan(planned(1.0, shapes=2), "q1") or "")

    def test_what_rests_on_a_doubted_plan_is_suspected(self) -> None:
        of_plan = Evidence("the scan removed 99 %", "plan:q1")
        of_catalogue = Evidence("no index", "catalogue:lines")
        made = cause(of_plan, of_catalogue, part="computing")
        (sure,) = of(planned(1.0), made)
        (doubted,) = of(planned(0.1), made)
        assert (sure.certainty, doubted.certainty) == ("seen", "suspected")
        assert "the captured plan of q1 took" in (doubted.settle or "")
