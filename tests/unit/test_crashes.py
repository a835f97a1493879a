"""A server that dies while it is driven is noted, started again, and given up at last."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assay.checks import outcomes
from assay.engines.contract import EngineError
from assay.model.errors import RunFailedError
from assay.probes.operation_counters import operation_counters
from assay.running.server import crashes
from assay.running.server.crashes import Crashes
from assay.running.server.subject import Subject


class Written:
    """Keeps what is written of a run."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}

    def update(self, **facts: Any) -> None:
        self.facts |= {name: [dict(crash) for crash in value] for name, value in facts.items()}


class Dying:
    """A server that is gone until it is started again."""

    def __init__(self, message: str | None) -> None:
        self.last_message, self.started = message, 0

    def last_words(self) -> str | None:
        return self.last_message

    def revive(self) -> None:
        self.started += 1
        self.last_message = None

    def subject(self, revive: Callable[[], None] | None) -> Subject:
        return Subject("one", {}, (1,), last_words=self.last_words, revive=revive)


@pytest.fixture
def run() -> Written:
    return Written()


@pytest.fixture
def noted(run: Written) -> Crashes:
    return Crashes("One", run)  # type: ignore[arg-type]


def test_who_lives_is_left_alone(noted: Crashes, run: Written) -> None:
    server = Dying(None)
    noted.look(server.subject(server.revive))
    assert server.started == 0
    assert run.facts == {}


def test_who_died_is_started_again_and_it_is_written_down(noted: Crashes, run: Written) -> None:
    server = Dying("it was ended by signal 8. oops")
    noted.look(server.subject(server.revive))
    noted.look(server.subject(server.revive))
    assert server.started == 1
    (crash,) = run.facts["crashes"]
    assert crash["words"] == "it was ended by signal 8. oops"
    assert crash["seconds"] >= 0


def test_an_engine_that_cannot_be_started_again_ends_the_run(noted: Crashes, run: Written) -> None:
    with pytest.raises(RunFailedError, match="One ended unexpectedly: gone"):
        noted.look(Dying("gone").subject(None))
    assert run.facts == {}


def test_one_that_does_not_come_back_ends_the_run(noted: Crashes, run: Written) -> None:
    def refuse() -> None:
        raise EngineError("no room")

    with pytest.raises(RunFailedError, match="cannot be restarted: no room"):
        noted.look(Dying("gone").subject(refuse))
    assert run.facts["crashes"][0]["seconds"] is None


def test_one_that_dies_ever_again_is_given_up(noted: Crashes) -> None:
    server = Dying(None)
    for _ in range(crashes.CRASHES_MAX):
        server.last_message = "gone"
        noted.look(server.subject(server.revive))
    server.last_message = "gone"
    with pytest.raises(RunFailedError, match="26 times"):
        noted.look(server.subject(server.revive))


def test_the_check_tells_of_them(run: Written) -> None:
    run.update(crashes=[{"words": "it was ended by signal 8."}, {"words": "again"}])
    message = outcomes._crashes(run)  # type: ignore[arg-type]
    assert message == "; the server crashed 2 times and was restarted: it was ended by signal 8."


class Reader:
    """Reads one counter until it is told to fail."""

    def __init__(self) -> None:
        self.fails = self.closed = False

    def read(self) -> list[tuple[str, str, str, float]]:
        if self.fails:
            raise OSError("gone")
        return [("s", "o", "c", 1.0)]

    def close(self) -> None:
        self.closed = True


def test_counters_around_operations_are_read_anew_after_a_crash(tmp_path: Path) -> None:
    first, second = Reader(), Reader()
    made = [second]
    with operation_counters(first, tmp_path, made.pop) as counters:
        counters._due_ns = 0
        counters.read(0, "start")
        first.fails = True
        counters.read(0, "end")
        counters._due_ns = 0
        counters.read(1, "start")
        counters.read(1, "end")
    assert first.closed
    assert second.closed
    with pa.OSFile(str(tmp_path / "engine-operations.arrows")) as file:
        rows = pa.ipc.open_stream(file).read_all().to_pylist()
    assert [(row["sequence"], row["edge"]) for row in rows] == [
        (0, "start"),
        (1, "start"),
        (1, "end"),
    ]


def test_counters_of_an_engine_that_stays_dead_end_the_run(tmp_path: Path) -> None:
    reader = Reader()
    with operation_counters(reader, tmp_path) as counters:
        reader.fails = True
        with pytest.raises(OSError, match="gone"):
            counters.read(0, "start")
    assert reader.closed
