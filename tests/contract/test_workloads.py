"""What every workload folder keeps, whoever wrote it. A new workload is tested by being there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from assay.analysis.answers.comparison import Tolerances, difference, read_expected
from assay.engines.discovery import find_engines
from assay.model.language import SPARQL, SQL, SUFFIXES
from assay.model.script import Script, ScriptOperation
from assay.running.reference.engine import DIALECT
from assay.workloads.answers import answers_folder
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workloads, read_workload
from assay.workloads.refreshing import VALUES

WORKLOADS = find_workloads()
DIALECTS = {
    DIALECT,
    *(dialect for engine in find_engines().values() for dialect in engine.facts.dialects),
}
SPOKEN = sorted({(), *(engine.facts.dialects for engine in find_engines().values())})
PLACEHOLDER = re.compile(r"\$\{(\w+)(?:\[(\d+)\])?\}")
# Values that are written into a text by their numbers are no placeholders any more.
LEFT = re.compile(r"\$\{(?!\d+\})")
SEEDS = range(1, 201)
WHY_WORDS_MIN = 4


@pytest.fixture(params=list(WORKLOADS))
def workload(request: pytest.FixtureRequest) -> Workload:
    return WORKLOADS[request.param]


def spoken_of(workload: Workload, dialects: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Dialects of a language that its operations are written in."""
    return dialects if SQL in workload.facts.languages else (SPARQL,)


def defects_of_files(workload: Workload, dialects: set[str]) -> list[str]:
    """What is wrong with the files of `operations/`, a sentence each."""
    folder = workload.folder / "operations"
    suffixes = [SUFFIXES[language] for language in workload.facts.languages]
    names = [
        f"{name} has no file"
        for name in workload.facts.operations.keys() - workload.of_source
        if not all((folder / f"{name}{suffix}").is_file() for suffix in suffixes)
    ]
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        operation, *dialect = path.name.removesuffix(path.suffix).split(".")
        if operation not in workload.facts.operations:
            names.append(f"{path.name} is of no operation that is played")
        elif dialect:
            plain = folder / f"{operation}{path.suffix}"
            names += _defects_of_override(path, plain, dialect[0], dialects)
    return names


def _defects_of_override(path: Path, base: Path, dialect: str, dialects: set[str]) -> list[str]:
    first, _, rest = path.read_text("utf-8").partition("\n")
    base_first, _, base_rest = base.read_text("utf-8").partition("\n")
    why = re.fullmatch(r"(?:--|#) why: (.+)", first)
    defects = []
    if dialect not in dialects:
        defects.append(f"{path.name} is for a dialect that no engine speaks")
    if why is None or len(why[1].split()) < WHY_WORDS_MIN:
        defects.append(f"{path.name} does not say why in its first line")
    if rest.split() in (base_rest.split(), [*base_first.split(), *base_rest.split()]):
        defects.append(f"{path.name} says what its base says")
    return defects


class TestFiles:
    def test_operations_and_overrides_are_in_order(self, workload: Workload) -> None:
        assert defects_of_files(workload, DIALECTS) == []

    def test_every_operation_is_played(self, workload: Workload) -> None:
        facts = workload.facts
        played = {*facts.order, *facts.played_once, *facts.refresh_operations, *facts.recovered}
        assert played == set(workload.facts.operations)

    def test_it_says_what_it_is(self, workload: Workload) -> None:
        assert (workload.folder / "README.md").is_file()
        assert workload.folder.name == workload.facts.name
        assert all(facts.title for facts in workload.facts.operations.values())

    def test_what_derives_from_the_tpc_says_so(self, workload: Workload) -> None:
        if workload.facts.name.startswith("tpc"):
            assert "not comparable to published TPC results" in (workload.facts.legal or "")

    def test_every_table_is_in_the_schema(self, workload: Workload) -> None:
        schema = "".join(workload.setup((), workload.facts.scale_default).values())
        assert [
            t for t in workload.facts.tables if not re.search(rf"(?i)create table {t}\b", schema)
        ] == []


class TestFilesOfAMadeWorkload:
    """The rules above find what they are for."""

    BASE = "-- What?\nselect 1\n"

    @pytest.fixture
    def made(self, tmp_path: Path) -> Workload:
        keys = 'name="m"\ntitle="M"\nabout="m"\narrival="power"\norder=["q1"]\n'
        manifest = f'{keys}[operations.q1]\ntitle="t"\n'
        (tmp_path / "operations").mkdir()
        (tmp_path / "workload.toml").write_text(manifest, encoding="utf-8")
        (tmp_path / "operations" / "q1.sql").write_text(self.BASE, encoding="utf-8")
        return read_workload(tmp_path)

    def test_a_good_override_is_none_of_them(self, made: Workload) -> None:
        text = "-- why: old has no literal one\nselect 2 - 1\n"
        (made.folder / "operations" / "q1.old.sql").write_text(text, encoding="utf-8")
        assert defects_of_files(made, {"old"}) == []

    @pytest.mark.parametrize(
        ("name", "text", "defect"),
        [
            (
                "q1.old.sql",
                "-- why: old has no one\nselect 2 - 1",
                "a dialect that no engine speaks",
            ),
            ("q1.new.sql", "-- What?\nselect 2 - 1", "does not say why"),
            ("q1.new.sql", "-- why: so\nselect 2 - 1", "does not say why"),
            ("q1.new.sql", "-- why: new has no one\nselect  1", "says what its base says"),
            ("q1.new.sql", f"-- why: new has no one\n{BASE}", "says what its base says"),
            ("q2.sql", "select 1", "is of no operation that is played"),
        ],
    )
    def test_a_bad_one_is(self, made: Workload, name: str, text: str, defect: str) -> None:
        (made.folder / "operations" / name).write_text(text, encoding="utf-8")
        defects = defects_of_files(made, {"new"})
        assert len(defects) == 1
        assert defect in defects[0]

    def test_a_missing_one_is(self, made: Workload) -> None:
        (made.folder / "operations" / "q1.sql").unlink()
        assert defects_of_files(made, set()) == ["q1 has no file"]


def asked_of(path: Path) -> set[tuple[str, int]]:
    """Placeholders of a text outside of comments: name and number of the value."""
    text = re.sub(r"--[^\n]*", "", path.read_text("utf-8"))
    return {(name, int(number or 0)) for name, number in PLACEHOLDER.findall(text)}


def of_one_text(workload: Workload) -> set[str]:
    """Operations whose text is the same at each execution of a run."""
    facts = workload.facts
    return {*facts.operations} - {*workload.drawn_operations} - {*facts.refresh_operations}


def answered_alike(workload: Workload) -> set[str]:
    """Those of them whose answer is known: what a run has made is another one each time."""
    facts = workload.facts
    made = {facts.receipt.found} if facts.receipt else set()
    return (of_one_text(workload) - made) | set(facts.checked) - workload.of_source


class TestParameters:
    def test_placeholders_and_rules_match(self, workload: Workload) -> None:
        asked = {n: op for n, op in workload.facts.operations.items() if op.program is None}
        for name, facts in asked.items():
            for path in workload.operations_folder.glob(f"{name}.*sql"):
                named = {parameter for parameter, _ in asked_of(path)}
                given = {*facts.parameters}
                given |= {*VALUES} if name in workload.facts.refresh_operations else set()
                assert named - set(workload.facts.constants) == given, path

    def test_every_value_of_a_list_is_used(self, workload: Workload) -> None:
        for name in of_one_text(workload):
            parameters = asked_of(workload.operations_folder / f"{name}.sql")
            asked = {
                parameter
                for parameter in parameters
                if parameter[0] not in workload.facts.constants
            }
            given = workload.statement(name, (), 1.0).parameters
            assert {(p, n) for p, values in given.items() for n in range(len(values))} == asked, (
                name
            )

    def test_drawn_values_obey_their_rules(self, workload: Workload) -> None:
        for name in of_one_text(workload):
            facts = workload.facts.operations[name]
            rules = {
                parameter: rule.model_dump(exclude_unset=True)
                for parameter, rule in facts.parameters.items()
            }
            for seed in SEEDS:
                drawn = workload.statement(name, (), 1.0, seed, 0).parameters
                for parameter, rule in rules.items():
                    values = drawn[parameter]
                    assert obeys(values, rule, workload.facts.lists, drawn), (
                        name,
                        seed,
                        parameter,
                        values,
                    )


class TestScript:
    @pytest.mark.parametrize("dialects", SPOKEN)
    def test_no_statement_has_a_placeholder_left(
        self, workload: Workload, dialects: tuple[str, ...]
    ) -> None:
        scale = workload.facts.scale_default
        script = workload.script(spoken_of(workload, dialects), scale, seed=1)
        texts = [
            statement.text for operation in script.operations for statement in operation.statements
        ]
        assert [text for text in texts if LEFT.search(re.sub(r"--[^\n]*", "", text))] == []

    @pytest.mark.parametrize("dialects", SPOKEN)
    def test_a_dialect_draws_what_the_others_draw(
        self, workload: Workload, dialects: tuple[str, ...]
    ) -> None:
        each = (spoken_of(workload), spoken_of(workload, dialects))
        scripts = [workload.script(spoken, 1.0, seed=1) for spoken in each]
        plain, other = ([operation.draws for operation in s.operations] for s in scripts)
        assert plain == other

    def test_it_is_the_same_after_a_journey_through_json(self, workload: Workload) -> None:
        script = workload.script(spoken_of(workload), workload.facts.scale_default, seed=1)
        assert Script.read(json.loads(json.dumps(script.facts()))) == script

    def test_it_has_every_operation_that_is_played(self, workload: Workload) -> None:
        script = workload.script(spoken_of(workload), workload.facts.scale_default, seed=1)
        names = [operation.name for operation in script.operations]
        played = (*workload.facts.order, *workload.facts.played_once, *workload.checks)
        assert names == list(dict.fromkeys(played))

    def test_draws_and_values_belong_together(self, workload: Workload) -> None:
        for operation in workload.script(
            spoken_of(workload), workload.facts.scale_default, seed=1
        ).operations:
            used = {index for statement in operation.statements for index in statement.values}
            given = operation.registers if operation.program else operation.draws
            assert used == set(range(len(given))), operation.name
            for statement_times in operation.statements:
                numbers = {
                    int(number) for number in re.findall(r"\$\{?(\d+)", statement_times.text)
                }
                assert numbers == set(range(1, len(statement_times.values) + 1)), (
                    statement_times.text
                )


FILLED_BY_SQL = [name for name, workload in WORKLOADS.items() if not workload.facts.tables]
DUCKDB = ("duckdb", "postgresql")
EXECUTIONS = 20


@pytest.mark.parametrize("name", FILLED_BY_SQL)
class TestOnDuckDb:
    """Oracle: DuckDB, asked directly, carries out what a script says."""

    def test_its_statements_return_what_is_promised(self, name: str) -> None:
        workload, scale, random = WORKLOADS[name], 0.02, Random(1)
        with duckdb.connect() as connection:
            for text in workload.setup(DUCKDB, scale).values():
                connection.execute(text)
            for operation in workload.script(DUCKDB, scale, seed=1).operations:
                for _ in range(EXECUTIONS if operation.draws else 1):
                    rows = executed(connection, operation, random)
                    wanted = workload.facts.operations[operation.name].rows
                    assert wanted in (None, len(rows)), operation.name
                assert wrong_answer(workload, operation.name, rows, scale) is None

    def test_its_data_are_the_same_each_time(self, name: str) -> None:
        made = []
        for _ in range(2):
            with duckdb.connect() as connection:
                for text in WORKLOADS[name].setup(DUCKDB, 0.02).values():
                    connection.execute(text)
                tables = sorted(row[0] for row in connection.execute("show tables").fetchall())
                made.append([sorted(connection.table(t).fetchall()) for t in tables])
        assert made[0] == made[1]
        assert any(made[0])


def executed(
    connection: duckdb.DuckDBPyConnection, operation: ScriptOperation, random: Random
) -> list[tuple[Any, ...]]:
    """The rows that one execution selects."""
    drawn = [
        random.randint(*draw.integer) if draw.integer else random.choice(draw.choice or ())
        for draw in operation.draws
    ]
    rows = []
    for statement in operation.statements:
        values = [drawn[index] for index in statement.values]
        table_rows = connection.execute(statement.text, values or None).fetchall()
        if re.search(r"(?im)^select\b", statement.text):
            rows += table_rows
    return rows


def wrong_answer(
    workload: Workload, operation: str, rows: list[tuple[Any, ...]], scale: float
) -> str | None:
    answers = answers_folder(workload, scale)
    if answers is None or not (answers / f"{operation}.csv").is_file():
        return None
    kinds, tolerance = workload.facts.operations[operation].answer, workload.facts.tolerance
    tolerances = Tolerances.of(kinds, tolerance.sum_absolute, tolerance.ratio_relative, scale)
    return difference(rows, read_expected(answers / f"{operation}.csv"), tolerances)


def obeys(
    values: list[str], rule: dict[str, Any], lists: dict[str, Any], drawn: dict[str, list[str]]
) -> bool:
    """Whether drawn values are what the rule allows; written from the README's table of rules."""
    if len(values) != rule.get("distinct", 1) or len(set(values)) != len(values):
        return False
    if "follows" in rule:
        return values == [lists[rule["map"]][drawn[rule["follows"]][0]]]
    kind = next(kind for kind in KINDS if kind in rule)
    allowed: Any = lists[rule[kind]] if isinstance(rule[kind], str) else rule[kind]
    if kind in ("words", "combination"):
        allowed = [lists[part] if isinstance(part, str) else part for part in allowed]
        allowed = [allowed[place] for place in rule.get("keep", range(len(allowed)))]
        return all(is_phrase(value, allowed, rule.get("separator", " ")) for value in values)
    return all(KINDS[kind](value, allowed) for value in values)


def is_phrase(value: str, lists: list[list[str]], separator: str) -> bool:
    parts = ["(" + "|".join(re.escape(word) for word in sentence) + ")" for sentence in lists]
    return re.fullmatch(re.escape(separator).join(parts), value) is not None


def is_decimal(value: str, bounds: list[str]) -> bool:
    low, number, high = Decimal(bounds[0]), Decimal(value), Decimal(bounds[1])
    return low <= number <= high and number.as_tuple().exponent == low.as_tuple().exponent


def is_day(value: str, bounds: list[str]) -> bool:
    return (
        date.fromisoformat(bounds[0]) <= date.fromisoformat(value) <= date.fromisoformat(bounds[1])
    )


def is_year(value: str, bounds: list[int]) -> bool:
    day = date.fromisoformat(value)
    return (day.month, day.day) == (1, 1) and bounds[0] <= day.year <= bounds[1]


KINDS: dict[str, Callable[[str, Any], bool]] = {
    "integer": lambda value, bounds: value.isdigit() and bounds[0] <= int(value) <= bounds[1],
    "decimal": is_decimal,
    "choice": lambda value, choices: value in choices,
    "day": is_day,
    "month": lambda value, bounds: is_day(value, bounds) and value.endswith("-01"),
    "year": is_year,
    "words": lambda *_: False,
    "combination": lambda *_: False,
    "per_scale": lambda value, quotient: Decimal(value) == Decimal(str(quotient)),
}


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        (["0"], {"integer": [1, 3]}),
        (["4"], {"integer": [1, 3]}),
        (["1", "1"], {"integer": [1, 3], "distinct": 2}),
        (["1"], {"integer": [1, 3], "distinct": 2}),
        (["0.1"], {"decimal": ["0.02", "0.09"]}),
        (["1995-03-02"], {"month": ["1995-01-01", "1996-01-01"]}),
        (["1995-02-01"], {"year": [1995, 1996]}),
        (["red blue"], {"words": ["colours", ["warm"]]}),
        (["red warm"], {"combination": ["colours", ["warm"]], "keep": [0]}),
        (["pink"], {"choice": "colours"}),
    ],
)
def test_what_breaks_a_rule_is_seen(values: list[str], rule: dict[str, Any]) -> None:
    assert not obeys(values, rule, {"colours": ["red", "blue"]}, {})


class TestAnswers:
    def test_columns_with_a_kind_are_in_every_answer(self, workload: Workload) -> None:
        files = sorted((workload.folder / "answers").rglob("*.csv"))
        for path in files:
            header = path.read_text("utf-8").partition("\n")[0].split("|")
            assert set(workload.facts.operations[path.stem].answer) <= set(header), path

    def test_what_is_drawn_at_each_execution_says_how_many_rows_it_returns(
        self, workload: Workload
    ) -> None:
        facts = workload.facts.operations
        drawn = [name for name in workload.drawn_operations if facts[name].program is None]
        assert [name for name in drawn if facts[name].rows_expected is None] == []

    def test_every_column_that_is_a_float_in_nature_has_a_kind(self, workload: Workload) -> None:
        """An average or a quotient has as many digits as an engine likes, so it cannot be exact."""
        for path in sorted(workload.operations_folder.glob("*.sql")):
            name, text = path.name.split(".")[0], path.read_text("utf-8")
            facts = workload.facts.operations[name]
            averages = re.findall(r"(?i)\bavg\([^()]*\) as (\w+)", text.partition("from")[0])
            assert {facts.answer.get(column) for column in averages} <= {"average", "ratio"}, name

    def test_a_scale_has_all_of_them_or_none(self, workload: Workload) -> None:
        answered = answered_alike(workload)
        for folder in {path.parent for path in (workload.folder / "answers").rglob("*.csv")}:
            assert {path.stem for path in folder.glob("*.csv")} == answered, folder
