"""Existing clients of OLTP benchmarks: pgbench and sysbench, and what a transaction costs them.

Each is run for a second and for longer; what differs is the cost of the transactions alone.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.engines.providers.debian import DebianProvider
from assay.running.host.places import cache_dir
from pgbench import cpu_s  # benchmarks/pgbench.py

ROWS = 100_000
SHORT_S = 1
SYSBENCH_WORK = {"point-select": "oltp_point_select", "oltp-read-write": "oltp_read_write"}


@dataclass(frozen=True)
class Target:
    """A server at work.

    Attributes:
        engine: `postgresql` or `mariadb`.
        version: In full.
        host, port, user, password, database: How it is reached by TCP.
        pids: Of its processes that are bound to a CPU; those to come inherit it.
        bin: Directory of its programs.
    """

    engine: str
    version: str
    host: str
    port: int
    user: str
    password: str
    database: str
    pids: tuple[int, ...]
    bin: Path | None = None

    def pin(self, cpu: int) -> None:
        """Binds all tasks of the server to a CPU."""
        for root in self.pids:
            for pid in (root, *_children(root)):
                for task in Path(f"/proc/{pid}/task").iterdir():
                    os.sched_setaffinity(int(task.name), [cpu])


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@dataclass(frozen=True)
class Command:
    """A client's program with all it is told but its time."""

    argv: tuple[str, ...]
    time_option: str
    processed: str
    env: dict[str, str]
    cwd: Path | None = None

    def run(self, seconds: int, cpu: int) -> tuple[float, int]:
        """CPU seconds of a run on a CPU, and its transactions."""
        argv = ["taskset", "-c", str(cpu), *self.argv, self.time_option.format(seconds)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(
            argv, env=self.env, cwd=self.cwd, capture_output=True, text=True, check=False
        )
        used_s = cpu_s(resource.getrusage(resource.RUSAGE_CHILDREN)) - cpu_s(before)
        match = re.search(self.processed, ended.stdout)
        if ended.returncode != 0 or match is None:
            raise RuntimeError(f"{self.argv[0]}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
        return used_s, int(match[1])

    def cost_us(self, seconds: int, cpu: int) -> float:
        """Microseconds of CPU a transaction, without those of starting and ending."""
        short_s, few = self.run(SHORT_S, cpu)
        long_s, many = self.run(SHORT_S + seconds, cpu)
        return (long_s - short_s) / (many - few) * 1e6


def pgbench(target: Target, clients: int) -> Command:
    """The TPC-B-like transaction, with prepared statements."""
    assert target.bin is not None
    env = {
        **os.environ,
        "PGHOST": target.host,
        "PGPORT": str(target.port),
        "PGUSER": target.user,
        "PGPASSWORD": target.password,
        "PGDATABASE": target.database,
    }
    program = str(target.bin / "pgbench")
    argv = (program, "-n", "-M", "prepared", "-c", str(clients), "-j", "1")
    return Command(argv, "-T{}", r"actually processed: (\d+)", env)


class Sysbench:
    """sysbench: from PATH, else unpacked from Debian's archive into the cache."""

    def __init__(self) -> None:
        self.program, self.scripts, self.env = _find_sysbench()
        asked = [self.program, "--version"]
        ended = subprocess.run(asked, env=self.env, capture_output=True, text=True, check=True)
        self.version = ended.stdout.split()[-1]

    def prepare(self, target: Target) -> None:
        """Makes and fills the table `sbtest1`."""
        argv = [*self._argv(target, "oltp-read-write", 1), "prepare"]
        ended = subprocess.run(
            argv, env=self.env, cwd=self.scripts, capture_output=True, text=True, check=False
        )
        if ended.returncode != 0:
            raise RuntimeError(f"sysbench prepare: {ended.stdout}{ended.stderr}")

    def command(self, target: Target, work: str, clients: int) -> Command:
        """A run of it: keys are equally likely, as ours are."""
        argv = (*self._argv(target, work, clients), "--rand-type=uniform", "run")
        return Command(argv, "--time={}", r"transactions: +(\d+)", self.env, self.scripts)

    def _argv(self, target: Target, work: str, clients: int) -> tuple[str, ...]:
        driver = "pgsql" if target.engine == "postgresql" else "mysql"
        reached: dict[str, Any] = {
            "host": target.host,
            "port": target.port,
            "user": target.user,
            "password": target.password,
            "db": target.database,
        }
        return (
            self.program,
            str(self.scripts / f"{SYSBENCH_WORK[work]}.lua"),
            f"--db-driver={driver}",
            *(f"--{driver}-{name}={value}" for name, value in reached.items()),
            "--tables=1",
            f"--table-size={ROWS}",
            f"--threads={clients}",
        )


def _find_sysbench() -> tuple[str, Path, dict[str, str]]:
    """The program, the directory of its scripts, and the environment that finds its libraries."""
    if (program := shutil.which("sysbench")) is not None:
        return program, Path("/usr/share/sysbench"), dict(os.environ)
    home = cache_dir() / "benchmarks" / "sysbench"
    if not home.is_dir():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as place:
            for file in DebianProvider().bring("sysbench", Path(place), lambda *_: None):
                extract = ["dpkg-deb", "--extract", str(file), f"{home}.partial"]
                subprocess.run(extract, check=True)
        Path(f"{home}.partial").rename(home)
    # Some libraries lie below the directory that others lie in.
    places = {library.parent for library in home.rglob("*.so.*")}
    path = ":".join(str(place) for place in sorted(places))
    env = {**os.environ, "LD_LIBRARY_PATH": path}
    return str(home / "usr/bin/sysbench"), home / "usr/share/sysbench", env
