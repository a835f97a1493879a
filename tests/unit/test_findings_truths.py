"""Every cause is found at its size, and not found in its twin, nor below the noise."""

from __future__ import annotations

import pytest

from assay.analysis.findings.discovery import findings, methods
from assay.model.finding import Finding
from tests.truths import TRUTHS, Truth

# An effect that was built is found to this.
WITHIN = 0.03
each = pytest.mark.parametrize("truth", TRUTHS, ids=str)
# Methods that claim nothing that can be built as a cause of a power run: they have tests by name.
BY_NAME = {
    "autocommit",
    "bound-by",
    "buffer-manager",
    "forks",
    "garbage-collection",
    "hot-operations",
    "index-ends",
    "index-misses",
    "kernel-time",
    "literals",
    "log-full",
    "maintenance",
    "many-clients",
    "thread-pool",
    "pending-list",
    "row-look-ups",
    "old-snapshot",
    "checkpoints",
    "costly-setting",
    "counted-existence",
    "join-index",
    "join-order-limit",
    "order-limit",
    "overestimate",
    "other-disk-load",
    "other-sessions",
    "planner-setting",
    "function-per-row",
    "large-result",
    "large-values",
    "temporary-tables",
    "range-join",
    "round-trips",
    "deadlocks",
    "distinct-join",
    "either-join",
    "either-table",
    "expression-join",
    "first-of-group",
    "unused-groups",
    "extra-indexes",
    "fan-out",
    "heap-visits",
    "hinted-index",
    "look-ups",
    "paging-condition",
    "partitions-read",
    "subquery-per-row",
    "unchanged-rows",
    "table-per-execution",
    "temporary-statistics",
    "union-duplicates",
    "filter-after-recursion",
    "filter-after-window",
    "ranked-rows",
    "rate-held",
    "repeated-walk",
    "row-order",
    "steady",
    "tail",
    "work",
}


def finding_of(truth: Truth, effect: float) -> Finding:
    (finding,) = methods()[truth.method](truth.build(effect))
    return finding


@pytest.mark.parametrize(
    ("truth", "effect"),
    [pytest.param(truth, e, id=f"{truth} {e}") for truth in TRUTHS for e in truth.effects],
)
def test_a_cause_is_found_at_its_size(truth: Truth, effect: float) -> None:
    assert finding_of(truth, effect).effect_share == pytest.approx(effect, abs=WITHIN)


@each
def test_it_is_the_first_cause_that_is_told(truth: Truth) -> None:
    all_findings = findings(truth.build(max(truth.effects)))
    causes = [finding.method for finding in all_findings if finding.tells == "cause"]
    assert causes[0] == truth.method
    assert [finding.tells for finding in all_findings[:2]].count("shape") == 0


@each
def test_its_twin_does_not_have_it(truth: Truth) -> None:
    all_findings = methods()[truth.method](truth.twin(max(truth.effects)))
    assert [finding for finding in all_findings if finding.tells == "cause"] == []


@each
def test_below_the_noise_there_is_silence(truth: Truth) -> None:
    assert methods()[truth.method](truth.build(truth.noise)) == []


@each
def test_it_says_so_with_its_evidence_and_what_to_do(truth: Truth) -> None:
    finding = finding_of(truth, max(truth.effects))
    for sentence in truth.says:
        assert sentence in finding.claim
    assert set(truth.at) <= {evidence.at for evidence in finding.evidence}
    assert finding.to_try is not None
    advised = None if finding.advice is None else (finding.advice.kind, finding.advice.subject)
    assert advised == truth.advice


@each
def test_what_can_be_tried_has_the_command_and_a_gain_within_the_effect(truth: Truth) -> None:
    finding = finding_of(truth, max(truth.effects))
    if finding.advice is not None:
        assert f"`assay try a-run {finding.key}`" in (finding.to_try or "")
        assert 0 < (finding.advice.gain_share or 0.0) <= finding.effect_share + 1e-9


def test_every_method_has_a_truth_or_a_test_by_name() -> None:
    assert {truth.method for truth in TRUTHS} | BY_NAME == set(methods())
