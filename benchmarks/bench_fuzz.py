"""Gives every parser of foreign input what is random or changed, and counts what it could not bear.

Rust's parsers (protocols, perf records, object files, procfs) are given bytes by proptest, Python's
(plans, addresses, logs, manifests, studies, scripts) changed pieces of real ones by Hypothesis. A
parser may refuse what it is given; it may not panic, or raise another error than its own.

    .venv/bin/python benchmarks/bench_fuzz.py --cases 10000000 --examples 100000
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CASES, EXAMPLES = 10_000_000, 100_000
SMOKE_CASES, SMOKE_EXAMPLES = 64, 2
# Beginnings of the names of tests that give a parser anything.
ANYTHING = ("any_", "garbage", "arbitrary_bytes")
CRATES = ("assay-kernel", "assay-profile", "assay-drive")
PYTHON = "tests/faults/test_foreign_text.py"
PASSED = re.compile(r"^test (\S+) \.\.\. (\w+)$", re.MULTILINE)
PYTHON_PASSED = re.compile(r"^(PASSED|FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Fuzzed:
    """Executions of the parsers of one kind, and those that broke.

    Attributes:
        kind: Crate, or Python.
        parsers: How many tests.
        executions: Of all of them.
        broken: Names of tests that failed.
    """

    kind: str
    parsers: int
    executions: int
    seconds: float
    broken: tuple[str, ...]

    def line(self) -> str:
        """Return the row of the table."""
        broken = ", ".join(self.broken) or "none"
        seconds = f"{self.seconds:.0f} s"
        return f"| {self.kind} | {self.parsers} | {self.executions:,} | {seconds} | {broken} |"


def main() -> None:
    asked = _arguments()
    cases, examples = asked.cases, asked.examples
    if asked.smoke:
        cases, examples = SMOKE_CASES, SMOKE_EXAMPLES
    rows = []
    for row in campaign(cases, examples, with_rust=not asked.python_only):
        print(row.line(), flush=True)
        rows.append(row)
    print("", *table(rows), sep="\n")
    sys.exit(1 if any(row.broken or not row.parsers for row in rows) else 0)


def _arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--cases", type=int, default=CASES, help="of each parser in Rust")
    options.add_argument("--examples", type=int, default=EXAMPLES, help="of each in Python")
    options.add_argument("--python-only", action="store_true", help="leave Rust's out")
    options.add_argument("--smoke", action="store_true", help="a few of each")
    return options.parse_args()


def campaign(cases: int, examples: int, *, with_rust: bool) -> Iterator[Fuzzed]:
    """Yield what each kind of parsers bore."""
    if with_rust:
        yield from (_rust(crate, cases) for crate in CRATES)
    yield _python(examples)


def _rust(crate: str, cases: int) -> Fuzzed:
    command = ["cargo", "test", "--package", crate, "--no-fail-fast", "--", *ANYTHING]
    seconds, text = _carried_out(command, {"PROPTEST_CASES": str(cases)})
    tests = PASSED.findall(text)
    broken = tuple(name for name, word in tests if word != "ok")
    return Fuzzed(crate, len(tests), len(tests) * cases, seconds, broken)


def _python(examples: int) -> Fuzzed:
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-n", "0", PYTHON]
    seconds, text = _carried_out(command, {"ASSAY_FUZZ": str(examples)})
    tests = PYTHON_PASSED.findall(text)
    broken = tuple(name for word, name in tests if word != "PASSED")
    return Fuzzed("Python", len(tests), len(tests) * examples, seconds, broken)


def _carried_out(command: list[str], variables: dict[str, str]) -> tuple[float, str]:
    """How long a command took, and what it printed."""
    begun_s = time.monotonic()
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode:
        print(ended.stdout[-2000:], file=sys.stderr)
    return time.monotonic() - begun_s, ended.stdout


def table(rows: list[Fuzzed]) -> Iterator[str]:
    """Yield a line a kind, as a table of Markdown."""
    yield "| parsers | how many | executions | took | broke |"
    yield "|---|---|---|---|---|"
    yield from (row.line() for row in rows)


if __name__ == "__main__":
    main()
