"""Two profiles beside each other: differences with intervals, and how often chance makes one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import polars as pl
import pytest

from assay.analysis.profile.profile import Profile, Sampling
from assay.analysis.profile.samples import compare
from assay.analysis.stats.student import student_quantile
from assay.analysis.work.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

OPERATIONS = ("a", "b")
WORKS = ("scan", "sort", "aggregate")


def made(passes: Sequence[dict[tuple[str, str], int]], hz: float = 500) -> Profile:
    """A profile of passes over two operations; each has samples by operation and work."""
    sampling = Sampling("cpu-clock", hz, True, "copies", 8192, True, (), 0, 0, 0, 0, 0)
    rows = [
        {"sequence": turn * len(OPERATIONS) + OPERATIONS.index(operation), "operation": operation,
         "work": work, "leaf": WORKS.index(work)}
        for turn, counts in enumerate(passes)
        for (operation, work), count in counts.items()
        for _ in range(count)
    ]  # fmt: skip
    samples = pl.DataFrame(
        rows,
        schema={
            "sequence": pl.UInt64,
            "operation": pl.String,
            "work": pl.String,
            "leaf": pl.UInt32,
        },
    )
    frames = pl.DataFrame(
        {"frame": range(len(WORKS)), "family": WORKS}, schema_overrides={"frame": pl.UInt32}
    )
    frame = pl.DataFrame({"operation": OPERATIONS * len(passes)}, schema={"operation": pl.String})
    return Profile(sampling, samples, pl.DataFrame(), frames, frame, Rules())


def steady(count: int, passes: int = 4) -> Profile:
    return made([{("a", "scan"): count}] * passes)


def total(table: pl.DataFrame) -> dict[str, object]:
    return table.row(by_predicate=pl.col("level") == "total", named=True)


class TestDifferences:
    def test_runs_of_different_numbers_of_passes_are_compared_by_pass(self) -> None:
        row = total(compare(steady(100, passes=3), steady(100, passes=9)))
        assert (row["ours_s"], row["theirs_s"]) == pytest.approx((0.2, 0.2))
        assert (row["ours_samples"], row["theirs_samples"]) == (300, 900)
        assert row["is_noise"]

    def test_samples_of_different_frequencies_are_compared_by_seconds(self) -> None:
        slow = made([{("a", "scan"): 50}] * 4, hz=250)
        row = total(compare(steady(100), slow))
        assert row["difference_s"] == pytest.approx(0)

    def test_a_change_is_outside_of_noise_and_has_its_sign(self) -> None:
        row = total(compare(steady(100), steady(200)))
        assert row["difference_s"] == pytest.approx(-0.2)
        assert row["high_s"] < 0
        assert not row["is_noise"]

    def test_what_only_one_side_does_is_a_row(self) -> None:
        theirs = made([{("a", "sort"): 100}] * 4)
        table = compare(steady(100), theirs).filter(pl.col("level") == "work")
        rows = table.sort("work").select("work", "ours_s", "theirs_s", "is_noise").rows()
        assert rows == [("scan", 0.2, 0.0, False), ("sort", 0.0, 0.2, False)]

    def test_shares_of_a_level_add_up(self) -> None:
        mixed = made([{("a", "scan"): 30, ("b", "sort"): 10}] * 3)
        table = compare(mixed, steady(5)).filter(pl.col("level") == "symbol")
        assert table["ours_share"].sum() == pytest.approx(1)
        assert table["theirs_share"].sum() == pytest.approx(1)

    def test_one_operation_only(self) -> None:
        mixed = made([{("a", "scan"): 30, ("b", "sort"): 10}] * 3)
        assert total(compare(mixed, mixed, "b"))["ours_samples"] == 30

    def test_an_operation_that_one_side_lacks_is_left_out(self) -> None:
        assert compare(steady(5), steady(5), "c").is_empty()

    def test_one_pass_on_both_sides_has_no_interval(self) -> None:
        row = total(compare(steady(100, passes=1), steady(200, passes=1)))
        assert (row["low_s"], row["is_noise"]) == (None, None)

    def test_one_pass_on_one_side_takes_the_scatter_of_the_other(self) -> None:
        row = total(compare(steady(100, passes=1), steady(200, passes=5)))
        assert row["is_noise"] is False

    def test_few_samples_are_noise(self) -> None:
        none = made([{}] * 4)
        assert total(compare(steady(2), none))["is_noise"]

    def test_none_of_what_was_sampled_less_is_no_surprise(self) -> None:
        # A sample of theirs is of as much time as all of ours.
        ours, theirs = made([{("a", "scan"): 4}] * 5, hz=10_000), made([{}], hz=500)
        assert total(compare(ours, theirs))["is_noise"]
        often = made([{("a", "scan"): 400}] * 5, hz=10_000)
        assert not total(compare(often, theirs))["is_noise"]

    def test_a_side_without_samples_has_no_share(self) -> None:
        assert total(compare(steady(100), made([{}] * 4)))["theirs_share"] is None

    def test_passes_that_differ_as_a_whole_widen_the_interval(self) -> None:
        scattered = made([{("a", "scan"): count} for count in (60, 140, 80, 120)])
        narrow = total(compare(steady(100), steady(100)))
        wide = total(compare(steady(100), scattered))
        assert wide["high_s"] > 2 * narrow["high_s"]

    def test_no_sample_at_all(self) -> None:
        assert compare(made([]), made([])).is_empty()


class TestChance:
    RUNS = 300

    def side(self, draw: random.Random, spread: float) -> Profile:
        """Three passes, each slower or faster as a whole, of counts that are random beside."""
        passes = []
        for _ in range(3):
            speed = draw.gauss(1, spread)
            wanted = {("a", "scan"): 60, ("a", "sort"): 25, ("b", "scan"): 40, ("b", "sort"): 90}
            passes.append(
                {key: max(0, round(draw.gauss(n * speed, n**0.5))) for key, n in wanted.items()}
            )
        return made(passes)

    @pytest.mark.parametrize("spread", [0.0, 0.1])
    def test_equal_runs_seldom_seem_to_differ(self, spread: float) -> None:
        draw = random.Random(1)
        tables = [
            compare(self.side(draw, spread), self.side(draw, spread)) for _ in range(self.RUNS)
        ]
        seeming = pl.concat(tables).group_by("level").agg((~pl.col("is_noise")).mean())
        # A row in twenty by design, and what chance adds to that in this many runs.
        assert max(seeming["is_noise"]) < 0.09


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (3.9, 3.182), (4, 2.776), (5, 2.571), (10, 2.228),
     (30, 2.042), (1000, 1.962)],
)  # fmt: skip
def test_quantiles_of_student_as_published(freedom: float, quantile: float) -> None:
    assert student_quantile(freedom) == pytest.approx(quantile, rel=0.005)
