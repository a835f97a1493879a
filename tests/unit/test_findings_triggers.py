"""Findings of counted triggers, with what their texts read."""

from __future__ import annotations

import pytest

from assay.analysis.findings.programs import triggers
from assay.engines.mysql_family.plan_facts import trigger_texts_of
from assay.model.catalogue import TriggerText
from assay.model.finding import Finding
from tests.cases import case, operation

STATEMENTS = {
    "post": "insert into posts (topic, body) values (?, ?)",
    "rename": "update members set name = ? where member = ?",
    "newest": "select * from posts where topic = ?",
}
RECOUNT = """update topics set replies = (select count(*) from posts p where p.topic = new.topic),
last_post = (select max(p.written) from forum.`posts` p where p.topic = new.topic)
where topic = new.topic -- select sum(n) from remarks"""
INCREMENT = "update topics set replies = replies + 1 where topic = new.topic"
LOOK_UP = "insert into log select topic from topics where topic = new.topic and title <> 'a from b'"


def found(*bodies: str, table: str = "posts") -> Finding:
    texts = tuple(TriggerText("counted", table, "insert", body, "forum") for body in bodies)
    of_load = [
        operation(name, overrides={"seconds": 0.01, "share": 1 / 3, "passes": 100})
        for name in STATEMENTS
    ]
    facts = {"triggers": {"counted": (100.0, 1.0)}, "trigger_texts": texts}
    (finding,) = triggers.find(case(*of_load, statements=STATEMENTS, **facts))
    return finding


def says(finding: Finding) -> str:
    return "; ".join(evidence.says for evidence in finding.evidence)


def test_a_trigger_that_aggregates_a_table_in_each_call() -> None:
    finding = found(RECOUNT)
    assert "called once per execution of post" in finding.claim
    assert finding.operations == ("post",)
    assert "computes count, max over rows of posts for each insert on posts" in says(finding)
    assert "by the changed row alone, instead of computing it from posts" in (finding.to_try or "")


@pytest.mark.parametrize(
    ("body", "reads"), [(INCREMENT, None), (LOOK_UP, "counted reads topics for each insert")]
)
def test_a_trigger_without_aggregates_has_the_general_advice(body: str, reads: str | None) -> None:
    finding = found(body)
    assert finding.to_try == "make the trigger cheaper, or remove it"
    assert (" reads " in says(finding)) is (reads is not None)
    assert reads is None or reads in says(finding)


@pytest.mark.parametrize("bodies", [(), (RECOUNT, RECOUNT)])
def test_an_unknown_or_ambiguous_text_tells_nothing(bodies: tuple[str, ...]) -> None:
    finding = found(*bodies)
    assert "called 0.5 times per execution of post, rename" in finding.claim
    assert finding.to_try == "make the trigger cheaper, or remove it"


def test_a_trigger_of_a_table_that_no_statement_names_is_fired_by_another() -> None:
    assert set(found(RECOUNT, table="scores").operations) == {"post", "rename"}


def test_passwords_are_left_out_of_the_texts_of_triggers() -> None:
    body = "alter user a identified by 'hidden'"
    (text,) = trigger_texts_of([("t", "posts", "insert", body, "forum")])
    assert (text.name, text.table, text.event, text.schema) == ("t", "posts", "insert", "forum")
    assert "hidden" not in text.body
