"""Gives every parser of foreign input random or changed inputs, and counts the parsers that break.

Each Rust parser (crate `assay-fuzz`) is given inputs by libFuzzer: it counts the edges of the code
that each input executes, and keeps an input that executes a new one. Python's parsers are given
changed pieces of real texts by Hypothesis, without coverage. A parser may refuse its input; it may
not panic, take too long or too much memory, disagree with an independent parser, or raise an error
of another type than its own.

    .venv/bin/python benchmarks/bench_fuzz.py --cases 10000000 --examples 100000
    .venv/bin/python benchmarks/bench_fuzz.py --targets mysql_session --seconds 600 --keep

The growing corpus is in `target/fuzz-corpus`. With `--keep`, the smallest part of it that executes
the same edges is added to `fuzz/corpus`, which `cargo test` reads. libFuzzer needs a C++ compiler.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CASES, EXAMPLES = 10_000_000, 100_000
SMOKE_CASES, SMOKE_EXAMPLES = 1000, 2
STORED = ROOT / "fuzz/corpus"
PYTHON = "tests/faults/test_foreign_text.py"
PYTHON_PASSED = re.compile(r"^(PASSED|FAILED|ERROR) (\S+)", re.MULTILINE)
# Edges that were executed, as libFuzzer prints them with each event.
EDGES = re.compile(r"\bcov: (\d+)")
EXECUTED = re.compile(r"number_of_executed_units: (\d+)")
# One input may take this long, and the process this much memory.
TIMEOUT_S, MEMORY_MIB = 20, 2048


@dataclass(frozen=True)
class Fuzzed:
    """Executions of a parser, or of those in Python, and the inputs or tests that failed.

    Attributes:
        kind: Target of the crate `assay-fuzz`, or Python.
        parsers: Number of tests or targets.
        executions: Of all of them.
        edges: Edges of code that some input executed; None: not counted.
        broken: Files with inputs, or names of tests, that failed.
    """

    kind: str
    parsers: int
    executions: int
    seconds: float
    edges: int | None
    broken: tuple[str, ...]

    def line(self) -> str:
        """Return the row of the table."""
        rate = self.executions / self.seconds
        edges = "not counted" if self.edges is None else f"{self.edges:,}"
        broken = ", ".join(self.broken) or "none"
        return (
            f"| {self.kind} | {self.executions:,} | {self.seconds:,.0f} s | {rate:,.0f} "
            f"| {edges} | {broken} |"
        )


def main() -> None:
    asked = _arguments()
    if asked.smoke:
        asked.cases, asked.examples = SMOKE_CASES, SMOKE_EXAMPLES
    rows = []
    for row in campaign(asked):
        print(row.line(), flush=True)
        rows.append(row)
    print("", *table(rows), sep="\n")
    sys.exit(1 if any(row.broken or not row.parsers for row in rows) else 0)


def _arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--cases", type=int, default=CASES, help="of each parser in Rust")
    options.add_argument("--seconds", type=int, default=0, help="of each in Rust, at most")
    options.add_argument("--examples", type=int, default=EXAMPLES, help="of each in Python")
    options.add_argument("--targets", nargs="*", help="of the parsers in Rust, these only")
    options.add_argument("--keep", action="store_true", help="add what is new to fuzz/corpus")
    options.add_argument("--python-only", action="store_true", help="leave Rust's out")
    options.add_argument("--rust-only", action="store_true", help="leave Python's out")
    options.add_argument("--smoke", action="store_true", help="a few of each")
    return options.parse_args()


def campaign(asked: argparse.Namespace) -> Iterator[Fuzzed]:
    """Yield the result of each target in Rust, then that of Python's parsers."""
    if not asked.python_only:
        program = _built()
        names = asked.targets or sorted(folder.name for folder in STORED.iterdir())
        for name in names:
            yield _rust(program, name, asked.cases, asked.seconds)
            if asked.keep:
                _keep(program, name)
    if not asked.rust_only:
        yield _python(asked.examples)


def _built() -> Path:
    """Build the campaign with counters in the project's crates, and return the program's path."""
    command = ["cargo", "--config", "fuzz/campaign.toml", "build", "--release"]
    command += ["--package", "assay-fuzz", "--features", "campaign"]
    wrapper = {"RUSTC_WORKSPACE_WRAPPER": str(ROOT / "fuzz/rustc-with-coverage.sh")}
    subprocess.run(command, cwd=ROOT, env=os.environ | wrapper, check=True)
    return _target_dir() / "release/campaign"


def _target_dir() -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def _rust(program: Path, name: str, cases: int, seconds: int) -> Fuzzed:
    growing, failed = _target_dir() / "fuzz-corpus" / name, _target_dir() / "fuzz-failed" / name
    for folder in (growing, failed):
        folder.mkdir(parents=True, exist_ok=True)
    command = [str(program), f"-runs={cases}", f"-max_total_time={seconds}"]
    command += [f"-timeout={TIMEOUT_S}", f"-rss_limit_mb={MEMORY_MIB}", "-print_final_stats=1"]
    command += [f"-artifact_prefix={failed}/", str(growing), str(STORED / name)]
    took_s, code, text = _carried_out(command, {"ASSAY_FUZZ_TARGET": name, "RUST_BACKTRACE": "1"})
    executed, edges = EXECUTED.search(text), EDGES.findall(text)
    inputs = sorted(str(path) for path in failed.iterdir())
    broken = tuple(inputs) if inputs or not code else (f"exit code {code}",)
    executions = int(executed.group(1)) if executed else 0
    return Fuzzed(name, 1, executions, took_s, int(edges[-1]) if edges else 0, broken)


def _keep(program: Path, name: str) -> None:
    """Replace the stored corpus by the fewest inputs that execute the same edges."""
    growing, smallest = _target_dir() / "fuzz-corpus" / name, _target_dir() / "fuzz-kept" / name
    shutil.rmtree(smallest, ignore_errors=True)
    smallest.mkdir(parents=True)
    command = [str(program), "-set_cover_merge=1", "-use_counters=0", f"-timeout={TIMEOUT_S}"]
    command += [str(smallest), str(STORED / name), str(growing)]
    _carried_out(command, {"ASSAY_FUZZ_TARGET": name})
    stored = {path.read_bytes() for path in (STORED / name).iterdir()}
    for path in smallest.iterdir():
        if path.read_bytes() not in stored:
            shutil.copy(path, STORED / name / path.name[:12])


def _python(examples: int) -> Fuzzed:
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-n", "0", PYTHON]
    seconds, _, text = _carried_out(command, {"ASSAY_FUZZ": str(examples)})
    tests = PYTHON_PASSED.findall(text)
    broken = tuple(name for word, name in tests if word != "PASSED")
    return Fuzzed("Python", len(tests), len(tests) * examples, seconds, None, broken)


def _carried_out(command: list[str], variables: dict[str, str]) -> tuple[float, int, str]:
    """Return how many seconds a command took, its exit code, and its output."""
    begun_s = time.monotonic()
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if ended.returncode:
        print(ended.stdout[-4000:], file=sys.stderr)
    return time.monotonic() - begun_s, ended.returncode, ended.stdout


def table(rows: list[Fuzzed]) -> Iterator[str]:
    """Yield the lines of a Markdown table, one row per parser."""
    yield "| parser | executions | time | executions per second | edges | failures |"
    yield "|---|---|---|---|---|---|"
    yield from (row.line() for row in rows)


if __name__ == "__main__":
    main()
