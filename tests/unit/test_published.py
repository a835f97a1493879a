"""Figures of articles: what their authors derived is derived again, and ours stand beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.analysis.counters.meters import parse_activity
from assay.analysis.figures.contract import Asked, Figure, Measure
from assay.analysis.figures.discovery import make
from assay.analysis.published.compared import compare, says
from assay.analysis.published.derived import derive
from assay.analysis.published.facts import Published, parse_published, read_published
from assay.analysis.published.reasons import deciding, reasons
from assay.analysis.quantities import Spread
from assay.model.errors import UsageError
from tests.studies import PUBLISHED, two_engines

SHIPPED = Path(assay.__file__).parent / "studies"
TPCH = read_published(SHIPPED / "tpch-profile" / "published.toml")
BSBM = read_published(SHIPPED / "bsbm-scale" / "published.toml")
TPCC = read_published(SHIPPED / "tpcc-dolt" / "published.toml")


def again(published: Published, name: str) -> float:
    entry = next(item for item in published.derived if item.name == name)
    derived = derive(published, entry)
    assert derived.agrees
    return derived.value


class TestWhatAuthorsDerived:
    """Of the printed figures, by the analyses that records have."""

    def test_77_percent_of_look_ups_are_on_the_page_of_the_one_before(self) -> None:
        assert round(again(BSBM, "look-ups on the page of the one before"), 2) == 0.77

    def test_a_tenth_of_the_data_has_14_percent_of_the_look_ups(self) -> None:
        assert round(again(BSBM, "look-ups at 100 Mt in those at 1000 Mt"), 2) == 0.14

    def test_ten_times_the_data_are_seven_times_the_look_ups(self) -> None:
        assert round(again(BSBM, "look-ups at 1000 Mt over those at 100 Mt")) == 7

    def test_a_power_test_uses_four_fifths_of_the_machine(self) -> None:
        assert round(again(TPCH, "the power test's utilisation"), 1) == 0.8

    def test_memory_at_a_hundred_times_the_scale_with_nine_streams_is_630_gb(self) -> None:
        name = "memory of queries at 10,000 GB with nine streams"
        assert again(TPCH, name) == pytest.approx(630e9)

    def test_a_client_that_waits_13_ms_gets_75_transactions_a_second(self) -> None:
        name = "transactions a second, by the latency of one client"
        assert again(TPCC, name) == pytest.approx(77, abs=0.1)

    @pytest.mark.parametrize(
        "published", [TPCH, BSBM, TPCC], ids=["tpch-profile", "bsbm-scale", "tpcc-dolt"]
    )
    def test_all_others_agree_as_well(self, published: Published) -> None:
        assert [
            derived.name for derived in published.derived if not derive(published, derived).agrees
        ] == []


def test_the_printed_lines_are_the_table_beside_them() -> None:
    activity = BSBM.figure("activity")
    assert activity is not None
    meters, lines = activity.tables
    columns = ("rnd", "seq", "same seg", "same pg", "same par", "disk", "spec disk", "messages")
    for place, (_, line) in enumerate(lines.rows, start=1):
        printed = parse_activity(str(line))
        assert [row[place] for row in meters.rows] == [printed[w] for w in (*columns, "fork")]


def test_functions_are_added_up_by_what_they_do() -> None:
    profile = TPCH.figure("profile")
    assert profile is not None
    shares = {key: value.value for key, value in profile.measures().items()}
    assert shares["join filter"] == pytest.approx(0.095117 + 0.049448 + 0.013212)
    assert sum(shares.values()) == pytest.approx(
        sum(float(str(row[1])) for row in profile.tables[0].rows)
    )


class TestAFileThatIsWrong:
    """Says where, and what is known instead."""

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (('series = "Tests of a <test>"', 'serie = "x"'), "unknown key 'article'"),
            (('analysis = "utilised_share"', 'analysis = "utilised"'), "utilised_share"),
            (
                ("utilisation.power_seconds", "utilisation.power"),
                "unknown figure 'utilisation.power'",
            ),
            (('figure = "utilisation"', 'figure = "utilization"'), "no figure 'utilization'"),
            (('name = "numa"', 'name = "states"'), "'states' is given twice"),
            (("streams = 5", "streams = 'five'"), "conditions.streams"),
            (("[article]", "[article"), "cannot be read"),
        ],
    )
    def test_is_refused(self, change: tuple[str, str], message: str) -> None:
        with pytest.raises(UsageError) as refused:
            parse_published(PUBLISHED.replace(*change), "published.toml")
        assert message in str(refused.value)
        assert "published.toml" in str(refused.value)

    def test_that_is_missing_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"none\.toml"):
            read_published(tmp_path / "none.toml")


def a_figure(**values: float) -> Figure:
    measures = tuple(
        Measure(key, key, "s", {"DuckDB": Spread(value, value, value)})
        for key, value in values.items()
    )
    return Figure("states", "states", "States", subjects=("DuckDB",), measures=measures)


class TestBeside:
    published = parse_published(PUBLISHED, "published.toml")

    def test_times_of_the_first_quantity_are_compared_and_not_seconds(self) -> None:
        facts = self.published.figure("states")
        assert facts is not None
        rows = {figure.key: figure for figure in compare(a_figure(cold=3.0, hot=1.0), facts)}
        assert rows["cold"].article_times == pytest.approx(120 / 42)
        assert rows["cold"].our_times == {"DuckDB": 3.0}
        assert rows["os-warm"].ours == {}
        sentences = list(says(tuple(rows.values()), a_figure()))
        assert sentences == ["Cold is 2.86 x hot in the article; here DuckDB 3 x."]

    def test_a_value_of_another_unit_is_not_ours(self) -> None:
        facts = self.published.figure("utilisation")
        assert facts is not None
        other = Figure(
            "u", "u", "u", measures=(Measure("share", "s", "s", {"x": Spread(1, 1, 1)}),)
        )
        assert all(figure.ours == {} for figure in compare(other, facts))

    def test_reasons_are_what_differs(self, tmp_path: Path) -> None:
        runs = tuple(two_engines(tmp_path).studied)
        sentences = {
            reason.topic: reason.text for reason in reasons(self.published.conditions, runs)
        }
        assert "100 x ours" in sentences["scale"]
        assert "24 hardware threads, ours 2" in sentences["cores"]
        assert (
            "Virtuoso 7; DuckDB 2.0.0 and PostgreSQL 2.0.0 are other engines" in sentences["engine"]
        )
        assert "5 streams, here it was 2" in sentences["streams"]
        brief = deciding("utilisation", self.published.conditions, runs)
        assert brief is not None
        assert "engine" not in brief

    def test_another_workload_is_said_first(self, tmp_path: Path) -> None:
        runs = tuple(two_engines(tmp_path).studied)
        ours = str(runs[0].run.facts["workload"]["name"])
        same = self.published.conditions.model_copy(update={"workload": ours})
        other = self.published.conditions.model_copy(update={"workload": "another"})
        assert "workload" not in {reason.topic for reason in reasons(same, runs)}
        assert "workload is another" in reasons(other, runs)[0].text
        assert "another there" in str(deciding("utilisation", other, runs))

    def test_ours_is_made_by_the_analysis_that_derives_theirs(self, tmp_path: Path) -> None:
        runs = tuple(two_engines(tmp_path).studied)
        made = make(Asked("utilisation", "utilisation", "", runs))
        measure = made.measure("share")
        facts = self.published.figure("utilisation")
        assert measure is not None
        assert facts is not None
        rows = {figure.key: figure for figure in compare(made, facts)}
        assert rows["share"].ours == measure.values


def test_a_table_may_have_several_columns_of_values() -> None:
    published = read_published(SHIPPED / "q1-index-scan" / "published.toml")
    sizes = published.figure("read_sizes")
    assert sizes is not None
    values = sizes.measures()
    assert len(values) == 26
    assert values["8 KiB random"].value == 4073.21
    assert values["512 B sequential, by the page cache"].value == 1079447.32
    ours = {"here": Spread(12_000.0, 11_000.0, 13_000.0, 3)}
    measure = Measure("8 KiB random", "8 KiB random", "/s", ours)
    figure = Figure("read_sizes", "read_sizes", "x", subjects=("here",), measures=(measure,))
    rows = compare(figure, sizes)
    assert len(rows) == 26
    assert [made_figure.key for made_figure in rows if made_figure.ours] == ["8 KiB random"]
    assert not list(says(rows, figure))
