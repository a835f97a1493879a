"""Two sides beside each other: planted differences are found, and nothing is where nothing is."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from assay import engines
from assay.analysis.compare.causes import NOTHING, PLAN, PLANNING, Parts, amounts
from assay.analysis.compare.evidence import Evidence, evidence_of, settings_that_differ
from assay.analysis.compare.gain import SplitGain, gain_of
from assay.analysis.compare.ratios import THROUGHPUT, by_chance, ratios_of
from assay.analysis.compare.sides import compare_sides
from assay.analysis.compare.split import split
from assay.analysis.figures.compare.compare_tables import is_remarkable, plan_rows
from assay.analysis.figures.contract import Asked, Column, Figure
from assay.analysis.figures.discovery import make
from assay.analysis.load.account import account_of
from assay.analysis.plans.difference import PlanChange, PlanComparison
from assay.analysis.profile.statement_work import statement_work
from assay.analysis.study_runs import StudyRun
from assay.analysis.work.rules import STEPS, parse_rules
from assay.model.errors import UsageError
from assay.record.reader import Run
from assay.report.study.compare_charts import TOTAL, compare_rows
from assay.report.terminal.compare import compare_lines
from tests.plans import made, made_plan
from tests.sides import OPERATION, Doing, Side

USUAL = {"select": Doing(0.4, 1.0, 0.2), "commit": Doing(0.0, 0.4, 1.0)}
PLANS_LONGER = USUAL | {"select": Doing(1.4, 1.0, 0.2)}
SCANS_LONGER = USUAL | {"select": Doing(0.4, 3.0, 0.2)}
STOCK = {"s_key": "int", "s_data": "varchar(50)", "s_dist": "char(24)"}
ROUNDS = 4


def rounds(path: Path, first: Side, second: Side) -> list[tuple[Run, Run]]:
    """Rounds of both sides, each with noise of its own."""
    return [
        (
            replace(first, seed=2 * number).write(path / f"a{number}"),
            replace(second, seed=2 * number + 1).write(path / f"b{number}"),
        )
        for number in range(ROUNDS)
    ]


def gain(pairs: list[tuple[Run, Run]]) -> SplitGain:
    split_gain = gain_of(pairs, evidence_of(*pairs[0]))
    assert split_gain is not None
    return split_gain


def share(split_gain: SplitGain, cause: str) -> float:
    return (
        sum(r.seconds.value for r in split_gain.by_cause if r.key == (cause,))
        / split_gain.total.value
    )


def figure(pairs: list[tuple[Run, Run]], **options: str) -> Figure:
    runs = tuple(
        StudyRun("sides", {"side": name}, number, run)
        for number, pair in enumerate(pairs, 1)
        for name, run in zip(("old", "new"), pair, strict=True)
    )
    return make(Asked("compare", "compare", "old and new", runs, options))


class TestStatementWork:
    def test_planning_is_told_with_the_memory_that_it_takes(self, tmp_path: Path) -> None:
        work = statement_work(Side(USUAL).write(tmp_path))
        assert work is not None
        whole = work.planning.filter(statement="select").row(0, named=True)
        assert whole["seconds"] == pytest.approx(0.0004, rel=0.2)
        assert whole["low_s"] < 0.0004 < whole["high_s"]
        assert work.planning.filter(statement="commit").is_empty()
        assert work.work["work"].unique().to_list() == ["scan"]

    def test_several_clients_are_not_told_apart(self, tmp_path: Path) -> None:
        assert statement_work(Side(USUAL, clients=2).write(tmp_path)) is None


class TestGain:
    def test_a_longer_planning_explains_all_of_it(self, tmp_path: Path) -> None:
        pairs = rounds(tmp_path, Side(USUAL, jitter=0.2), Side(PLANS_LONGER, jitter=0.2))
        split_gain = gain(pairs)
        assert split_gain.total.value == pytest.approx(0.001, rel=0.1)
        assert share(split_gain, PLANNING) == pytest.approx(1.0, abs=0.1)
        assert split_gain.by_statement[0].key == (OPERATION, "select")
        assert sum(row.seconds.value for row in split_gain.by_cause) == pytest.approx(
            split_gain.total.value
        )
        assert sum(row.seconds.value for row in split_gain.by_both) == pytest.approx(
            split_gain.total.value
        )

    def test_a_longer_scan_is_cpu_time_of_that_work(self, tmp_path: Path) -> None:
        split_gain = gain(rounds(tmp_path, Side(USUAL, jitter=0.2), Side(SCANS_LONGER, jitter=0.2)))
        assert share(split_gain, "CPU: scan") == pytest.approx(1.0, abs=0.1)
        assert abs(share(split_gain, PLANNING)) < 0.05

    def test_it_is_the_plan_s_where_the_plan_is_another(self, tmp_path: Path) -> None:
        plans = [
            made_plan(
                made(way, object="stock", index=index),
                operation=OPERATION,
                native=f"{OPERATION}-0.json",
                name="select",
            )
            for way, index in (("index scan", "s_key"), ("scan", None))
        ]
        first = Side(USUAL, jitter=0.2, plans=plans[:1])
        second = Side(SCANS_LONGER, jitter=0.2, plans=plans[1:])
        pairs = rounds(tmp_path, first, second)
        assert share(gain(pairs), PLAN) == pytest.approx(1.0, abs=0.1)
        says = figure(pairs).says
        assert "plan of update.select" in says[1]
        assert any(
            "stock is read by scan, not by index scan of s_key" in sentence for sentence in says
        )

    def test_columns_that_are_read_stand_beside_those_that_are_needed(self, tmp_path: Path) -> None:
        plans = [
            made_plan(
                made("scan", object="stock", columns=columns),
                operation=OPERATION,
                native=f"{OPERATION}-0.json",
                name="select",
                text="select s_key from stock",
            )
            for columns in (("s_key", "s_data", "s_dist"), ("s_key",))
        ]
        sides = [Side(USUAL, plans=[plan], tables={"stock": STOCK}) for plan in plans]
        shown = figure(rounds(tmp_path, *sides))
        (table,) = (candidate for candidate in shown.tables if candidate.name == "columns")
        assert table.rows == (("update.select", "stock", 3, 1, 1, 1),)
        shown_lines = lines(shown)
        assert any(
            re.search(r"update\.select +stock +3, needs 1 +1, needs 1", shown_line)
            for shown_line in shown_lines
        )
        alike = figure(rounds(tmp_path / "alike", sides[1], sides[1]))
        assert any("no unneeded column is read" in line for line in lines(alike))

    @pytest.mark.parametrize(
        ("counts", "remarkable"),
        [
            ((3, 1, 1, 1), True),
            ((2, 2, 4, 4), True),
            ((1, 1, 1, 1), False),
            ((4, 4, None, None), False),
            ((None, None, 5, 4), True),
        ],
    )
    def test_columns_are_remarkable(
        self, counts: tuple[int | None, ...], *, remarkable: bool
    ) -> None:
        assert is_remarkable(counts) is remarkable

    def test_a_change_of_queries_that_are_alike_is_told_once(self) -> None:
        changes = tuple(PlanChange("method", "orders: TopN, not Sort", 0.25, 0.5) for _ in range(3))
        plan = made_plan(made("scan"))
        evidence = Evidence(PlanComparison(plan, plan, (), changes))
        evidence_rows = list(plan_rows({("delivery", "oldest"): evidence}))
        message = "orders: TopN, not Sort (3 times)"
        assert evidence_rows == [("delivery.oldest", "method", message, 0.75, 1.5)]

    def test_without_samples_what_is_known_of_statements_stays(self, tmp_path: Path) -> None:
        first, second = Side(USUAL, clients=2), Side(SCANS_LONGER, clients=2)
        split_gain = gain(rounds(tmp_path, first, second))
        assert not split_gain.sampled
        assert {row.key[0] for row in split_gain.by_cause if row.seconds.value > 1e-9} == {
            "not explained",
            "between transactions",
        }

    def test_cpu_time_of_several_clients_is_by_transaction_that_was_measured(
        self, tmp_path: Path
    ) -> None:
        side = Side(USUAL, count=600, clients=2, warmup=200)
        cpu = compare_sides(rounds(tmp_path, side, side)).cpu
        # 0.4 ms of planning and 1.4 ms of scanning.
        assert sum(difference.first_s for difference in cpu) == pytest.approx(0.0018, rel=0.05)


class TestWaterfall:
    @pytest.mark.parametrize("noise", [True, False])
    def test_nothing_is_a_share_of_a_difference_that_may_be_none(self, noise: bool) -> None:
        causes = 12
        differs = "no" if noise else "yes"
        rows: list[dict[str, object]] = [
            {"cause": name, "seconds": seconds, "share": None if noise else seconds / causes}
            | {"differs": differs}
            for name, seconds in (*((f"cause {n}", 1.0) for n in range(causes)), (TOTAL, causes))
        ]
        steps = compare_rows("waterfall", rows)
        assert [step["name"] for step in steps[-2:]] == ["all others (2)", TOTAL]
        assert steps[-1]["end"] == pytest.approx(causes * 1e3)
        assert [("%" in step["label"]) for step in steps] == [not noise] * len(steps)


def lines(shown: Figure, *, whole: bool = False) -> list[str]:
    document = {
        "title": "tpcc: old and new",
        "verdict": "valid",
        "answers": ["The answers of all 8 runs are right."],
        "runs": [{"run": str(number)} for number in range(8)],
        "doubts": [{"verdict": "unknown", "check": "steal", "reason": "much", "runs": ["1"]}],
        "figures": [asdict(shown)],
        "report": None,
        "legal": [],
    }
    return list(compare_lines(document, 80, whole=whole))


class TestFigure:
    def test_sides_that_are_alike_do_not_differ(self, tmp_path: Path) -> None:
        shown = figure(rounds(tmp_path, Side(USUAL, jitter=0.3), Side(USUAL, jitter=0.3)))
        assert shown.says[0].startswith("No difference beyond noise: new has ")
        assert "Nothing is explained" in shown.says[1]
        assert [chart.kind for chart in shown.charts] == ["forest", "waterfall"]

    def test_a_difference_is_told_with_its_cause(self, tmp_path: Path) -> None:
        pairs = rounds(tmp_path, Side(USUAL, jitter=0.2), Side(PLANS_LONGER, jitter=0.2))
        shown = figure(pairs)
        assert "the transactions a second of old: a transaction takes" in shown.says[0]
        assert "optimiser time" in shown.says[1]
        rows = {row[0]: row for table in shown.tables if table.name == "gain" for row in table.rows}
        parts = [row[1] for name, row in rows.items() if name != "all of it"]
        assert sum(float(part or 0) for part in parts) == pytest.approx(rows["all of it"][1])
        text = "\n".join(lines(shown))
        assert "How much of the difference each change explains (a transaction)" in text
        assert "What the checks doubt: steal in 1 of 8 runs." in text
        assert re.search(r"optimiser time +[\d.]+ (ms|µs) +\d+ %", text)
        for line in [*lines(shown), *lines(shown, whole=True)]:
            assert len(line) <= 80, line
        turned = figure(pairs, first="new")
        assert turned.says[0].startswith("old has ")

    def test_sides_that_begin_alike_are_told_apart(self, tmp_path: Path) -> None:
        shown = figure(rounds(tmp_path, Side(USUAL), Side(PLANS_LONGER)))
        (ratios,) = (table for table in shown.tables if table.name == "ratios")
        sides = ("maintenance=64kB", "maintenance=64MB")
        columns = (*ratios.columns[:2], *map(Column, sides), *ratios.columns[4:])
        renamed = replace(shown, tables=(replace(ratios, columns=columns),))
        assert any(re.fullmatch(r" +64kB +64MB +ratio  95 %", line) for line in lines(renamed))

    def test_the_whole_may_be_noise_in_the_table_where_sentences_say_so(
        self, tmp_path: Path
    ) -> None:
        pairs = rounds(tmp_path, Side(USUAL, jitter=0.9), Side(USUAL, jitter=0.9))
        shown = figure(pairs)
        (gain_table,) = (table for table in shown.tables if table.name == "gain")
        is_noise = shown.says[0].startswith("No difference beyond noise")
        assert gain_table.rows[-1][-1] == ("no" if is_noise else "yes")

    def test_a_single_round_says_that_nobody_knows(self, tmp_path: Path) -> None:
        pairs = rounds(tmp_path, Side(USUAL), Side(PLANS_LONGER))[:1]
        shown = figure(pairs)
        assert "From one round, so its certainty" in shown.says[0]
        assert any("a single round" in sentence for sentence in shown.missing)

    def test_of_more_than_two_sides_two_are_named(self, tmp_path: Path) -> None:
        run = Side(USUAL, count=50).write(tmp_path)
        runs = tuple(StudyRun("sides", {"side": name}, 1, run) for name in ("a", "b", "c"))
        asked = Asked("compare", "compare", "three", runs)
        assert (
            "name them with first and second out of PostgreSQL a, PostgreSQL b"
            in make(asked).missing[0]
        )
        named = Asked("compare", "compare", "three", runs, {"first": "a", "second": "c"})
        assert make(named).subjects == ("a", "c")
        wrong = Asked("compare", "compare", "three", runs, {"first": "d", "second": "c"})
        assert "'d' is none of them" in make(wrong).missing[0]
        alone = Asked("compare", "compare", "three", runs[:1])
        assert "one side has no run" in make(alone).missing[0]


def test_ratios_say_how_many_seem_to_differ_by_chance(tmp_path: Path) -> None:
    ratios = ratios_of(rounds(tmp_path, Side(USUAL, jitter=0.2), Side(SCANS_LONGER, jitter=0.2)))
    assert (ratios[0].what, ratios[0].differs) == (THROUGHPUT, True)
    assert ratios[0].ratio == pytest.approx(3.5 / 5.5, rel=0.05)
    assert [ratio.what for ratio in ratios if "." in ratio.what] == [
        "update.commit",
        "update.select",
    ]
    assert by_chance(ratios) == pytest.approx(0.05 * len(ratios))


def test_parts_beyond_what_was_measured_are_not_explained(tmp_path: Path) -> None:
    pairs = rounds(tmp_path, Side(USUAL), Side(SCANS_LONGER))[:1]
    accounts = [account_of(run) for run in pairs[0]]
    assert accounts[0] is not None
    assert accounts[1] is not None
    terms = split(accounts[0], accounts[1])
    key = (OPERATION, "select")
    half = Parts(0.0, {"scan": 0.001}, {"disk_write": 0.0005})
    all_amounts = list(amounts(terms, {key: NOTHING}, {key: half}, {key: Evidence()}))
    by_cause = {
        amount.cause: amount.seconds for amount in all_amounts if amount.statement == "select"
    }
    assert by_cause["CPU: scan"] == pytest.approx(0.001)
    assert by_cause["waiting: disk write and sync"] == pytest.approx(0.0005)
    assert by_cause["not explained"] == pytest.approx(0.0005, rel=0.05)
    assert sum(amount.seconds for amount in all_amounts) == pytest.approx(
        accounts[1].whole_s - accounts[0].whole_s
    )


def test_settings_that_differ_are_listed_once(tmp_path: Path) -> None:
    runs = [Side(USUAL, count=20).write(tmp_path / name) for name in "ab"]
    runs[0].facts["request"]["settings"] = {"work_mem": "4MB"}
    runs[1].facts["request"]["settings"] = {"work_mem": "64MB"}
    assert settings_that_differ(runs[0], runs[1]) == [("set work_mem", "4MB", "64MB")]
    for run, size in zip(runs, ("4MB", "64MB"), strict=True):
        run.environment["engine"] = {"settings": {"work_mem": size, "data_directory": str(run.dir)}}
    assert settings_that_differ(runs[0], runs[1]) == [("work_mem", "4MB", "64MB")]


class TestSteps:
    @pytest.mark.parametrize("engine", ["dolt", "mysql", "mariadb", "postgresql"])
    def test_an_engine_s_rules_tell_steps_apart(self, engine: str) -> None:
        path = Path(engines.__path__[0]) / engine / "operations.toml"
        rules = parse_rules(path.read_text(encoding="utf-8"), engine)
        assert {rule.step for rule in rules.rules} - {None} == set(STEPS)

    def test_a_step_that_is_none_is_refused(self) -> None:
        rule = '[[rules]]\nwork = "{}"\nstep = "{}"\nsymbols = ["f"]\nsays = "Does."\n'
        with pytest.raises(UsageError, match="rule 1: unknown step 'parsing'; did you mean"):
            parse_rules(rule.format("optimiser/parse", "parsing"), "mine")
        with pytest.raises(UsageError, match=r"only the work 'optimiser/parse' has steps\."):
            parse_rules(rule.format("scan", "parse"), "mine")

    def test_rules_without_steps_are_one_step(self, tmp_path: Path) -> None:
        run = Side(USUAL, count=100).write(tmp_path)
        for rule in run.facts["engine"]["operations"]["rules"]:
            rule.pop("step", None)
        work = statement_work(run)
        assert work is not None
        assert set(work.planning["step"]) == {"optimiser/parse", None}
