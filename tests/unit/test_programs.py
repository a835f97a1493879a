"""A file of an operation with a program becomes statements that are asked for by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay._core import program_marks
from assay.model.errors import UsageError
from assay.model.script import Script, ScriptOperation
from assay.workloads import programs
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workload, read_workload

POSTGRESQL = ("postgresql",)
DIALECTS = (POSTGRESQL, ("mariadb", "mysql"), ("mysql",), ("dolt", "mysql"), ("sqlite",))
PROGRAMS = ("new-order", "payment", "order-status", "delivery", "stock-level")


def made(text: str, dialects: tuple[str, ...] = POSTGRESQL) -> ScriptOperation:
    return programs.operation("q", "tpcc.payment", text, dialects)


def a_workload(root: Path, manifest: str, text: str) -> Workload:
    (root / "operations").mkdir()
    (root / "workload.toml").write_text(manifest, encoding="utf-8")
    (root / "operations" / "q.sql").write_text(text, encoding="utf-8")
    return read_workload(root)


class TestStatements:
    def test_they_are_named_and_bind_registers(self) -> None:
        text = "-- Who pays.\n-- name: begin\nbegin;\n-- name: pay\nselect ${b}, ${a}, ${b} -- ${c}"
        operation = made(text)
        assert [
            (statement.name, statement.text, statement.values) for statement in operation.statements
        ] == [
            ("begin", "begin", ()),
            ("pay", "select $1, $2, $1 -- ${c}", (0, 1)),
        ]
        assert operation.registers == ("b", "a")
        assert operation.program == "tpcc.payment"

    def test_a_list_makes_a_statement_for_each_length(self) -> None:
        operation = made("-- name: items\nselect 1 where i in ($[ ${i.#} ]) and w = ${w}")
        assert [statement.elements for statement in operation.statements] == list(range(1, 16))
        assert {statement.name for statement in operation.statements} == {"items"}
        third = operation.statements[2]
        assert third.text == "select 1 where i in ($1, $2, $3) and w = $4"
        bound = [operation.registers[place] for place in third.values]
        assert bound == ["i.1", "i.2", "i.3", "w"]

    @pytest.mark.parametrize(
        ("text", "bound_text"),
        [
            ("select 1 where $[ i = ${i.#} ]{or}", "select 1 where i = $1 or i = $2"),
            ("$[ (select ${i.#}) ]{union all}", "(select $1) union all (select $2)"),
            ("select $[ ${i.#} ]{}", "select $1  $2"),
            ("select $[ ${i.#} ], $[ ${j.#} ]", "select $1, $2, $3, $4"),
            ("select a[1], $[ ${i.#} ]", "select a[1], $1, $2"),
            ("select $[ ${w} + ${i.#} ]", "select $1 + $2, $1 + $3"),
        ],
    )
    def test_what_joins_the_elements_stands_behind(self, text: str, bound_text: str) -> None:
        assert made(f"-- name: a\n{text}").statements[1].text == bound_text

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "the file contains no statement"),
            ("begin", "'begin' has no name.*-- name: NAME"),
            ("-- name: a\n-- name: b\nbegin", "needs one name of letters"),
            ("-- name: a b\nbegin", "needs one name of letters"),
            ("-- name:\nbegin", "needs one name of letters"),
            (
                "-- name: a\nbegin;\n-- name: a\ncommit",
                "two statements of the file have the name a:",
            ),
            ("-- name: a\nbegin;\n-- name: b\n", "no statement follows the name b"),
            ("-- name: a\nselect $[ ${i.#}", r"a: a list \$\[ \.\.\. \] is not closed,"),
            (
                "-- name: a\nselect $[ $[ ${i.#} ] ]",
                r"a: a list \$\[ \.\.\. \] is not closed, or contains a bracket",
            ),
            (
                "-- name: a\nselect ${i.#}",
                r"\$\{i\.#\} belongs to a list element, but is outside of a list:",
            ),
            ("-- name: a\nselect '${i}'", r"a: \$\{i\} stands inside quotes"),
            ("-- name: a\nselect 'a", "a quote or comment in the file is not closed"),
        ],
    )
    def test_what_is_wrong_is_told(self, text: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            made(text)


class TestWorkloads:
    MANIFEST = 'arrival = "closed"\n[operations.q]\nprogram = "tpcc.payment"\n'
    TEXT = "-- name: begin\nselect ${k}, ${w_id}, $[ ${i.#} ]"

    def test_constants_stand_in_the_text_and_registers_are_bound(self, tmp_path: Path) -> None:
        manifest = f"{self.MANIFEST}[constants]\nk = {{ times_scale = 3 }}\n"
        workload = a_workload(tmp_path, manifest, self.TEXT)
        (operation,) = workload.script(POSTGRESQL, 2.0, 1).operations
        assert operation.statements[0].text == "select 6, $1, $2"
        assert operation.registers[:2] == ("w_id", "i.1")
        assert workload.drawn_operations == ("q",)

    def test_programs_are_told_numbers_of_the_scale(self, tmp_path: Path) -> None:
        manifest = f"{self.MANIFEST}[programs]\nwarehouses = {{ times_scale = 1 }}\nmore = 7\n"
        workload = a_workload(tmp_path, manifest, self.TEXT)
        assert workload.script(POSTGRESQL, 3.0, 1).parameters == {"warehouses": 3, "more": 7}

    @pytest.mark.parametrize(
        ("manifest", "message"),
        [
            (
                '[operations.q]\nprogram = "a.b"',
                r'operations\.q\.program needs arrival = "closed"',
            ),
            ("[operations.q]\nshare_min = 0.5", r"operations\.q\.share_min needs arrival"),
            ("[operations.q]\nwait = { think_s = 1 }", r"operations\.q\.wait needs arrival"),
            ("deck = true", 'deck needs arrival = "closed"'),
            ("[programs]\nn = 1", 'programs needs arrival = "closed"'),
            (f"{MANIFEST}parameters.n.integer = [1, 2]", "remove program or parameters"),
            (f'before = ["q"]\norder = ["q"]\n{MANIFEST}', "'q' is in order and in before"),
            ('before = ["q"]', "every operation is in `before` or `after`"),
            ("[operations.q]\nwait = { key_s = 1 }", "key_s.*keying_s"),
            ("[operations.q]\nshare_min = 43", "less than or equal to 1"),
        ],
    )
    def test_what_contradicts_itself_is_refused(
        self, tmp_path: Path, manifest: str, message: str
    ) -> None:
        with pytest.raises(UsageError, match=message):
            a_workload(tmp_path, manifest, self.TEXT)

    def test_a_program_is_of_the_mix(self, tmp_path: Path) -> None:
        (tmp_path / "operations").mkdir()
        (tmp_path / "operations" / "a.sql").write_text("select 1", encoding="utf-8")
        (tmp_path / "operations" / "q.sql").write_text(self.TEXT, encoding="utf-8")
        manifest = f'after = ["q"]\norder = ["a"]\n{self.MANIFEST}'
        (tmp_path / "workload.toml").write_text(manifest, encoding="utf-8")
        with pytest.raises(UsageError, match="'q' runs once, and its program runs in a mix"):
            read_workload(tmp_path)

    def test_what_programs_are_told_are_numbers(self, tmp_path: Path) -> None:
        workload = a_workload(tmp_path, f'{self.MANIFEST}[programs]\nn = "many"', self.TEXT)
        with pytest.raises(UsageError, match="programs: the bounds must be whole numbers"):
            workload.script(POSTGRESQL, 1.0, 1)


class TestTpcc:
    """Oracle: the specification's clauses, and what the programs of the driver ask for."""

    @pytest.mark.parametrize("dialects", DIALECTS)
    def test_its_five_transactions_are_there_in_each_dialect(
        self, dialects: tuple[str, ...]
    ) -> None:
        script = find_workload("tpcc").script(dialects, 2.0, 1)
        program_names = {
            operation.name: operation.program
            for operation in script.operations
            if operation.program
        }
        assert program_names == {name: f"tpcc.{name}" for name in PROGRAMS}
        assert script.parameters == {"warehouses": 2}
        assert Script.read(script.facts()) == script

    def test_no_transaction_of_the_family_has_more_statements_than_aimed_at(self) -> None:
        """Fifteen a transaction on average would be what batching clients need."""
        for dialects in DIALECTS:
            facts = find_workload("tpcc").facts
            cards = {name: facts.operations[name].weight for name in facts.order}
            script = find_workload("tpcc").script(dialects, 1.0, 1)
            most = {
                operation.name: len({statement.name for statement in operation.statements})
                for operation in script.operations
                if operation.program
            }
            mean = sum(cards[name] * most[name] for name in PROGRAMS) / sum(cards.values())
            assert mean <= 12

    def test_its_deck_is_that_of_the_specification(self) -> None:
        facts = find_workload("tpcc").facts
        assert facts.deck
        mix_entries = {
            name: (
                operation.weight,
                operation.wait and (operation.wait.keying_s, operation.wait.think_s),
                operation.limit_s,
            )
            for name, operation in facts.operations.items()
            if operation.program
        }
        assert mix_entries == {
            "new-order": (10, (18, 12), 5),
            "payment": (10, (3, 12), 5),
            "order-status": (1, (2, 10), 5),
            "delivery": (1, (2, 5), 5),
            "stock-level": (1, (2, 5), 20),
        }
        least = {name: facts.operations[name].share_min for name in PROGRAMS[1:]}
        assert least == {
            "payment": 0.43,
            "order-status": 0.04,
            "delivery": 0.04,
            "stock-level": 0.04,
        }

    def test_marks_have_names(self) -> None:
        for name in PROGRAMS:
            marks = program_marks(f"tpcc.{name}")
            assert marks == ["rolled_back", "by_name", "remote", "skipped:4", "lines:4"]
        with pytest.raises(ValueError, match=r"no program \"tpcc.lunch\", but these: tpcc.new-or"):
            program_marks("tpcc.lunch")
