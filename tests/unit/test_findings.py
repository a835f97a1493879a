"""How findings are found and in which order they are told, whatever they claim."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from assay.analysis.findings import discovery
from assay.analysis.findings.engine_facts import Setting
from assay.analysis.findings.intervals import PASSES_MIN, mean_interval, share_interval
from assay.analysis.findings.order import in_order
from assay.model.finding import Finding, Tells
from assay.model.units import size_bytes
from tests.cases import case, operation, passes
from tests.style.sources import ROOT

PAGES = (ROOT / "docs" / "numbers" / "findings").glob("*.md")
HEADINGS = {
    heading
    for page in PAGES
    for heading in re.findall(r"^## (\S+)$", page.read_text("utf-8"), re.MULTILINE)
}


def finding_with(method: str, effect: float, tells: Tells = "cause") -> Finding:
    return Finding("x", effect, None, ("a-run",), method, tells=tells)


class TestOrder:
    def test_bound_then_causes_then_shape_each_by_effect(self) -> None:
        findings = [
            finding_with("shape", 0.9, "shape"),
            finding_with("small", 0.1),
            finding_with("large", 0.5),
            finding_with("bound", 0.3, "bound"),
        ]
        assert [finding.method for finding in in_order(findings)] == [
            "bound",
            "large",
            "small",
            "shape",
        ]

    def test_half_of_the_effect_of_a_suspected_cause_counts(self) -> None:
        seen = [finding_with("small", 0.1), finding_with("large", 0.6)]
        suspected = replace(finding_with("doubtful", 0.9), certainty="suspected")
        ordered = in_order([*seen, suspected])
        assert [finding.method for finding in ordered] == ["large", "doubtful", "small"]

    def test_one_thing_bounds_a_run(self) -> None:
        findings = [
            finding_with("less", 0.5, "bound"),
            finding_with("more", 0.9, "bound"),
            finding_with("cause", 0.1),
        ]
        assert [finding.method for finding in in_order(findings)] == ["more", "cause"]

    def test_equal_effects_have_a_fixed_order(self) -> None:
        findings = [finding_with("b", 0.5), finding_with("a", 0.5)]
        assert in_order(findings) == in_order(findings[::-1])


class TestDiscovery:
    def test_a_file_is_a_finding_and_has_its_name(self) -> None:
        assert {"bound-by", "spill", "work", "round-trips"} <= set(discovery.methods())

    @pytest.mark.parametrize("method", sorted(discovery.methods()))
    def test_the_docs_have_a_heading_for_each(self, method: str) -> None:
        assert method in HEADINGS

    def test_what_breaks_down_holds_up_no_other(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(_: object) -> list[Finding]:
            raise ZeroDivisionError

        both = {"broken": broken, "sound": lambda _: [finding_with("sound", 0.5)]}
        monkeypatch.setattr(discovery, "methods", lambda: both)
        assert [finding.method for finding in discovery.findings(case(operation()))] == ["sound"]

    def test_of_nothing_nothing_is_claimed(self) -> None:
        assert discovery.findings(case()) == []


class TestIntervals:
    @pytest.mark.parametrize(
        ("interval", "runs", "message"),
        [
            (None, ("a",), "one run, no interval"),
            ((0.1, 0.25), ("a",), "10 % to 25 % over passes"),
            ((0.1, 0.25), ("a", "b"), "10 % to 25 % over runs"),
        ],
    )
    def test_an_interval_says_what_it_is_over(
        self, interval: tuple[float, float] | None, runs: tuple[str, ...], message: str
    ) -> None:
        assert Finding("x", 0.2, interval, runs, "spill").interval_words == message

    @pytest.mark.parametrize("count", range(PASSES_MIN))
    def test_too_few_passes_give_none(self, count: int) -> None:
        assert mean_interval([0.5] * count) is None

    def test_equal_passes_leave_nothing_open(self) -> None:
        assert mean_interval([0.5] * 4) == (0.5, 0.5)

    def test_three_passes_have_students_quantile(self) -> None:
        low, high = mean_interval([0.4, 0.5, 0.6]) or (0.0, 0.0)
        assert (low, high) == (
            pytest.approx(0.5 - 4.3027 * 0.1 / 3**0.5),
            pytest.approx(0.74841, 1e-4),
        )

    def test_a_pass_that_lacks_an_operation_is_left_out(self) -> None:
        times = passes({"a": [1.0, 2.0, 1.0, 9.0], "b": [1.0] * 3})
        whole = passes({"a": [1.0, 2.0, 1.0], "b": [1.0] * 3})
        low, high = share_interval(times, {"a": 1.0}) or (0.0, 0.0)
        assert (low, high) == pytest.approx(share_interval(whole, {"a": 1.0}))

    def test_passes_that_do_not_differ_give_no_interval_of_no_width(self) -> None:
        assert share_interval(passes({"a": [1.0] * 4}), {"a": 0.5}) is None

    def test_the_error_of_looks_is_in_it(self) -> None:
        """Of 100 looks, 50 saw the cause: a binomial proportion of 0.5 with an error of 0.05."""
        times = passes({"a": [1.0] * 4})
        low, high = share_interval(times, {"a": 0.5}, {"a": 100.0}) or (0.0, 0.0)
        assert (low, high) == (pytest.approx(0.5 - 1.96 * 0.05), pytest.approx(0.5 + 1.96 * 0.05))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4MB", 4 << 20),
        ("18.5 GiB", 37 << 29),
        ("64kB", 64 << 10),
        ("262144", 262144),
        ("512 bytes", 512),
        ("on", None),
        ("", None),
        (None, None),
        ("1.2.3MB", None),
        ("-1", None),
    ],
)
def test_sizes_are_read_as_engines_write_them(text: str | None, size: int | None) -> None:
    assert size_bytes(text) == size
    assert Setting("cache", "shared_buffers", text).bytes == size
