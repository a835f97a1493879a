"""Parses Virtuoso's plan texts: chains of steps, with steps within steps.

A chain is a pipeline: a step's output is the next step's input. The text of `profile()` has a line
of figures before each step; that of `explain()` has none.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files

NUMBER = r"[-+]?(?:nan|inf|\d+(?:\.\d*)?(?:e[-+]?\d+)?)"
FIGURES = re.compile(
    rf"time\s+(?P<percent>{NUMBER})%\s+fanout\s+(?P<fanout>{NUMBER})"
    rf"\s+input\s+(?P<input>{NUMBER}) rows"
)
TABLE = re.compile(
    rf"(?P<key>\S.*?)(?P<unique> unq)?\s+(?P<card>{NUMBER}) rows(?P<sampled>by sample)?"
    r"\s*(?P<columns>\(.*\))\s*(?P<deleting>deleting)?"
)
CARD = re.compile(rf"(?P<card>{NUMBER}) rows")
INSTRUCTION = re.compile(r"\d+: ")
CODE = ("Precode:", "After test:", "After code:", "Local Test", "Local Code", "After join test:")
# Lines between two steps that describe neither.
REMARKS = ("Params: ", "wait time ", "Warning: the cardinality estimate")
FIGURES_BEGIN = "time "
QUERY = ("{", "{ FOR UPDATE")
END_OF_OUTER = "end of outer"
# Steps whose queries are printed after them, in separate braces.
ABOVE_QUERIES = ("Subquery ", "Union", "BUnion", "Transitive dt", "Reverse transitive node")
UNNAMED = "(a step that the text does not name)"
DEPTH_MAX = 100


@dataclass(frozen=True)
class Word:
    """A phrase that begins a step in Virtuoso's plan text, and its meaning."""

    begins: str
    operator: str
    work: str
    reads: bool = False


@dataclass(frozen=True)
class Figures:
    """The counters that Virtuoso's `profile()` reports for a step.

    Attributes:
        percent: Share of the time of all steps, including queries in its code; None if no time was
            measured.
        fanout: Output rows per input row. None for the last step of a chain with 0: rows are
            counted where they are passed on, and no step follows.
        rows_in: Number of input rows.
    """

    percent: float | None
    fanout: float | None
    rows_in: float


@dataclass
class Step:
    """One step in Virtuoso's plan text.

    Attributes:
        line: Line of the text, from 1.
        text: Line that names the step; for a table access the name of the key.
        word: Meaning of the line's first words; None for a table access.
        figures: Figures of the step; None if the text has none.
        card: Estimated output rows per input row.
        more: Further lines of the step that are not code.
        code: Lines of the step's computations, each section after its heading.
        within: Chains inside the step.
        in_code: Chains of queries in the step's code.
        table: Facts in the line of a table access, by the names of `TABLE`.
        closing: Figures at the end of its chain, which belong to another step without a name.
    """

    line: int
    text: str
    word: Word | None = None
    figures: Figures | None = None
    card: float | None = None
    more: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    within: list[list[Step]] = field(default_factory=list)
    in_code: list[list[Step]] = field(default_factory=list)
    table: dict[str, str | None] | None = None
    closing: Figures | None = None


Chain = list[Step]


@cache
def step_words() -> tuple[Word, ...]:
    """Return all phrases that begin a plan step, the longest first."""
    text = files("assay.engines.virtuoso").joinpath("plan_words.toml").read_text(encoding="utf-8")
    steps = [Word(**entry) for entry in tomllib.loads(text)["steps"]]
    return tuple(sorted(steps, key=lambda word: -len(word.begins)))


def word_of(text: str) -> Word | None:
    """Return the known phrase that begins a line of a plan; None without one."""
    return next((word for word in step_words() if text.startswith(word.begins)), None)


def chain_of(text: str) -> Chain:
    """Return the steps of the outermost query in Virtuoso's plan text.

    Raises:
        ValueError: If the text ends too early or is not a plan; has the line.
    """
    reader = _Reader(text)
    begun = reader.find_query()
    return reader.chain("{", begun, 0)


class _Reader:
    """Parses Virtuoso's plan text line by line."""

    def __init__(self, text: str) -> None:
        self._lines = [line.strip() for line in text.splitlines()]
        self._at = 0

    def find_query(self) -> int:
        """Skip the brace that opens the plan, and return its line."""
        for number, line in enumerate(self._lines, 1):
            if line in QUERY:
                self._at = number
                return number
        raise ValueError("the plan text has no line `{`, which begins a plan")

    def chain(self, opener: str, begun: int, depth: int) -> Chain:
        """Parse steps up to the brace that closes the one opened in line `begun`."""
        if depth > DEPTH_MAX:
            raise ValueError(
                f"plan line {begun}: the plan has more than {DEPTH_MAX} nested steps, the most"
                " that Assay reads"
            )
        making = _Chain()
        while True:
            number, line = self._next(opener, begun)
            if line.startswith("}"):
                is_outer = END_OF_OUTER in line
                return making.done(number, keep_closing=is_outer)
            if line.startswith(FIGURES_BEGIN) and not TABLE.fullmatch(line):
                making.figures(number, _figures(line, number))
            elif line in CODE:
                self._code(making.coded(line, number), depth)
            elif line.endswith("{"):
                self._opened(making, line, number, depth)
            elif line and not line.startswith(REMARKS):
                making.line(line, number)

    def _next(self, opener: str, begun: int) -> tuple[int, str]:
        if self._at >= len(self._lines):
            raise ValueError(
                f"plan line {self._at}: the text ends before `{opener}` of line {begun} is "
                "closed: it is truncated"
            )
        self._at += 1
        return self._at, self._lines[self._at - 1]

    def _opened(self, making: _Chain, line: str, number: int, depth: int) -> None:
        if line in QUERY:
            above = making.above_query(number)
            above.within.append(self.chain(line, number, depth + 1))
            return
        step = making.named(line.removesuffix("{").rstrip(), number)
        inner = self.chain(line, number, depth + 1)
        if inner and inner[-1].text == END_OF_OUTER:
            step.closing = inner.pop().figures
        step.within.append(inner)

    def _code(self, step: Step, depth: int) -> None:
        """Parse the code of a plan step; queries within it become chains of the step."""
        returned = False
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("}") or (line in CODE and returned):
                return
            if line and not self._is_code(line) and (returned or _is_step(line)):
                return
            self._at += 1
            if not line:
                continue
            step.code.append(line)
            returned = "Return" in line
            if line.endswith("{"):
                step.in_code.append(self.chain(line, self._at, depth + 1))

    @staticmethod
    def _is_code(line: str) -> bool:
        return bool(INSTRUCTION.match(line)) or line.startswith(")")


def _is_step(line: str) -> bool:
    return bool(FIGURES.fullmatch(line) or TABLE.fullmatch(line) or word_of(line))


def _figures(line: str, number: int) -> Figures:
    match = FIGURES.fullmatch(line)
    if match is None:
        raise ValueError(
            f"plan line {number}: {line[:60]!r} does not contain the figures of a step"
        )
    percent, fanout, rows_in = (float(value) for value in match.groups())
    if percent < 0 or not 0 <= fanout * rows_in < math.inf or rows_in < 0:
        raise ValueError(f"plan line {number}: {line[:60]!r} does not belong to a step")
    # If no time was measured, the printed percentage is not a number.
    return Figures(percent if math.isfinite(percent) else None, fanout, rows_in)


class _Chain:
    """A chain of plan steps during parsing."""

    def __init__(self) -> None:
        self._steps: Chain = []
        self._figures: Figures | None = None
        self._code: Step | None = None
        self._waits = False

    def figures(self, number: int, own: Figures) -> None:
        """Keep counters that the Virtuoso plan text prints before the step they belong to.

        If earlier figures are still unused, they belong to a step without a name.
        """
        self._close(number)
        self._figures, self._waits = own, True

    def coded(self, heading: str, number: int) -> Step:
        """Return the plan step that a section of code belongs to."""
        if heading == "Precode:":
            self._code = Step(number, UNNAMED, code=[heading])
            self._waits = True
            return self._code
        self._close(number)
        if not self._steps:
            raise ValueError(f"plan line {number}: {heading!r} does not follow a step")
        self._steps[-1].code.append(heading)
        return self._steps[-1]

    def line(self, line: str, number: int) -> None:
        """Parse a plan line that begins a step, or continues the previous one."""
        table = TABLE.fullmatch(line)
        word = word_of(line)
        if table and word is None:
            self._add(_table_step(table, number))
        elif word or self._waits:
            self.named(line, number)
        elif self._steps:
            self._steps[-1].more.append(line)
        else:
            raise ValueError(f"plan line {number}: {line[:60]!r} is not a step of a plan")

    def named(self, line: str, number: int) -> Step:
        """Return the plan step that a line names."""
        card = CARD.search(line)
        step = Step(number, line, word_of(line), card=float(card["card"]) if card else None)
        self._add(step)
        return step

    def above_query(self, number: int) -> Step:
        """Return the plan step that a query in separate braces belongs to."""
        if self._waits or not self._steps or not self._steps[-1].text.startswith(ABOVE_QUERIES):
            return self.named("Subquery ", number)
        return self._steps[-1]

    def done(self, number: int, *, keep_closing: bool) -> Chain:
        """Return the plan steps after the brace that ends them."""
        if keep_closing:
            self._add(Step(number, END_OF_OUTER))
        else:
            self._close(number)
        if self._steps:
            self._steps[-1].figures = _of_last(self._steps[-1].figures)
        return self._steps

    def _add(self, step: Step) -> None:
        if self._code is not None:
            step.code[:0] = self._code.code
            step.in_code[:0] = self._code.in_code
        step.figures = self._figures
        self._figures, self._code, self._waits = None, None, False
        self._steps.append(step)

    def _close(self, number: int) -> None:
        """Add an unnamed plan step for counters or code that no step followed."""
        if self._waits:
            self._add(Step(number, UNNAMED))


def _of_last(figures: Figures | None) -> Figures | None:
    return replace(figures, fanout=figures.fanout or None) if figures else None


def _table_step(match: re.Match[str], number: int) -> Step:
    return Step(
        number,
        match["key"],
        card=float(match["card"]),
        table=match.groupdict(),
    )
