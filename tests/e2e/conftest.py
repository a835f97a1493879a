"""A laboratory for end-to-end tests: caches, runs and instances of its own, data made once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.forks import ASSAY, CHANNEL, forks

PATIENCE_S = 120.0
COMMAND_PATIENCE_S = 300.0
DISK, MEMORY = Path("/var/tmp"), Path("/dev/shm")  # noqa: S108 - places that a server's user reaches
ROOM_BYTES = 2 << 30
SMALL = ["--scale", "0.01", "--min-time", "300ms"]
# For a test that does not depend on which queries there are.
FEW = [*SMALL, "-o", "q01", "-o", "q06", "--no-plans"]
# The version that needs nothing of the host but pip, which every virtual environment has.
POSTGRESQL = "postgresql@16"


@dataclass
class Lab:
    """Runs `assay` as a person would, in places of its own."""

    # True in tests; benchmarks, which use laboratories too, start the executable when they measure.
    in_forks: ClassVar[bool] = CHANNEL in os.environ

    root: Path
    extra_env: dict[str, str] = field(default_factory=dict)
    begun: list[subprocess.Popen[str]] = field(default_factory=list)
    # The kernel tells the age of shared memory in whole seconds.
    made_s: float = field(default_factory=lambda: float(int(time.time())))

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    @property
    def instances(self) -> Path:
        return self.root / "state" / "assay" / "instances"

    @property
    def datasets(self) -> Path:
        return self.root / "cache" / "assay" / "datasets"

    def env(self) -> dict[str, str]:
        places = {
            "XDG_CACHE_HOME": str(self.root / "cache"),
            "XDG_STATE_HOME": str(self.root / "state"),
            "ASSAY_RUNS": str(self.runs),
            # Pages take as long to draw as short runs take: tests that look at one ask for it.
            "ASSAY_RUN_PAGE": "no",
            # Marks every process that comes of this laboratory, so that strays can be found.
            "ASSAY_TEST_LAB": str(self.root),
        }
        return {**os.environ, **places, **self.extra_env}

    def assay(
        self,
        *arguments: str,
        prefix: tuple[str, ...] = (),
        patience_s: float = COMMAND_PATIENCE_S,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in a fork (`tests/forks.py`); behind a prefix the executable itself."""
        env = self.env()
        if self.in_forks and not prefix and forks().fit(env):
            return forks().run(arguments, env, patience_s)
        command = [*prefix, str(ASSAY), *arguments]
        return subprocess.run(
            command,
            env=env,
            capture_output=True,
            text=True,
            timeout=patience_s,
            check=False,
        )

    def document(self, *arguments: str, code: int = 0, prefix: tuple[str, ...] = ()) -> dict:
        result = self.assay(*arguments, "--json", prefix=prefix)
        assert result.returncode == code, result.stderr
        return json.loads(result.stdout)

    def page(self, document: dict) -> str:
        """The report of a run as HTML."""
        result = self.assay("report", document["path"])
        assert result.returncode == 0, result.stderr
        return Path(result.stdout.strip()).read_text(encoding="utf-8")

    def begin(self, *arguments: str, **how: Any) -> subprocess.Popen[str]:
        """Starts a command; `how` are further arguments of `Popen`."""
        given: dict[str, Any] = {
            "env": self.env(),
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            "start_new_session": True,
        }
        started = subprocess.Popen([str(ASSAY), *arguments], **(given | how))
        self.begun.append(started)
        return started

    def close(self) -> None:
        """Ends what a failed test left running, so that it is no other test's trouble."""
        for started in self.begun:
            if started.returncode is None:
                started.kill()
                started.communicate(timeout=PATIENCE_S)

    def latest(self) -> Path:
        return max(self.runs.iterdir())

    def status(self) -> str:
        return json.loads((self.latest() / "run.json").read_text())["status"]

    def strays(self) -> list[int]:
        """Processes that carry the laboratory's mark or work in its directories, except ours."""
        mark = f"ASSAY_TEST_LAB={self.root}\0".encode()
        # A server inherits no environment of ours, but it works in its own directories.
        places = {(self.root / "state").resolve(), self.datasets.resolve()}
        strays = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                marked = mark in (process / "environ").read_bytes() + b"\0"
                within = not places.isdisjoint((process / "cwd").readlink().parents)
                state = (process / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if (marked or within) and state != "Z":
                strays.append(int(process.name))
        return [pid for pid in strays if pid != os.getpid()]

    def titled(self, word: str) -> list[int]:
        """Strays whose command line has `word` in it."""
        titles = []
        for pid in self.strays():
            try:
                title = Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in title:
                titles.append(pid)
        return titles

    def assert_nothing_left(self, but: str | None = None) -> None:
        """Waits until nothing is left; `but`: a kind of things that goes with the next run only."""
        wait_until(lambda: not self.strays(), f"processes left: {self.strays()}")
        left = (
            [p for p in self.instances.glob("*") if p.is_dir()] if self.instances.exists() else []
        )
        wait_until(lambda: not any(p.exists() for p in left), f"directories left: {left}")
        wait_until(lambda: not self.left_behind(but), f"left behind: {self.left_behind(but)}")

    def left_behind(self, but: str | None) -> list[str]:
        """What the product itself finds of dead runs; of the host's things those of this lab."""
        from assay.running.changes.left_behind import CONTROL_GROUP, MEMORY, left_behind

        runs = {record.parent.name for record in self.runs.glob("*/run.json")}
        facts = [json.loads(it.read_text()) for it in self.runs.glob("*/environment.json")]
        pids = {int(pid) for of_run in facts for pid in of_run["accounts"] or ()}
        return [
            left.description
            for left in left_behind(self.instances, self.root / "cache" / "assay")
            if left.kind != but
            and (
                left.kind not in (MEMORY, CONTROL_GROUP)
                or left.run in runs
                or (left.pid in pids and (left.since_s or 0.0) >= self.made_s)
            )
        ]

    def partial_data(self) -> list[Path]:
        return list(self.datasets.glob("*.partial"))


def wait_until(holds, what: str, patience_s: float = PATIENCE_S) -> None:
    """Waits patiently; no test depends on how fast the machine is."""
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def wait_for_phase(
    lab: Lab, started: subprocess.Popen[str], phase: str, patience_s: float = PATIENCE_S
) -> Path:
    """Waits until events of a phase are on disk; the run's directory."""
    from assay.model.errors import RecordUnreadableError
    from assay.record.reader import Run

    read_bytes = 0

    def seen() -> bool:
        nonlocal read_bytes
        assert started.poll() is None, started.communicate()
        if not lab.runs.exists() or not any(lab.runs.iterdir()):
            return False
        file = lab.latest() / "raw" / "events.arrows"
        # A process that waits must not take the time of the one that it waits for.
        if not file.exists() or (size_bytes := file.stat().st_size) == read_bytes:
            return False
        read_bytes = size_bytes
        try:
            events = Run(lab.latest()).table("events")
        except RecordUnreadableError:
            return False
        return phase in set(events["phase"])

    wait_until(seen, f"no event of phase {phase}", patience_s)
    return lab.latest()


def end(started: subprocess.Popen[str], number: int = signal.SIGINT) -> tuple[int, str]:
    started.send_signal(number)
    _, errors = started.communicate(timeout=PATIENCE_S)
    return started.returncode, errors


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> Path:
    """The cache that holds the one small data set."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture
def lab(shared, tmp_path) -> Lab:
    """A laboratory with runs and state of its own and the shared cache."""
    made = Lab(tmp_path)
    (shared / "cache").mkdir(exist_ok=True)
    (tmp_path / "cache").symlink_to(shared / "cache")
    return made


@pytest.fixture
def own_cache_lab(shared, tmp_path) -> Lab:
    """A laboratory that shares no data, for tests that damage them; only the charts' program."""
    charts, own = (place / "cache" / "assay" / "report" for place in (shared, tmp_path))
    charts.mkdir(parents=True, exist_ok=True)
    own.parent.mkdir(parents=True)
    own.symlink_to(charts)
    return Lab(tmp_path)


def copy_data(lab: Lab, place: Path, engine: str) -> Path:
    """Gives a laboratory with a cache of its own the one data set of an engine in another place."""
    (kept,) = (place / "cache" / "assay" / "datasets").glob(f"tpch-0.01-{engine}-*")
    return Path(shutil.copytree(kept, lab.datasets / kept.name))


def copy_run(lab: Lab, document: dict) -> Path:
    """Gives a laboratory a run that was made in another one."""
    made = Path(document["path"])
    return Path(shutil.copytree(made, lab.runs / made.name))


def run_once(shared: Path, root: Path, *arguments: str) -> tuple[Lab, dict]:
    """A laboratory of one run, with the shared cache."""
    (shared / "cache").mkdir(exist_ok=True)
    (root / "cache").symlink_to(shared / "cache")
    lab = Lab(root)
    return lab, lab.document("run", "tpch", *SMALL, *arguments)


@contextmanager
def left_alone(lab: Lab) -> Iterator[None]:
    """Sees that a laboratory that others look at too got no second run: which is `latest`?"""
    yield
    assert len(list(lab.runs.iterdir())) == 1, "a test ran something in a shared laboratory"


@pytest.fixture(scope="session")
def tpch_run(shared, tmp_path_factory) -> Iterator[tuple[Lab, dict]]:
    """One run of TPC-H on DuckDB, to be looked at and left as it is."""
    lab, document = run_once(shared, tmp_path_factory.mktemp("tpch"), "--page")
    with left_alone(lab):
        yield lab, document


@pytest.fixture(scope="session")
def null_run(shared, tmp_path_factory) -> Iterator[tuple[Lab, dict]]:
    """One run of the engine that does nothing, to be looked at and left as it is."""
    lab, document = run_once(shared, tmp_path_factory.mktemp("null"), "--engine", "null")
    with left_alone(lab):
        yield lab, document


@pytest.fixture(scope="session")
def postgresql_run(server_place) -> Iterator[tuple[Lab, dict]]:
    """One run of TPC-H on PostgreSQL, to be looked at and left as it is."""
    with server_laboratory(server_place) as lab:
        document = lab.document("run", "tpch", "--engine", POSTGRESQL, *SMALL)
        with left_alone(lab):
            yield lab, document


@contextmanager
def reachable_directory(wished: Path = DISK) -> Iterator[Path]:
    """A directory of ours that the user of a server reaches; removed at the end."""
    has_room = wished.is_dir() and shutil.disk_usage(wished).free > ROOM_BYTES
    place = Path(tempfile.mkdtemp(prefix="assay-lab-", dir=wished if has_room else DISK))
    try:
        place.chmod(0o755)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def server_laboratory(server_place: Path) -> Iterator[Lab]:
    """A laboratory whose servers find the cache of programs and data."""
    with reachable_directory() as root:
        (root / "cache").symlink_to(server_place / "cache")
        with closing(Lab(root)) as lab:
            yield lab


@contextmanager
def laboratory_in_memory(server_place: Path) -> Iterator[Lab]:
    """The same, whose servers keep their files in memory: a thousand are made for each run.

    For tests that are not about files; on a disk where there is no such file system.
    """
    with server_laboratory(server_place) as lab, reachable_directory(MEMORY) as state:
        (lab.root / "state").symlink_to(state)
        yield lab


@pytest.fixture
def server_lab(server_place) -> Iterator[Lab]:
    """A laboratory for a test that starts a server."""
    with laboratory_in_memory(server_place) as lab:
        yield lab


@pytest.fixture(scope="session")
def server(server_place):
    """A server that runs already, not one of Assay's, shared by all tests that ask one."""
    from tests.e2e.server import running_server

    with (
        reachable_directory() as folder,
        running_server(server_place / "cache", folder) as running,
    ):
        yield running
