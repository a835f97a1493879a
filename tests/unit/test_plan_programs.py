"""Programs that are played for their plans: each statement once, with the answers of the others."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from assay import _core
from assay.engines.plan_reading import Explained, PlanAnswer, PlanAsked
from assay.model.plan import Plan, PlanNode, Reads
from assay.model.script import Script, ScriptOperation, ScriptStatement
from assay.running.plans import EXECUTIONS_MAX, NO_ANSWERS, Capture
from assay.workloads.discovery import find_workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

ROW: Sequence[object] = ("Name", *["x"] * 14)
# Of a payment: what each of its statements comes to.
ANSWERS: dict[str, list[Sequence[object]]] = {
    "district": [ROW],
    "by_name": [(7,), (8,), (9,)],
    "customer": [ROW],
    "warehouse": [("House", *ROW[1:])],
    "history": [],
}


class Engine:
    def plan_reader(self, instance: object) -> Any:
        raise NotImplementedError

    def plan(self, sql: str, operation: str, statement: int, native: str) -> Plan:
        return Plan(operation, statement, native, PlanNode("result", sql))


class Reader:
    """Answers statements as it was told to, by their names."""

    def __init__(
        self, operation: ScriptOperation, answers: dict[str, list[Sequence[object]]]
    ) -> None:
        self.names = {statement.text: statement.name or "" for statement in operation.statements}
        self.answers = answers
        self.asked: list[tuple[str, Sequence[object], bool]] = []

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        raise AssertionError("a program's statements need answers")

    def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
        for question in statements:
            name = self.names[question.text]
            self.asked.append((name, question.values, question.explained))
            rows = self.answers.get(name, [])
            explanation = Explained(
                f"plan of {name}", None, 0.1, Reads("counted", index_lookups=2.0)
            )
            if name in ("begin", "commit"):
                explanation = Explained(None, "it steers", 0.0)
            yield PlanAnswer(explanation if question.explained else None, rows, len(rows) or 1)

    def close(self) -> None:
        pass


def payment() -> Script:
    return find_workload("tpcc").script(("postgresql",), 1.0, 1)


def number_of(script: Script, name: str) -> int:
    return [operation.name for operation in script.operations].index(name)


def captured(place: Path, script: Script, reader: Any, player: Any) -> dict[str, Any]:
    capture = Capture(
        Engine(), reader, place, 1, player, {"grammar": "postgres", "tables": {"t": {"a": "int"}}}
    )
    capture.all(script, {}, 0.0, lambda _done, _expected: None)
    document: dict[str, Any] = json.loads((place / "plans" / "plans.json").read_text())
    return document


@pytest.fixture
def script() -> Script:
    whole = payment()
    return Script((whole.operations[number_of(whole, "payment")],), parameters=whole.parameters)


def player_of(script: Script) -> _core.Player:
    return _core.Player(json.dumps(script.facts()), 1, 0)


def test_each_statement_has_one_plan_by_its_name(tmp_path: Path, script: Script) -> None:
    reader = Reader(script.operations[0], ANSWERS)
    capture = captured(tmp_path, script, reader, player_of(script))
    assert sorted(plan["name"] for plan in capture["plans"]) == sorted(ANSWERS)
    assert [entry["name"] for entry in capture["missing"]] == ["begin", "commit"]
    explained = [name for name, _, wanted in reader.asked if wanted]
    assert len(explained) == len(set(explained)) == 7
    plan = Plan.read(
        next(query_plan for query_plan in capture["plans"] if query_plan["name"] == "by_name")
    )
    assert plan.text is not None
    assert "c_last = $3" in plan.text
    assert plan.reads == Reads("counted", index_lookups=2.0)
    assert (tmp_path / "plans" / plan.native).read_text() == "plan of by_name"
    assert capture["schema"]["tables"] == {"t": {"a": "int"}}
    (cost,) = capture["operations"]
    assert (cost["watched_s"], cost["ratio"]) == (None, None)


def test_values_are_those_of_one_execution_with_its_answers(tmp_path: Path, script: Script) -> None:
    reader = Reader(script.operations[0], ANSWERS)
    captured(tmp_path, script, reader, player_of(script))
    execution = reader.asked[: [name for name, _, _ in reader.asked].index("commit") + 1]
    values = {name: list(bound) for name, bound, _ in execution}
    amount = values["district"][0]
    assert isinstance(amount, Decimal)
    assert amount == amount.quantize(Decimal("0.01"))
    # The names of warehouse and district were read by statements before.
    assert values["history"][-1] == "House    Name"
    assert amount in values["history"]
    if "by_name" in values:
        # Of three of that name the one in the middle.
        assert 8 in values["customer"]


def test_inputs_are_those_that_the_first_session_draws(tmp_path: Path, script: Script) -> None:
    asked = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        reader = Reader(script.operations[0], ANSWERS)
        captured(tmp_path / place, script, reader, player_of(script))
        asked.append(reader.asked)
    assert asked[0] == asked[1]


def test_what_a_program_refuses_ends_it_with_the_reason(tmp_path: Path, script: Script) -> None:
    reader = Reader(script.operations[0], ANSWERS | {"warehouse": [(None,)]})
    capture = captured(tmp_path, script, reader, player_of(script))
    reasons = {entry["name"]: entry["reason"] for entry in capture["missing"]}
    assert "a name is no text" in reasons["history"]
    assert "warehouse" in {plan["name"] for plan in capture["plans"]}


def test_an_error_of_the_engine_ends_it_with_the_reason(tmp_path: Path, script: Script) -> None:
    class Failing(Reader):
        def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
            for answer in super().play(statements, limit_s):
                yield answer
                if self.asked[-1][0] == "district":
                    yield PlanAnswer(None, error="the server went away")

    capture = captured(tmp_path, script, Failing(script.operations[0], ANSWERS), player_of(script))
    assert [plan["name"] for plan in capture["plans"]] == ["district"]
    reasons = {entry["name"]: entry["reason"] for entry in capture["missing"]}
    assert reasons["commit"].endswith("1 executions: the server went away")


class Stubborn:
    """Plays the same statement for ever."""

    def __init__(self) -> None:
        self.begun = 0
        self.is_named = False

    def begin(self, operation: int) -> None:
        self.begun, self.is_named = self.begun + 1, False

    def next(self) -> tuple[int, list[object]] | None:
        is_named, self.is_named = self.is_named, True
        return None if is_named else (0, [])

    def answered(self, statement: int, rows: Sequence[Sequence[object]], count: int) -> None:
        pass


def test_a_statement_that_is_never_asked_says_so(tmp_path: Path) -> None:
    statements = (
        ScriptStatement("x", name="often"),
        ScriptStatement("y $1", (0,), "never", 1),
        ScriptStatement("y $1 $2", (0, 1), "never", 2),
    )
    operation = ScriptOperation("a", statements, program="p", registers=("r.1", "r.2"))
    player = Stubborn()
    capture = captured(tmp_path, Script((operation,)), Reader(operation, {}), player)
    assert player.begun == EXECUTIONS_MAX
    (missing,) = capture["missing"]
    assert (missing["name"], missing["statement"]) == ("never", 1)
    assert missing["reason"] == f"not executed in any of {EXECUTIONS_MAX} executions"


def test_an_engine_whose_plans_come_without_answers_says_so(tmp_path: Path, script: Script) -> None:
    class Plain:
        def explain(
            self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
        ) -> Iterator[Explained]:
            raise AssertionError

        def close(self) -> None:
            pass

    capture = captured(tmp_path, script, Plain(), player_of(script))
    assert {entry["reason"] for entry in capture["missing"]} == {NO_ANSWERS}


class TestPlayer:
    def test_a_script_without_programs_is_played_in_turn(self) -> None:
        script = Script((ScriptOperation("a", (ScriptStatement("x"), ScriptStatement("y"))),))
        player = player_of(script)
        player.begin(0)
        assert [player.next() for _ in range(3)] == [(0, []), (1, []), None]

    def test_values_of_python_are_what_a_program_reads(self, script: Script) -> None:
        for customer in (7, Decimal("7.0"), 7.0):
            values = self.after_by_name(player_of(script), customer)
            assert 7 in values

    @pytest.mark.parametrize("customer", [None, "seven", b"7", True, Decimal("7.5")])
    def test_what_is_no_number_is_refused(self, script: Script, customer: object) -> None:
        with pytest.raises(ValueError, match="no decimal"):
            self.after_by_name(player_of(script), customer)

    def test_a_program_that_there_is_not_is_refused(self) -> None:
        statements = (ScriptStatement("x", name="x"),)
        script = Script((ScriptOperation("a", statements, program="b.c"),))
        with pytest.raises(ValueError, match=r"b\.c"):
            player_of(script)

    def after_by_name(self, player: _core.Player, customer: object) -> list[object]:
        """Values of the statement that comes after a customer was found by name."""
        for _ in range(EXECUTIONS_MAX):
            player.begin(0)
            is_stopped = False
            while (pair := player.next()) is not None:
                number, values = pair
                name = payment().operations[1].statements[number].name or ""
                if is_stopped:
                    return values
                is_stopped = name == "by_name"
                rows = [(customer,)] if is_stopped else ANSWERS.get(name, [])
                player.answered(number, rows, 1)
        raise AssertionError("nobody was asked for by name")
