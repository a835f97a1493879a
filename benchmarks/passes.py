"""TPC-H on an engine, one pass over the 22 queries at a time, in a process of its own.

The engine is brought up as a run does it. Queries are sent by a second process, so that whoever
benchmarks the sampler is not sampled itself; with an embedded engine that process is the engine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from assay.engines.contract import Address, Embedded, HasCounters, Instance, Place, Server
from assay.engines.discovery import find_engine
from assay.record.writer import RunWriter, new_run_id
from assay.running.asked.asking import understood
from assay.running.asked.request import RunRequest
from assay.running.changes.changing import changing
from assay.running.data.loading import Loading
from assay.running.processes.launcher import Guardian
from assay.running.server.starting import Steps, ready

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.probes.contract import CounterReader
    from assay.running.asked.asked_run import Asked

WORKLOAD = "tpch"


class Silent:
    """Tells nobody how far things are."""

    def record(self, directory: Path) -> None: ...

    def phase(self, name: str, begun_s: float | None = None) -> None: ...

    def amount(self, done: float, expected: float | None, unit: str) -> None: ...


@dataclass
class Passes:
    """An engine at work. `pids` are the roots of its processes.

    `counters` opens what reads the engine's own counters; it gives None where there are none.
    """

    pids: list[int]
    version: str
    counters: Callable[[], AbstractContextManager[CounterReader | None]]
    _asking: IO[str]
    _answers: IO[str]

    def take(self, count: int = 1) -> list[float]:
        """Seconds of each query, summed over some passes."""
        self._asking.write(f"{count}\n")
        self._asking.flush()
        return json.loads(self._answers.readline())


@contextmanager
def passes(engine: str, scale: float) -> Iterator[Passes]:
    """Brings up an engine (`name` or `name@version`) with its data; gone when the block is left."""
    name, _, version = engine.partition("@")
    asked = understood(
        RunRequest(workload=WORKLOAD, engine=name, scale=scale, engine_version=version or None),
        Silent(),
    )
    with tempfile.TemporaryDirectory() as place:
        raw = Path(place)
        loading = Loading(asked, raw, Silent())
        record = RunWriter(raw / "records", new_run_id("benchmark", name), {})
        with (
            Guardian(record.id) as guardian,
            changing(asked.request, guardian.directory, record) as changes,
            ready(asked, guardian, loading, raw, Steps(changes)) as (subject, _),
            asker(asked, subject.job()) as client,
        ):
            assert client.stdin is not None
            assert client.stdout is not None
            pids = list(subject.pids) or [client.pid]
            address = None if subject.embedded else subject.address
            counters = partial(counters_of, asked.behaviour, address)
            yield Passes(pids, asked.version, counters, client.stdin, client.stdout)


@contextmanager
def counters_of(engine: object, address: Address | None) -> Iterator[CounterReader | None]:
    if address is None or not (isinstance(engine, Server) and isinstance(engine, HasCounters)):
        yield None
        return
    instance = engine.attach(address)
    reader = engine.counters(instance)
    try:
        yield reader
    finally:
        reader.close()
        engine.detach(instance)


@contextmanager
def asker(asked: Asked, job: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
    texts = [
        asked.workload.statement(query, asked.dialects, asked.request.scale, None, 0).text
        for query in asked.workload.facts.order
    ]
    with subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdin is not None
        # Over the pipe: an address may hold a password.
        client.stdin.write(json.dumps({**job, "texts": texts}) + "\n")
        client.stdin.flush()
        yield client


def answer() -> None:
    """Plays the passes that are asked for on standard input, until it ends."""
    job = json.loads(sys.stdin.readline())
    engine = find_engine(job["engine"]).engine()
    with instance_of(engine, job) as instance:
        for line in sys.stdin:
            seconds = [0.0] * len(job["texts"])
            for _ in range(int(line)):
                for number, text in enumerate(job["texts"]):
                    begun_s = time.perf_counter()
                    run(instance, text)
                    seconds[number] += time.perf_counter() - begun_s
            print(json.dumps(seconds), flush=True)


@contextmanager
def instance_of(engine: object, job: dict[str, Any]) -> Iterator[Instance]:
    if isinstance(engine, Server):
        instance = engine.attach(job["address"])
        yield instance
        engine.detach(instance)
        return
    assert isinstance(engine, Embedded)
    instance = engine.start(Place(Path(job["data"]), Path(job["scratch"])), job["settings"])
    yield instance
    engine.stop(instance)


def run(instance: Instance, text: str) -> None:
    """One query with its rows; q15 has statements before and after the one that returns some."""
    for statement in filter(str.strip, text.split(";")):
        cursor = instance.handle.execute(statement)
        if cursor.description:
            cursor.fetchall()


if __name__ == "__main__":
    answer()
