"""Temporary tables that an operation creates: their statistics, and the cost of creating them."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.client.table_per_execution import find as find_cost
from assay.analysis.findings.plans.misestimate import find as find_misestimate
from assay.analysis.findings.plans.temporary_statistics import find
from assay.analysis.load.latency import distribution
from assay.analysis.time.statement_times import OperationStatements, StatementTimes
from assay.model.catalogue import Index
from assay.model.errors import UsageError
from assay.model.temporary import created_temporary, filled_at, gathers_statistics
from assay.record.layout import changing_result
from assay.workloads.rewriting import without
from tests.cases import ADVICE, case, node, operation, plan, plans

POSTGRESQL = ("postgresql",)
CREATE = "create temporary table wanted (id integer primary key) on commit drop"
FILL = "insert into wanted select id from products where shelf = ${shelf}"
READ = "select * from wanted w join prices p on p.id = w.id"
SCRIPT = f"begin;\n{CREATE};\n{FILL};\n{READ};\ncommit"
ANALYZED = SCRIPT.replace(FILL, f"{FILL};\nanalyze wanted")
PART = 'analyzed:analyze "wanted"'


@pytest.mark.parametrize(
    "text",
    [
        CREATE,
        "create temp table if not exists Wanted (id integer)",
        'CREATE LOCAL TEMPORARY TABLE "wanted" AS SELECT 1',
        "create temporary table pg_temp.wanted (id integer)",
    ],
)
def test_a_created_table_is_known_by_its_name(text: str) -> None:
    assert created_temporary(text) == "wanted"


@pytest.mark.parametrize("text", ["create table wanted (id integer)", FILL, "create index a on b"])
def test_other_statements_create_none(text: str) -> None:
    assert created_temporary(text) is None


@pytest.mark.parametrize(
    ("statements", "place"),
    [
        ([CREATE, FILL, READ], 1),
        ([CREATE, FILL, "create index i on wanted (id)", FILL, READ, FILL], 3),
        (["create temp table wanted as select 1", READ], 0),
        ([CREATE, READ, FILL], None),
        ([FILL, READ], None),
    ],
)
def test_a_table_is_filled_before_it_is_read(statements: list[str], place: int | None) -> None:
    assert filled_at("wanted", statements) == place


def test_a_statement_gathers_statistics_of_its_table_or_of_all() -> None:
    assert gathers_statistics("wanted", "analyze table wanted")
    assert gathers_statistics("wanted", "vacuum (verbose) analyze")
    assert not gathers_statistics("wanted", "analyze prices")
    assert not gathers_statistics("wanted", READ)


def test_the_statement_for_statistics_follows_the_one_that_fills_the_table() -> None:
    rewritten = without(SCRIPT, POSTGRESQL, [PART])
    assert rewritten.text == ANALYZED.replace("analyze wanted", 'analyze "wanted"')
    assert rewritten.removed[0].name == PART


def test_an_operation_without_such_a_table_is_refused() -> None:
    with pytest.raises(UsageError, match="no temporary table"):
        without(READ, POSTGRESQL, [PART])


def test_the_answer_is_verified_with_statistics() -> None:
    assert changing_result([f"q1/{PART}", "q1/sort"]) == ["q1/sort"]


def run_of(text: str, estimated: float, *, index: str = "id", can: bool = True) -> Case:
    """A join of 20 temporary rows with a table that is scanned for 60 of its 300,000."""
    wanted = node("scan", object="wanted", rows=20.0, estimated_rows=estimated, seconds=0.01)
    prices = node("scan", object="prices", rows=3e5, estimated_rows=3e5, seconds=0.5)
    build = node("hash build", wanted, rows=20.0, estimated_rows=estimated, seconds=0.01)
    facts = {"rows": 60.0, "condition": "(p.id = w.id)", "seconds": 0.3}
    join = node("hash join", prices, build, **facts)
    of_read = replace(plan(node("aggregate", join, seconds=0.18), text=READ), statement=3)
    statements = ADVICE["statements"] | ({"temporary-statistics": "analyze.sql"} if can else {})
    return case(
        operation(overrides={"seconds": 1.0}),
        plans=plans(of_read),
        statements={"q1": text},
        indexes={"prices": (Index("prices", "prices_key", (index,), unique=False),)},
        advice=ADVICE | {"statements": statements},
    )


def test_a_table_that_is_scanned_beside_a_temporary_one_is_found() -> None:
    (finding,) = find(run_of(SCRIPT, 1270.0))
    assert finding.effect_share == pytest.approx(0.8)
    assert "wanted of q1 has no statistics" in finding.claim
    assert "prices_key" in finding.claim
    assert finding.advice is not None
    assert (finding.advice.kind, finding.advice.tables) == ("temporary-statistics", ["wanted"])
    assert len(finding.witnesses) > 1


def test_an_engine_without_such_a_statement_gets_words() -> None:
    (finding,) = find(run_of(SCRIPT, 1270.0, can=False))
    assert finding.advice is None
    assert finding.to_try is not None
    assert "`analyze wanted`" in finding.to_try


@pytest.mark.parametrize(
    "twin",
    [
        run_of(ANALYZED, 1270.0),
        run_of(SCRIPT, 25.0),
        run_of(SCRIPT, 1270.0, index="price"),
        run_of(READ, 1270.0),
    ],
    ids=["analyzed", "right estimate", "no index", "a table that stays"],
)
def test_a_scan_with_another_cause_is_not(twin: Case) -> None:
    assert find(twin) == []


def underestimated(text: str) -> Case:
    """A nested loop over 50,000 rows of a temporary table of which 100 were assumed."""
    wanted = node("scan", object="wanted", rows=5e4, estimated_rows=100.0, seconds=0.1)
    looked_up = node("index scan", object="prices", rows=5e4, estimated_rows=100.0, seconds=0.9)
    loop = node("nested loop", wanted, looked_up, rows=5e4, estimated_rows=100.0, seconds=0.0)
    statements = ADVICE["statements"] | {"temporary-statistics": "analyze.sql"}
    return case(
        operation(overrides={"seconds": 1.0}),
        plans=plans(plan(loop, text=READ)),
        statements={"q1": text},
        advice=ADVICE | {"statements": statements},
    )


def test_advice_on_too_few_assumed_rows_is_about_the_operation() -> None:
    (finding,) = find_misestimate(underestimated(SCRIPT))
    assert finding.advice is not None
    assert (finding.advice.kind, finding.advice.subject) == ("temporary-statistics", "q1")


def test_statistics_before_the_run_are_not_advised_for_a_table_of_the_run() -> None:
    (finding,) = find_misestimate(underestimated(ANALYZED))
    assert finding.advice is None
    (other,) = find_misestimate(underestimated(READ))
    assert other.advice is not None
    assert other.advice.kind == "statistics"


def timed(text: str, **shares: float) -> Case:
    """A run whose statements took these shares of the operation's time, by their number."""
    ns = distribution(pl.Series([1000]))
    times = [
        StatementTimes(f"{name[1:]} word", 1, 1.0, share, 0.0, ns) for name, share in shares.items()
    ]
    by_operation = {"q1": OperationStatements(tuple(times), None)}
    return case(operation(), statements={"q1": text}, statement_times=by_operation)


def test_the_cost_of_a_table_has_the_commit_that_only_it_needs() -> None:
    (finding,) = find_cost(timed(SCRIPT, s1=0.05, s2=0.2, s3=0.1, s4=0.3, s5=0.25))
    assert finding.effect_share == pytest.approx(0.45)
    assert finding.saved is not None
    assert finding.saved[1] == pytest.approx(0.55)


def test_a_commit_that_other_changes_need_is_no_cost_of_the_table() -> None:
    text = SCRIPT.replace(READ, "update products set shelf = 3")
    (finding,) = find_cost(timed(text, s1=0.05, s2=0.2, s3=0.1, s4=0.3, s5=0.25))
    assert finding.effect_share == pytest.approx(0.2)
    assert "commit" not in finding.claim


@pytest.mark.parametrize(
    "twin",
    [timed(SCRIPT, s2=0.01, s4=0.9, s5=0.01), timed(READ, s1=1.0)],
    ids=["little time", "no table"],
)
def test_a_table_that_costs_little_is_not_named(twin: Case) -> None:
    assert find_cost(twin) == []
