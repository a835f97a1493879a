"""Starts the engine of a run with its data, and stops it at the end."""

from __future__ import annotations

import logging
import shutil
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.engines.contract import Place, Restarts, Server
from assay.engines.loading import LoadSettings
from assay.model.errors import AssayError, RunFailedError
from assay.running.asked.parsing import STATE_LOADED
from assay.running.asked.writing import reads_only
from assay.running.data.datasets import DATASETS, DatasetCache, DatasetKey
from assay.running.data.loading import loaded_now
from assay.running.host.places import cache_dir
from assay.running.server.changed_file import change_file
from assay.running.server.running import running
from assay.running.server.serving import ServerLauncher
from assay.running.server.subject import Subject, embedded, nodes_of, on_file
from assay.workloads import generate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from assay.engines.contract import Address, Product
    from assay.running.asked.asked_run import Asked
    from assay.running.changes.changing import Changes
    from assay.running.data.loading import Loading
    from assay.running.processes.launcher import Guardian

Dataset = dict[str, Any] | None

log = logging.getLogger(__name__)

# Maximum number of loads: a crash during loading may be a race that a second attempt avoids.
LOADS_MAX = 2
# Seconds in which a client may see a server's death before Assay does.
NOTICING_S, LOOK_S = 2.0, 0.1


class DiedLoadingError(RunFailedError):
    """Error: a private server died while its tables were loaded."""


@dataclass(frozen=True)
class Steps:
    """The host changes and preparation steps between loading and the timed part.

    Attributes:
        changes: Host changes for the steps, and the engine's directories.
        change: Changes the data on a running engine; None if no change is requested.
        settle: Sets the state of a private engine's data files while the engine is stopped, or only
            measures it for state `loaded`.
        restart: Whether an engine that changed the data must be stopped before `settle`.
    """

    changes: Changes
    change: Callable[[Subject], None] | None = None
    settle: Callable[[Path], None] = lambda _: None
    restart: bool = False


@contextmanager
def ready(
    asked: Asked, guardian: Guardian, loading: Loading, raw: Path, steps: Steps
) -> Iterator[tuple[Subject, Dataset]]:
    """Yield the engine with its data, ready for the load, and facts of the data.

    At the end of the block a private server is stopped; a running server continues, without Assay's
    tables.
    """
    if not isinstance(asked.behaviour, Server):
        yield _embedded(asked, guardian, loading, raw, steps)
    elif asked.product is not None:
        own = _OwnServer(asked, asked.behaviour, asked.product, guardian, raw)
        with own.ready(loading, steps) as subject_and_data:
            yield subject_and_data
    else:
        with running(asked, asked.behaviour, guardian, loading, raw) as (subject, dataset):
            if steps.change is not None:
                steps.change(subject)
            yield subject, dataset


def _embedded(
    asked: Asked, guardian: Guardian, loading: Loading, raw: Path, steps: Steps
) -> tuple[Subject, Dataset]:
    name, room = asked.engine.facts.name, steps.changes.room
    data, scratch = room.data, guardian.directory / "scratch"
    if asked.file is not None:
        steps.changes.house(None)
        change_file(asked.request, asked.file, guardian, steps.changes, raw)
        settings, guarded = asked.request.settings, reads_only(asked)
        return on_file(name, room.scratch, settings, file=asked.file, reads_only=guarded), None

    def make(place: Path) -> dict[str, Any]:
        return loading.fill(guardian, embedded(name, place, scratch, {}))

    dataset = None
    # For a run in state `loaded`, the driver's process itself loads the data.
    cached = asked.request.state != STATE_LOADED and asked.engine.facts.kind != "none"
    if cached and asked.workload.makes_data:
        dataset = _cache(loading).copy_to(key_of(asked), data, make, steps.changes.house)
    else:
        steps.changes.house(None)
    subject = embedded(name, data, room.scratch, asked.request.engine_settings)
    if steps.change is not None:
        steps.change(subject)
    # A process with an embedded engine ends with its job, so none runs now.
    steps.settle(data)
    return subject, dataset


def _cache(loading: Loading) -> DatasetCache:
    loading.teller.phase("data")
    waiting = "waiting for another run that uses this data"
    return DatasetCache(
        cache_dir() / DATASETS,
        lambda: loading.teller.phase(waiting),
        lambda removed: loading.teller.phase(f"data set {removed.name} is removed"),
    )


def key_of(asked: Asked) -> DatasetKey:
    """Return the key under which a run's data set is cached."""
    data = asked.workload.data
    return DatasetKey(
        workload=data.facts.name,
        data_hash=data.data_hash,
        scale=asked.request.scale,
        engine=asked.engine.facts.name,
        version=asked.version,
        refresh_sets=asked.refresh_sets,
        generators_version=generate.version(data.facts.generator),
        order=asked.order.identity(),
        foreign_keys=data.foreign_keys,
        language=asked.language if len(data.facts.languages) > 1 else None,
    )


class _OwnServer:
    """A private server that is started for this run only."""

    def __init__(
        self, asked: Asked, engine: Server, product: Product, guardian: Guardian, raw: Path
    ) -> None:
        self._asked = asked
        self._engine = engine
        self._product = product
        self._guardian = guardian
        self._raw = raw

    @contextmanager
    def ready(self, loading: Loading, steps: Steps) -> Iterator[tuple[Subject, Dataset]]:
        if self._asked.request.state == STATE_LOADED:
            with self._loaded(loading, steps) as subject_and_data:
                yield subject_and_data
            return
        data = steps.changes.room.data
        dataset = None
        if self._asked.workload.makes_data:
            dataset = _cache(loading).copy_to(
                key_of(self._asked),
                data,
                lambda place: self._make(place, loading),
                steps.changes.house,
            )
        else:
            steps.changes.house(None)
            data.mkdir(mode=0o700)
        request = self._asked.request
        change = steps.change
        if change is not None and steps.restart:
            log = "server-prepare.log"
            loading.teller.phase("start")
            with self._started(data, request.engine_settings, log, request.pin) as subject:
                change(subject)
            change = None
        steps.settle(data)
        loading.teller.phase("start")
        with self._started(
            data, request.engine_settings, "server.log", request.pin, steps.changes.room.groups
        ) as subject:
            if change is not None:
                change(subject)
            yield subject, dataset
            loading.teller.phase("stop")

    @contextmanager
    def _loaded(self, loading: Loading, steps: Steps) -> Iterator[tuple[Subject, Dataset]]:
        """Yield a server that was loaded with its measured settings and was not restarted."""
        steps.changes.house(None)
        data, request = steps.changes.room.data, self._asked.request
        settings = request.engine_settings
        data.mkdir(mode=0o700)
        loading.teller.phase("start")

        def fill(subject: Subject) -> dict[str, Any]:
            return loaded_now(lambda: self._filled(loading, subject), subject.pids)

        groups = steps.changes.room.groups
        with self._alive(data, settings, "server.log", request.pin, fill, groups) as filled:
            subject, dataset = filled
            steps.settle(data)
            yield subject, dataset
            loading.teller.phase("stop")

    def _make(self, place: Path, loading: Loading) -> dict[str, Any]:
        """Fill an empty directory with a loaded database, and stop its server in order."""
        settings = self._engine.load_settings() if isinstance(self._engine, LoadSettings) else {}
        fill = partial(self._filled, loading)
        with self._alive(place, settings, "server-load.log", {}, fill) as (_, dataset):
            return dataset

    @contextmanager
    def _alive(
        self,
        place: Path,
        settings: Mapping[str, str],
        log_name: str,
        pin: dict[str, list[int]],
        fill: Callable[[Subject], dict[str, Any]],
        groups: Sequence[Path] = (),
    ) -> Iterator[tuple[Subject, dict[str, Any]]]:
        """Yield a running server filled from an empty directory, and facts of its data.

        A server that crashes while loading gets one new attempt from the start; the crash is
        recorded with the data.
        """
        deaths: list[str] = []
        while True:
            with ExitStack() as stack:
                try:
                    subject = stack.enter_context(
                        self._started(place, settings, log_name, pin, groups)
                    )
                    dataset = fill(subject)
                except DiedLoadingError as death:
                    deaths.append(str(death))
                    if len(deaths) == LOADS_MAX:
                        raise
                    log.warning("%s; Assay loads the data again", death)
                else:
                    yield subject, dataset | ({"deaths": deaths} if deaths else {})
                    return
            _empty(place)

    def _filled(self, loading: Loading, subject: Subject) -> dict[str, Any]:
        try:
            return loading.fill(self._guardian, subject)
        except AssayError as error:
            if (how := _death(subject)) is None:
                raise
            title = self._asked.engine.facts.title
            raise DiedLoadingError(
                f"{title} ended unexpectedly while its tables were loaded: {how}"
            ) from error

    @contextmanager
    def _started(
        self,
        data: Path,
        settings: Mapping[str, str],
        log: str,
        pin: dict[str, list[int]],
        groups: Sequence[Path] = (),
    ) -> Iterator[Subject]:
        cpus, beside = pin.get("engine", []), pin.get("client", [])
        launcher = ServerLauncher(self._guardian, self._raw / log, cpus, beside, groups)
        launcher.own(data)
        place = Place(data, launcher.scratch)
        try:
            address = self._engine.start(self._product, place, settings, launcher)
            pids = launcher.served
            name = self._asked.engine.facts.name
            yield Subject(
                name,
                {"address": address},
                pids,
                bridge_pids=launcher.attending,
                last_words=launcher.last_words,
                nodes=nodes_of(self._engine, address),
                revive=self._revival(place, settings, launcher, address),
                anew=lambda there: self._started(there, settings, log, pin, groups),
            )
        finally:
            launcher.stop()

    def _revival(
        self, place: Place, settings: Mapping[str, str], launcher: ServerLauncher, address: Address
    ) -> Callable[[], None] | None:
        """Return a function that restarts a server after a crash; None if unsupported."""
        engine, product = self._engine, self._product
        if not isinstance(engine, Restarts):
            return None
        return partial(engine.restart, product, place, settings, launcher, address)


def _death(subject: Subject) -> str | None:
    """Return how a server ended that may just have died; None if it lives."""
    deadline_s = time.monotonic() + NOTICING_S
    while (last_words := subject.last_words()) is None and time.monotonic() < deadline_s:
        time.sleep(LOOK_S)
    return last_words


def _empty(directory: Path) -> None:
    for path in directory.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
