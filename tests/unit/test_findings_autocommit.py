"""Statements that commit one by one are found if the commits wait, and only then."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.waiting import autocommit
from assay.analysis.findings.waiting.autocommit import commits_of
from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.model.finding import Advice
from assay.model.script import Script, ScriptOperation, ScriptStatement
from assay.running.asked.played import in_one_transaction
from assay.running.asked.request import RunRequest
from assay.study.experiments.following import followed
from tests.cases import case, operation

INSERT = "insert into t values (1, 'a;b')"
INSERTS = "-- Four rows.\n" + ";\n".join(4 * [INSERT])


def waiting(text: str = INSERTS, log: float = 0.8, **request: Any) -> Case:
    """An operation with this text, which waited for the log for a share of its time."""
    spent = operation("save", log=log, cpu_user=1 - log)
    return case(spent, statements={"save": text}, request=request)


@pytest.mark.parametrize(
    ("text", "commits"),
    [
        (INSERTS, 4),
        (INSERTS + ";\nselect count(*) from t;\n", 4),
        ("/* a; b */ update t set x = 1; delete from t", 2),
        (f"begin;\n{INSERTS};\ncommit", 0),
        (f"start transaction;\n{INSERTS};\ncommit", 0),
        (f"set autocommit = 0;\n{INSERTS}", 0),
        (f"call save();\n{INSERTS}", 0),
        ("do $$ begin insert into t values (1); insert into t values (2); end $$", 0),
        ("select 1; select 2; select 3", 0),
        ("", 0),
    ],
)
def test_commits_are_counted_where_no_transaction_is_begun(text: str, commits: int) -> None:
    assert commits_of(text) == commits


def test_all_commits_but_one_are_avoidable() -> None:
    (finding,) = autocommit.find(waiting())
    assert finding.effect_share == pytest.approx(0.8 * 3 / 4)
    assert finding.saved == (pytest.approx(0.6), pytest.approx(0.75))
    assert finding.advice is not None
    assert (finding.advice.kind, finding.advice.subject) == ("one-transaction", "save")
    assert "each of the 4 writing statements of save" in finding.claim


def test_where_writes_and_syncs_take_kernel_time_it_is_suspected() -> None:
    spent = operation("save", log=0.03, cpu_system=0.3, cpu_user=0.67)
    (finding,) = autocommit.find(case(spent, statements={"save": INSERTS}))
    assert finding.effect_share == pytest.approx(0.33 * 3 / 4)
    assert finding.settle == "how long the same statements take in one transaction"
    assert finding.saved == (pytest.approx(0.03 * 3 / 4), pytest.approx(0.75))
    assert "time in the kernel" in finding.claim


def test_where_the_time_was_not_split_it_is_suspected_up_to_all_commits_but_one() -> None:
    unsplit = operation("save", overrides={"where": {}})
    (finding,) = autocommit.find(case(unsplit, statements={"save": INSERTS}))
    assert finding.effect_share == pytest.approx(3 / 4)
    assert finding.saved == (0.0, pytest.approx(3 / 4))
    assert finding.settle == "how long the same statements take in one transaction"
    assert "the wait for commits was not measured" in finding.claim
    twin = case(unsplit, statements={"save": f"begin;\n{INSERTS};\ncommit"})
    assert autocommit.find(twin) == []


@pytest.mark.parametrize(
    "twin",
    [
        waiting(f"begin;\n{INSERTS};\ncommit"),
        waiting("insert into t values (1); insert into t values (2)"),
        waiting("insert into t values (1), (2), (3), (4)"),
        waiting(log=0.04),
        waiting(roll_back=True),
        waiting(pipeline=True),
        waiting(one_transaction=["save"]),
        case(
            operation("save", cpu_system=0.5, cpu_user=0.5),
            statements={"save": f"begin;\n{INSERTS};\ncommit"},
        ),
        case(
            operation("save", cpu_system=0.5, cpu_user=0.5),
            statements={"save": "insert into t values (1), (2), (3), (4)"},
        ),
    ],
    ids=[
        *("transaction", "two", "one", "quick", "rolled back", "pipelined", "changed"),
        *("transaction in the kernel", "one in the kernel"),
    ],
)
def test_a_counterpart_without_the_cause_has_no_finding(twin: Case) -> None:
    assert autocommit.find(twin) == []


class TestExperiment:
    ADVICE = Advice("one-transaction", "save")

    def test_the_operation_is_one_transaction(self) -> None:
        request = RunRequest(workload="shop", engine="sqlite", scale=1)
        changed = followed(request, self.ADVICE, find_engine("sqlite"))
        assert changed.text == "save in one transaction"
        assert changed.request.one_transaction == ["save"]

    def test_a_query_language_without_transactions_is_refused(self) -> None:
        request = RunRequest(workload="bsbm", engine="fuseki", scale=1, language="sparql")
        with pytest.raises(UsageError, match="only operations in SQL"):
            followed(request, self.ADVICE, find_engine("fuseki"))

    def test_other_operations_are_left_as_they_are(self) -> None:
        insert, count = ScriptStatement("insert"), ScriptStatement("select")
        script = Script((ScriptOperation("save", (insert,)), ScriptOperation("count", (count,))))
        save, other = in_one_transaction(script, ["save"]).operations
        assert [statement.text for statement in save.statements] == ["begin", "insert", "commit"]
        assert other == script.operations[1]
