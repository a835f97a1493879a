"""The first line of a docstring is a sentence that stands alone: what ruff's rules cannot say."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from tests.style import sources
from tests.style.sources import PACKAGE, python_files

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

WORDS_MIN = 3
COLUMNS_MAX = 100
# Words that refer to something which the reader of one line cannot see, or that begin no sentence.
DANGLING = re.compile(
    r"^(?:It|They|That|This|These|Those|He|She|Its|Their|His|Her|What|Which|Whether|Where|Who|Whose"
    r"|How|When|Why|Whatever|Whoever|By|As|Of|At|From|On|See|So|Such|The same)\b"
)
# Turns of speech that a database engineer would not use.
ARCHAIC = re.compile(r"\b(?:(?:is|are|was|were) told|told (?:of|by)|(?:to|can) be had|so many)\b")
NO_WORDS = frozenset({"a", "an", "the", "of", "its", "return", "returns", "yield", "yields"})
# Whoever reads a figure has to know its unit: from the function's name or from its documentation.
FIGURES = frozenset({"float", "int", "float | None", "int | None"})
UNIT_IN_NAME = re.compile(
    r"(?:^|_)(?:s|ns|us|ms|bytes|mb|kib|hz|ratio|share|factor|seconds|count|number|places?|version"
    r"|width|total|pid|tid|port|flags|main)$"
)
UNIT_IN_TEXT = re.compile(
    r"\b(?:seconds?|ns|µs|us|ms|s|bytes?|length|KiB|MB|Hz|shares?|ratio|factor|multiple|times|per"
    r"|a second|number|count(?:s|ed)?|how many|probability|rate|rows|pages|CPUs?|cores|clients"
    r"|sessions|pids?|process|thread|port|place|position|index|version|exit code|code|status|width"
    r"|columns?|characters|scale|exponent|logarithms?|elasticity|weight|correlation|distance|line"
    r"|level|mixes|median|mean|quantile|samples|loops|streams?|maximum|minimum|error|value|0 to 1"
    r"|hash|seed|slope|metrics?|requests|operations|executions|rounds|passes|estimate|axis|depth"
    r"|degree|nodes?|workers|steps?|processes|threads|id|size|variance|order|bits?|messages"
    r"|triples|products|warehouses|sum|state|statements|sets|file)\b|%",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class First:
    """The first line of a docstring, and where it stands."""

    name: str
    line: str
    place: str

    @property
    def words(self) -> list[str]:
        return re.findall(r"[\w`'.-]+", self.line)


def documented(nodes: Iterable[ast.AST], file: str) -> Iterator[tuple[Documented, str, First]]:
    for node in nodes:
        if isinstance(node, Documented) and (text := ast.get_docstring(node)):
            name = getattr(node, "name", "")
            place = f"{file}:{node.body[0].lineno} {name}".rstrip()
            yield node, text, First(name, text.splitlines()[0], place)


def dangles(first: First) -> bool:
    return bool(DANGLING.search(first.line))


def is_archaic(first: First) -> bool:
    return bool(ARCHAIC.search(first.line))


def is_short(first: First) -> bool:
    return len(first.words) < WORDS_MIN


def is_long(first: First) -> bool:
    return len(first.line) > COLUMNS_MAX


def repeats_its_name(first: First) -> bool:
    """A sentence in which every word is one of the name says nothing."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", first.name).lower()
    said = {word.lower().strip(".`") for word in first.words} - NO_WORDS
    return bool(first.name) and said <= set(spaced.split("_"))


RULES: dict[str, Callable[[First], bool]] = {
    "begins with a word that refers to nothing": dangles,
    "has a turn of speech that nobody uses": is_archaic,
    "has fewer than three words": is_short,
    "is longer than 100 columns": is_long,
    "says no more than the name": repeats_its_name,
}


@cache
def first_lines() -> list[First]:
    """The first line of every docstring of the package."""
    return [
        first
        for path in python_files()
        for _, _, first in documented(sources.nodes(path), path.relative_to(PACKAGE).as_posix())
    ]


@pytest.mark.parametrize("rule", RULES)
def test_first_lines_stand_alone(rule: str) -> None:
    broken = [f"{first.place}: {first.line}" for first in first_lines() if RULES[rule](first)]
    assert broken == [], f"a docstring's first line {rule}"


def without_unit(nodes: Iterable[ast.AST], file: str) -> Iterator[str]:
    """Public functions and properties that return a figure without saying in which unit."""
    nodes = tuple(nodes)
    inner = {
        id(node)
        for function in nodes
        if isinstance(function, ast.FunctionDef)
        for node in statements_within(function)
    }
    for node, text, first in documented(nodes, file):
        if not isinstance(node, ast.FunctionDef) or id(node) in inner or node.returns is None:
            continue
        is_figure = ast.unparse(node.returns) in FIGURES and not node.name.startswith("_")
        if is_figure and not UNIT_IN_NAME.search(node.name) and not UNIT_IN_TEXT.search(text):
            yield f"{first.place}: {first.line}"


def statements_within(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The statements of a function, also those in blocks; a function is never in an expression."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        yield node
        children = ast.iter_child_nodes(node)
        waiting += [child for child in children if isinstance(child, sources.HOLD_STATEMENTS)]


def test_figures_have_a_unit() -> None:
    lacking = [
        place
        for path in python_files()
        for place in without_unit(sources.nodes(path), path.relative_to(PACKAGE).as_posix())
    ]
    assert lacking == [], (
        "name the unit: in the function's name (_s, _bytes, _ratio) or its docstring"
    )


class TestTheRules:
    @pytest.mark.parametrize(
        ("line", "rule"),
        [
            ("What it is.", dangles),
            ("Whether it went well.", dangles),
            ("The same of all.", dangles),
            ("See `Engine`.", dangles),
            ("Return what is told of a table.", is_archaic),
            ("The figure.", is_short),
            ("The row count.", repeats_its_name),
            (f"Return {'x' * 100}.", is_long),
        ],
    )
    def test_a_bad_line_is_found(self, line: str, rule: Callable[[First], bool]) -> None:
        assert rule(First("row_count", line, "here"))

    @pytest.mark.parametrize(
        "line",
        [
            "Return the share of samples in each plan node.",
            "Each operation's time as a bar.",
            "True if the run ended.",
            "Raise `EngineError`: nothing can be obtained.",
            "Return the number of rows.",
        ],
    )
    def test_a_good_line_is_not(self, line: str) -> None:
        assert not any(rule(First("row_count", line, "here")) for rule in RULES.values())

    def test_a_figure_without_unit_is_found(self) -> None:
        source = (
            'def took() -> float:\n    """Return the time."""\n'
            'def took_s() -> float:\n    """Return the time."""\n'
            'def waited() -> float:\n    """Return the time in seconds."""\n'
        )
        assert [
            place.split()[1] for place in without_unit(ast.walk(ast.parse(source)), "x.py")
        ] == ["took:"]
