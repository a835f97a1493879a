"""Asks every operation once with its plan, after everything that is measured.

What the engine said is kept as it said it, and beside it what that means; each with what asking
cost. What cannot be had is recorded with its reason and stops nothing.
"""

from __future__ import annotations

import logging
import random
import time
from typing import TYPE_CHECKING, Any

from assay.model.units import NS_PER_S
from assay.record.layout import PLANS_DIR, PLANS_FILE, measured_phases
from assay.record.writer import write_json
from assay.study.interruption import Interruptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from assay.engines.contract import Explained, HasPlans, PlanReader
    from assay.model.script import Draw, Script, ScriptOperation

    Progress = Callable[[int, int], None]

log = logging.getLogger(__name__)

# Watching makes a statement slower, by a small factor; what takes longer is cancelled.
SLOWER_MAX = 10.0
LIMIT_MIN_S = 30.0

# What a program binds comes from its own draws and from earlier answers of the same transaction.
OF_A_PROGRAM = "its values are those of a program of the driver, of which plans are not asked"


class Capture:
    """The plans of one run.

    Args:
        engine: Whose words are read.
        reader: Asks; closed by whoever made it.
        raw_dir: `raw/` of the record.
        seed: Of values that are drawn.
    """

    def __init__(self, engine: HasPlans, reader: PlanReader, raw_dir: Path, seed: int) -> None:
        self._engine = engine
        self._reader = reader
        self._dir = raw_dir / PLANS_DIR
        self._seed = seed
        self._plans: list[dict[str, Any]] = []
        self._missing: list[dict[str, Any]] = []
        self._operations: list[dict[str, Any]] = []
        self._interruptions = Interruptions()

    def all(
        self,
        script: Script,
        timed_s: Mapping[str, float],
        deadline_s: float | None,
        tell: Progress,
    ) -> None:
        """Asks all operations and writes what was told, as far as it came if it is interrupted.

        While an engine is asked an interruption ends that; what it told already is written whole.

        Args:
            script: The operations.
            timed_s: Median service time of each in the measured part, where there is one.
            deadline_s: The run's own limit of an operation; 0: none; None: they are not executed.
            tell: Hears how many of how many are done.
        """
        self._dir.mkdir(exist_ok=True)
        begun_s = time.monotonic()
        with self._interruptions.held():
            try:
                for number, operation in enumerate(script.operations):
                    tell(number, len(script.operations))
                    if operation.program is not None:
                        self._leave_out(operation)
                        continue
                    timed = timed_s.get(operation.name)
                    limit_s = deadline_s or max(LIMIT_MIN_S, SLOWER_MAX * (timed or 0.0))
                    self._one(operation, timed, 0.0 if deadline_s is None else limit_s)
            finally:
                write_json(
                    self._dir / PLANS_FILE,
                    {
                        "capture_s": time.monotonic() - begun_s,
                        "operations": self._operations,
                        "plans": self._plans,
                        "missing": self._missing,
                    },
                )

    def _leave_out(self, operation: ScriptOperation) -> None:
        """Records that a program's statements have no plan: a value would be invented."""
        self._missing.append(
            {
                "operation": operation.name,
                "statement": 0,
                "capture_s": None,
                "reason": OF_A_PROGRAM,
            }
        )

    def _one(self, operation: ScriptOperation, timed_s: float | None, limit_s: float) -> None:
        drawn = [drawn_value(draw, operation.name, self._seed) for draw in operation.draws]
        asked = [
            (statement.text, [drawn[draw] for draw in statement.values])
            for statement in operation.statements
        ]
        begun_s = time.monotonic()
        watched_s: float | None = 0.0
        for number, told in enumerate(self._asked(asked, limit_s)):
            execution_s = self._keep(operation.name, number, told)
            if watched_s is not None:
                watched_s = None if execution_s is None else watched_s + execution_s
        self._operations.append(
            {
                "operation": operation.name,
                "capture_s": time.monotonic() - begun_s,
                "watched_s": watched_s,
                "timed_s": timed_s,
                "ratio": watched_s / timed_s if watched_s and timed_s else None,
            }
        )

    def _asked(
        self, statements: list[tuple[str, list[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """What the engine tells, each waited for in a way that can be interrupted."""
        with self._interruptions.welcome():
            asking = iter(self._reader.explain(statements, limit_s))
        while True:
            with self._interruptions.welcome():
                told = next(asking, None)
            if told is None:
                return
            yield told

    def _keep(self, operation: str, number: int, told: Explained) -> float | None:
        """Writes what was told; planning and execution of the statement, where they are known."""
        missing = {"operation": operation, "statement": number, "capture_s": told.capture_s}
        if told.native is None:
            self._missing.append(missing | {"reason": told.reason})
            return None
        file = f"{operation}-{number}.json"
        (self._dir / file).write_text(told.native, encoding="utf-8")
        try:
            plan = self._engine.plan(told.native, operation, number, file)
        except ValueError as error:
            log.warning("the plan of %s is not understood: %s", operation, error)
            self._missing.append(missing | {"reason": f"its plan is not understood: {error}"})
            return None
        facts = plan.facts() | {"capture_s": told.capture_s, "reason": told.reason}
        self._plans.append(facts)
        if plan.execution_s is None:
            return None
        return plan.execution_s + (plan.planning_s or 0.0)


def drawn_value(draw: Draw, operation: str, seed: int) -> object:
    """A value within a draw's rule: the same for the same seed, operation and name."""
    source = random.Random(f"{seed} {operation} {draw.name}")  # noqa: S311 - nothing is kept secret
    if draw.integer is not None:
        return source.randint(*draw.integer)
    return source.choice(draw.choice or ("",))


def timed_seconds(report: Mapping[str, Any]) -> dict[str, float]:
    """Median service time of each operation of the measured part, from the driver's report."""
    measured = measured_phases(phase["phase"] for phase in report["phases"])
    return {
        told["operation"]: told["service"]["p50_ns"] / NS_PER_S
        for phase in report["phases"]
        if phase["phase"] in measured
        for told in phase["operations"]
        if told["counts"]["ok"]
    }
