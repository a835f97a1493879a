"""Runs of one client whose every statement, wait and CPU sample is known, as sides to compare."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.model.plan import Plan
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.conftest import write_stream
from tests.loads import an_operation, closed, write_load
from tests.plans import with_plans
from tests.profiles import FREQUENCY_HZ, MadeProfile
from tests.records import BEGUN_NS, MS, S

OPERATION = "update"
TOP = ("main", "Serve")
PLANNED, SCANNED, SERVED = (*TOP, "Analyse"), (*TOP, "Scan"), (*TOP, "Analyse", "malloc")
COLLECTED = ("main", "Collector", "malloc")
RULES = {
    "outermost": ["main"],
    "rules": [
        {"work": "memory", "symbols": ["malloc"], "says": "Takes memory."},
        {"work": "as its caller", "symbols": ["Collector"], "says": "Collects memory."},
        {
            "work": "optimiser/parse",
            "step": "optimise",
            "symbols": ["Analyse"],
            "says": "Chooses a plan.",
        },
        {"work": "scan", "symbols": ["Scan"], "says": "Reads rows."},
        {"work": "network/protocol", "symbols": ["Serve"], "says": "Answers."},
    ],
}
SAMPLE_NS = S // FREQUENCY_HZ


@dataclass(frozen=True)
class Doing:
    """What an execution of a statement takes, in ms: before execution, executing, and neither."""

    planning: float = 0.0
    scan: float = 0.0
    idle: float = 0.0


@dataclass(frozen=True)
class Side:
    """A run.

    Attributes:
        statements: What each statement of the operation does.
        count: Operations.
        jitter: Times differ by so much, evenly.
        seed: Of that.
        between_ms: Between two operations.
        plans: Of its statements.
        clients: Sessions that were asked for.
        warmup: So many of the first operations are no part of what is measured.
    """

    statements: Mapping[str, Doing]
    count: int = 400
    jitter: float = 0.0
    seed: int = 1
    between_ms: float = 0.5
    plans: Sequence[Plan] = field(default_factory=tuple)
    clients: int = 1
    warmup: int = 0

    def write(self, path: Path) -> Run:
        """Writes the record below `path`."""
        dice = random.Random(self.seed)
        made, events, statements = MadeProfile(), [], []
        now_ns = 0
        busy = _Sampler(made, dice.randrange(SAMPLE_NS))
        for number in range(self.count):
            begun_ns = now_ns
            for name, doing in self.statements.items():
                factor = 1 + dice.uniform(-self.jitter, self.jitter)
                from_ns = now_ns
                for part, stacks in (
                    (doing.planning, (PLANNED, SERVED)),
                    (doing.scan, (SCANNED,)),
                    (doing.idle, ()),
                ):
                    took_ns = round(part * factor * MS)
                    busy.did(BEGUN_NS + now_ns, took_ns, stacks)
                    now_ns += took_ns
                statements.append(
                    {
                        "sequence": number,
                        "operation": OPERATION,
                        "statement": name,
                        "started_ns": BEGUN_NS + from_ns,
                        "finished_ns": BEGUN_NS + now_ns,
                        "rows": 1,
                    }
                )
            events.append(
                an_operation(
                    number,
                    begun_ns,
                    0,
                    now_ns - begun_ns,
                    operation=OPERATION,
                    session=number % self.clients,
                    phase="warmup" if number < self.warmup else "measured",
                )
            )
            now_ns += round(self.between_ms * MS)
        directory = write_load(path, closed(self.clients), events, now_ns / S)
        write_stream(directory / "raw" / "statements.arrows", statements)
        made.write(directory / "raw")
        facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
        facts["engine"]["operations"] = RULES
        facts["plan"]["operations"] = [OPERATION]
        facts["plan"]["statements"] = [list(self.statements)]
        write_json(directory / "run.json", facts)
        if self.plans:
            with_plans(directory, list(self.plans))
        write_seal(directory)
        return Run(directory)


class _Sampler:
    """Takes a sample each time that so much CPU time was used; stacks take turns."""

    def __init__(self, made: MadeProfile, since_ns: int) -> None:
        self._made = made
        self._since_ns = since_ns
        self._turn = 0

    def did(self, begun_ns: int, took_ns: int, stacks: Sequence[tuple[str, ...]]) -> None:
        """So much CPU time was used, or waited where there is no stack."""
        if not stacks:
            return
        at_ns = SAMPLE_NS - self._since_ns
        while at_ns <= took_ns:
            self._made.add(begun_ns + at_ns - 1, *stacks[self._turn % len(stacks)])
            self._turn += 1
            at_ns += SAMPLE_NS
        self._since_ns = took_ns - (at_ns - SAMPLE_NS)
