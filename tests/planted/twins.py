"""What a plant really costs: two servers with the same data, one with the cause, asked in turns.

Nothing of the driver or of the probes is in it: statements are sent by `psycopg` or by DuckDB's own
client, and the clock is read around them.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.engines.contract import Embedded, Place, Server
from assay.engines.postgresql.statements import split
from assay.record.writer import new_run_id
from assay.study.asking import Asked, understood
from assay.study.launcher import Guardian
from assay.study.loading import Loading
from assay.study.request import RunRequest
from assay.study.starting import ready
from tests.planted.outside import planted_outside
from tests.planted.plants import Arm, Plant, Strength
from tests.planted.reached import Reached, reached


class Silent:
    """Tells nobody how far things are."""

    def record(self, directory: Path) -> None: ...

    def phase(self, name: str, begun_s: float | None = None) -> None: ...

    def amount(self, done: float, expected: float | None, unit: str) -> None: ...


@dataclass
class Side:
    """One of the two, at work."""

    arm: Arm
    texts: dict[str, str]
    execute: Callable[[str], None]
    server: Reached | None

    def passes(self, count: int, least_s: float) -> list[float]:
        """Seconds of each pass over the operations, while others do what they do."""
        taken: list[float] = []
        with planted_outside(self.arm.outside, self.server):
            while len(taken) < count or sum(taken) < least_s:
                begun_s = time.perf_counter()
                for text in self.texts.values():
                    self.execute(text)
                taken.append(time.perf_counter() - begun_s)
        return taken


@dataclass(frozen=True)
class Effect:
    """What the cause costs, over rounds in which both sides took their turn.

    Attributes:
        with_s, without_s: Seconds of a pass; the median of rounds.
        shares: Of the time with the cause, what it is to blame for; one a round.
    """

    with_s: float
    without_s: float
    shares: tuple[float, ...]

    @property
    def share(self) -> float:
        """The median over rounds."""
        return statistics.median(self.shares)


def effect(plant: Plant, strength: Strength, rounds: int = 5, least_s: float = 1.0) -> Effect:
    """Plants the cause on one of two servers and asks them in turns."""
    with ExitStack() as stack:
        planted = stack.enter_context(_side(plant, plant.arm(strength)))
        free = stack.enter_context(_side(plant, plant.twin(strength)))
        before = os.sched_getaffinity(0)
        if "client" in plant.pin:
            stack.callback(os.sched_setaffinity, 0, before)
            os.sched_setaffinity(0, [plant.pin["client"]])
        planted.passes(1, 0.0), free.passes(1, 0.0)
        taken = [_round(planted, free, number, least_s) for number in range(rounds)]
    shares = tuple(1 - free_s / planted_s for planted_s, free_s in taken)
    with_s, without_s = (statistics.median(column) for column in zip(*taken, strict=True))
    return Effect(with_s, without_s, shares)


def _round(planted: Side, free: Side, number: int, least_s: float) -> tuple[float, float]:
    sides = (planted, free) if number % 2 else (free, planted)
    taken = {id(side): statistics.fmean(side.passes(1, least_s)) for side in sides}
    return taken[id(planted)], taken[id(free)]


@contextmanager
def _side(plant: Plant, arm: Arm) -> Iterator[Side]:
    name, _, version = plant.engine.partition("@")
    request = RunRequest(
        str(plant.folder), name, arm.scale, version or None, settings=arm.settings, pin=_pin(plant)
    )
    asked = understood(request, Silent())
    with tempfile.TemporaryDirectory() as place:
        raw = Path(place)
        with (
            Guardian(new_run_id("planted", name)) as guardian,
            ready(asked, guardian, Loading(asked, raw, Silent()), raw) as (subject, _),
            _connected(asked, subject.reached) as execute,
        ):
            for file in arm.prepare:
                execute(file.read_text(encoding="utf-8"))
            data = subject.reached.get("address", {}).get("data")
            server = None if data is None else reached(Path(data) / "cluster")
            yield Side(arm, _texts(asked, arm), execute, server)


def _pin(plant: Plant) -> dict[str, list[int]]:
    return {who: [cpu] for who, cpu in plant.pin.items()}


def _texts(asked: Asked, arm: Arm) -> dict[str, str]:
    texts = {
        name: asked.workload.statement(name, asked.dialects, arm.scale, None, 0).text
        for name in asked.workload.facts.order
    }
    for file in sorted(arm.operations.glob("*.sql")) if arm.operations else ():
        texts[file.stem] = file.read_text(encoding="utf-8")
    return texts


@contextmanager
def _connected(asked: Asked, at: dict[str, Any]) -> Iterator[Callable[[str], None]]:
    """Runs texts of several statements, each fetched whole."""
    engine = asked.behaviour
    if isinstance(engine, Server):
        instance = engine.attach(at["address"])
        # As the driver does in the power order: a statement is planned each time.
        instance.handle.prepare_threshold = None
        leave = engine.detach
    else:
        assert isinstance(engine, Embedded)
        instance = engine.start(Place(Path(at["data"]), Path(at["scratch"])), at["settings"])
        leave = engine.stop

    def execute(text: str) -> None:
        for statement in split(text):
            cursor = instance.handle.execute(statement)
            if cursor is not None and cursor.description:
                cursor.fetchall()

    try:
        yield execute
    finally:
        leave(instance)


def spread(shares: Sequence[float]) -> tuple[float, float]:
    """The least and the largest."""
    return min(shares), max(shares)
