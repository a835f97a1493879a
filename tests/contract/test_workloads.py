"""What every workload folder keeps, whoever wrote it. A new workload is tested by being there."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from assay.engines.discovery import find_engines
from assay.workloads.contract import Workload, find_workloads, read_workload

WORKLOADS = find_workloads()
DIALECTS = {dialect for engine in find_engines().values() for dialect in engine.facts.dialects}
PLACEHOLDER = re.compile(r"\$\{(\w+)(?:\[(\d+)\])?\}")
SEEDS = range(200)
WHY_WORDS_MIN = 4


@pytest.fixture(params=list(WORKLOADS))
def workload(request: pytest.FixtureRequest) -> Workload:
    return WORKLOADS[request.param]


def defects_of_files(workload: Workload, dialects: set[str]) -> list[str]:
    """What is wrong with the files of `operations/`, a sentence each."""
    folder = workload.folder / "operations"
    found = [
        f"{name} has no file"
        for name in workload.facts.order
        if not (folder / f"{name}.sql").is_file()
    ]
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        operation, *dialect = path.name.removesuffix(".sql").split(".")
        if operation not in workload.facts.operations:
            found.append(f"{path.name} is of no operation")
        elif dialect:
            found += _defects_of_override(path, folder / f"{operation}.sql", dialect[0], dialects)
    return found


def _defects_of_override(path: Path, base: Path, dialect: str, dialects: set[str]) -> list[str]:
    first, _, rest = path.read_text("utf-8").partition("\n")
    base_first, _, base_rest = base.read_text("utf-8").partition("\n")
    why = re.fullmatch(r"-- why: (.+)", first)
    found = []
    if dialect not in dialects:
        found.append(f"{path.name} is for a dialect that no engine speaks")
    if why is None or len(why[1].split()) < WHY_WORDS_MIN:
        found.append(f"{path.name} does not say why in its first line")
    if rest.split() in (base_rest.split(), [*base_first.split(), *base_rest.split()]):
        found.append(f"{path.name} says what its base says")
    return found


class TestFiles:
    def test_operations_and_overrides_are_in_order(self, workload: Workload) -> None:
        assert defects_of_files(workload, DIALECTS) == []

    def test_every_operation_is_played(self, workload: Workload) -> None:
        assert set(workload.facts.order) == set(workload.facts.operations)

    def test_it_says_what_it_is(self, workload: Workload) -> None:
        assert (workload.folder / "README.md").is_file()
        assert workload.folder.name == workload.facts.name
        assert all(facts.title for facts in workload.facts.operations.values())

    def test_what_derives_from_the_tpc_says_so(self, workload: Workload) -> None:
        if workload.facts.name.startswith("tpc"):
            assert "not comparable to published TPC results" in (workload.facts.legal or "")

    def test_every_table_is_in_the_schema(self, workload: Workload) -> None:
        schema = workload.schema()
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
            ("q2.sql", "select 1", "is of no operation"),
        ],
    )
    def test_a_bad_one_is(self, made: Workload, name: str, text: str, defect: str) -> None:
        (made.folder / "operations" / name).write_text(text, encoding="utf-8")
        found = defects_of_files(made, {"new"})
        assert len(found) == 1
        assert defect in found[0]

    def test_a_missing_one_is(self, made: Workload) -> None:
        (made.folder / "operations" / "q1.sql").unlink()
        assert defects_of_files(made, set()) == ["q1 has no file"]


class TestParameters:
    def test_placeholders_and_rules_match(self, workload: Workload) -> None:
        for name, facts in workload.facts.operations.items():
            defaults = workload.statement(name, (), 1.0, None, 0).parameters
            for path in (workload.folder / "operations").glob(f"{name}.*sql"):
                asked = PLACEHOLDER.findall(path.read_text("utf-8"))
                assert {parameter for parameter, _ in asked} == set(facts.parameters), path
                assert [p for p, n in asked if int(n or 0) >= len(defaults[p])] == [], path

    def test_every_value_of_a_list_is_used(self, workload: Workload) -> None:
        for name in workload.facts.operations:
            text = (workload.folder / "operations" / f"{name}.sql").read_text("utf-8")
            asked = {(parameter, int(n or 0)) for parameter, n in PLACEHOLDER.findall(text)}
            given = workload.statement(name, (), 1.0, None, 0).parameters
            assert {(p, n) for p, values in given.items() for n in range(len(values))} == asked, (
                name
            )

    def test_default_text_has_no_placeholder_left(self, workload: Workload) -> None:
        for name in workload.facts.operations:
            assert (
                "${" not in workload.statement(name, (), workload.facts.scale_default, None, 0).text
            )

    def test_drawn_values_obey_their_rules(self, workload: Workload) -> None:
        for name, facts in workload.facts.operations.items():
            for seed in SEEDS:
                drawn = workload.statement(name, (), 1.0, seed, 0).parameters
                for parameter, rule in facts.parameters.items():
                    values = drawn[parameter]
                    assert obeys(values, rule, workload.facts.lists, drawn), (
                        name,
                        seed,
                        parameter,
                        values,
                    )


def obeys(
    values: list[str], rule: dict[str, Any], lists: dict[str, Any], drawn: dict[str, list[str]]
) -> bool:
    """Whether drawn values are what the rule allows; written from the README's table of rules."""
    if len(values) != rule.get("distinct", 1) or len(set(values)) != len(values):
        return False
    if "follows" in rule:
        return values == [lists[rule["map"]][drawn[rule["follows"]][0]]]
    kind = next(kind for kind in KINDS if kind in rule)
    told: Any = lists[rule[kind]] if isinstance(rule[kind], str) else rule[kind]
    if kind == "words":
        told = [lists[part] if isinstance(part, str) else part for part in told]
        return all(is_phrase(value, told, rule.get("separator", " ")) for value in values)
    return all(KINDS[kind](value, told) for value in values)


def is_phrase(value: str, lists: list[list[str]], separator: str) -> bool:
    parts = ["(" + "|".join(re.escape(word) for word in words) + ")" for words in lists]
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
    "integer": lambda value, told: value.isdigit() and told[0] <= int(value) <= told[1],
    "decimal": is_decimal,
    "choice": lambda value, told: value in told,
    "day": is_day,
    "month": lambda value, told: is_day(value, told) and value.endswith("-01"),
    "year": is_year,
    "words": lambda *_: False,
    "per_scale": lambda value, told: Decimal(value) == Decimal(str(told)),
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
        (["pink"], {"choice": "colours"}),
    ],
)
def test_what_breaks_a_rule_is_seen(values: list[str], rule: dict[str, Any]) -> None:
    assert not obeys(values, rule, {"colours": ["red", "blue"]}, {})


class TestAnswers:
    def test_columns_with_a_kind_are_in_every_answer(self, workload: Workload) -> None:
        files = sorted((workload.folder / "answers").glob("*/*.csv"))
        for path in files:
            header = path.read_text("utf-8").partition("\n")[0].split("|")
            assert set(workload.facts.operations[path.stem].answer) <= set(header), path

    def test_every_column_that_is_a_float_in_nature_has_a_kind(self, workload: Workload) -> None:
        """An average or a quotient has as many digits as an engine likes, so it cannot be exact."""
        for name, facts in workload.facts.operations.items():
            text = (workload.folder / "operations" / f"{name}.sql").read_text("utf-8")
            averages = re.findall(r"(?i)\bavg\([^()]*\) as (\w+)", text.partition("from")[0])
            assert {facts.answer.get(column) for column in averages} <= {"average", "ratio"}, name

    def test_a_scale_has_all_of_them_or_none(self, workload: Workload) -> None:
        for folder in (path for path in (workload.folder / "answers").iterdir() if path.is_dir()):
            assert {path.stem for path in folder.glob("*.csv")} == set(workload.facts.operations), (
                folder
            )
