"""Several hosts drive a PostgreSQL over links with a rate limit; then one is killed, one cut off.

Hosts are network namespaces on a bridge, with `tc tbf` on both ends of each link; the server listens
on the bridge's address and asks for a password. Told are throughput with one, two and three hosts,
what the clocks are known to (they are one clock here, so the truth is known, too), what the driver
costs an operation beside the single driver, what an agent on the server's host (the fourth, which
has no namespace) sees of the server, and for hosts that die whether what the server has done
is accounted for.

Root is needed, and `ip` and `tc`. All that is made is removed at the end.

    .venv/bin/python benchmarks/bench_fleet.py [--seconds 5] [--rate 4mbit] [--open-rate 1500]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from assay.engines.contract import Place, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.record.reader import Run
from assay.record.writer import new_run_id
from assay.running.host.places import engines_dir
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from namespaces import NETWORK, Network, network  # benchmarks/namespaces.py
from run import left_out  # benchmarks/run.py

ASSAY = [sys.executable, "-m", "assay.cli.main"]
WORKLOAD, TABLE_SCALE = "point-select", "0.1"
PORT = 8786
HOSTS = 3
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Database:
    """A server on the bridge.

    Attributes:
        dsn: How hosts reach it.
        administration: How we do.
    """

    dsn: str
    administration: str

    def selects(self) -> int:
        """How often a row was looked up by an index in tables of the workload, by the server."""
        rows = self._asked("select sum(idx_scan) from pg_stat_user_tables")
        return int(rows[0][0] or 0)

    def tidy(self) -> None:
        """Drops what runs left, so that the next one's counts begin at nothing."""
        for (name,) in self._asked("select nspname from pg_namespace where nspname like 'assay%'"):
            self._asked(f"drop schema {name} cascade")

    def _asked(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.administration, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def database(folder: Path, address: str) -> Iterator[Database]:
    """A PostgreSQL that listens on an address beside loopback, with a password."""
    engine = find_engine("postgresql").engine()
    product = engine.obtain(Wanted(engines_dir()), tell_nobody)
    with Guardian(new_run_id("fleet", "postgresql"), folder / "instances") as guardian:
        data = guardian.directory / "data"
        data.mkdir(mode=0o700)
        for listens in (False, True):
            launcher = ServerLauncher(guardian, folder / "server.log")
            launcher.own(data)
            reached = engine.start(product, Place(data, launcher.scratch), {}, launcher)
            if not listens:
                with psycopg.connect(reached["dsn"], autocommit=True) as connection:
                    connection.execute(f"alter system set listen_addresses = '127.0.0.1,{address}'")
                launcher.stop()
        hba = launcher.scratch / "hba.conf"
        hba.write_text(f"{hba.read_text()}\nhost all all {NETWORK}.0/24 scram-sha-256\n")
        with psycopg.connect(reached["dsn"], autocommit=True) as connection:
            connection.execute("select pg_reload_conf()")
        over_tcp = conninfo_to_dict(reached["dsn_tcp"])
        yield Database(make_conninfo("", **over_tcp | {"host": address}), reached["dsn"])
        launcher.stop()


class Lab:
    """Runs on one network and server."""

    def __init__(self, net: Network, server: Database, folder: Path, seconds: float) -> None:
        self.net = net
        self.server = server
        self._folder = folder
        self._seconds = seconds
        self._agents: list[subprocess.Popen[bytes]] = []
        self.meeting = f"tcp://{net.address}:{PORT}"

    @contextmanager
    def meeting_place(self) -> Iterator[None]:
        with self._started([*ASSAY, "agent", self.meeting, "--listen", "--plain"], "meeting"):
            yield

    @contextmanager
    def agents(self, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
        with ExitStack() as stack:
            yield [
                stack.enter_context(
                    self._started(
                        self.net.inside(
                            host, [*ASSAY, "agent", self.meeting, "--name", f"h{host}", "--plain"]
                        ),
                        f"agent-{host}",
                    )
                )
                for host in range(count)
            ]

    @contextmanager
    def engine_agent(self) -> Iterator[str]:
        """An agent on the fourth host, which is the server's; its name."""
        name = "db"
        command = [*ASSAY, "agent", self.meeting, "--name", name, "--plain"]
        with self._started(command, f"agent-{name}"):
            yield name

    @contextmanager
    def _started(self, command: list[str], log: str) -> Iterator[subprocess.Popen[bytes]]:
        with (self._folder / f"{log}.log").open("ab") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)

    def begun(self, *more: str, inside: int | None = None) -> subprocess.Popen[bytes]:
        """A run under way; the password is in no command line."""
        command = [*ASSAY, "run", WORKLOAD, "--engine", "postgresql", "--scale", TABLE_SCALE]
        command += ["--clients", "12", "--time", f"{self._seconds:g}s", "--warmup", "1s"]
        command += ["--no-plans", "--keep-data", "--runs", str(self._folder / "runs"), *more]
        if inside is not None:
            command = self.net.inside(inside, command)
        environment = os.environ | {"ASSAY_RUN_DSN": self.server.dsn}
        self.server.tidy()
        with (self._folder / "run.log").open("ab") as out:
            return subprocess.Popen(command, stdout=out, stderr=out, env=environment)

    def newest(self) -> Path:
        return max((self._folder / "runs").iterdir())

    def run(self, *more: str, inside: int | None = None) -> Run:
        self.begun(*more, inside=inside).wait(PATIENCE_S * 2)
        return Run(self.newest())

    def driving(self, process: subprocess.Popen[bytes], before: set[str]) -> None:
        """Waits until all hosts of a run have sent events, and half of its time is over."""
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s and process.poll() is None:
            runs = [path for path in (self._folder / "runs").iterdir() if path.name not in before]
            streams = [path for run in runs for path in run.glob("raw/fleet/*/events.arrows")]
            if len([path for path in streams if path.stat().st_size > 1 << 14]) == HOSTS:
                time.sleep(self._seconds / 2)
                return
            time.sleep(0.05)
        raise RuntimeError(f"no load was seen; see {self._folder}/run.log")


def figures(run: Run) -> dict[str, Any]:
    """What is told of one run."""
    events = run.table("events")
    outcomes = {
        str(word): int(count) for word, count in events["outcome"].value_counts().iter_rows()
    }
    report = run.driver_report or {"phases": []}
    measured = next((phase for phase in report["phases"] if phase["phase"] == "measured"), None)
    seconds = (measured["ended_ns"] - measured["begun_ns"]) / 1e9 if measured else 0.0
    ok = sum(operation["counts"]["ok"] for operation in measured["operations"]) if measured else 0
    hosts = (run.facts.get("fleet") or {}).get("hosts", [])
    cpu_s = sum(host["driver_cpu_s"].get("measured", 0.0) for host in hosts) if hosts else None
    agents_s = sum(host["agent_cpu_s"].get("measured", 0.0) for host in hosts)
    return {
        "throughput_per_s": ok / seconds if seconds else None,
        "outcomes": outcomes,
        "driver_us_an_operation": cpu_s / ok * 1e6 if cpu_s is not None and ok else None,
        "agents_us_an_operation": agents_s / ok * 1e6 if hosts and ok else None,
        "hosts": [
            {
                "name": host["name"],
                "clients": host["sessions"],
                "offset_us": host["clock"]["before"]["offset_ns"] / 1e3,
                "uncertainty_us": host["clock"]["before"]["uncertainty_ns"] / 1e3,
                "after_us": host["clock"]["after"]["uncertainty_ns"] / 1e3
                if host["clock"]["after"]
                else None,
                "ended": host["ended"],
            }
            for host in hosts
        ],
    }


def of_engine_host(run: Run) -> dict[str, Any]:
    """What the probes on the server's host saw, and how far its clock was."""
    from assay.analysis.summarise import window_accounts

    used, engine_host = window_accounts(run), run.facts["engine_host"]
    before = engine_host["clock"]["before"]
    return {
        "name": engine_host["name"],
        "error": engine_host["error"],
        "offset_us": before["offset_ns"] / 1e3,
        "uncertainty_us": before["uncertainty_ns"] / 1e3,
        "cores": {name: s / used.window_s for name, s in used.by_process.items()} if used else None,
        "samples": {
            name: probe["samples"] for name, probe in run.facts["probes"].items() if "host" in probe
        },
    }


def single_driver_us(run: Run) -> float | None:
    """CPU of the single driver's process an operation of the measured part, by the probe."""
    from assay.analysis.summarise import window_accounts

    used = window_accounts(run)
    report = run.driver_report
    if used is None or report is None or "driver" not in used.by_process:
        return None
    measured = next(phase for phase in report["phases"] if phase["phase"] == "measured")
    return (
        used.by_process["driver"]
        / sum(operation["counts"]["ok"] for operation in measured["operations"])
        * 1e6
    )


def accounted(run: Run, done: int) -> dict[str, Any]:
    """What a run with a lost host knows, beside how many selects the server has done."""
    from assay.checks.judge import judge

    recorded = run.table("events").filter(run.table("events")["outcome"] != "skipped").height
    lost = [host["ended"] for host in run.facts["fleet"]["hosts"] if host["ended"]["how"] == "died"]
    checks = {check.check: check for check in judge(run)}
    return {
        "server_did": done,
        "recorded": recorded,
        "told_of_as_ended_only": sum(ended["lost_operations"] for ended in lost),
        "under_way_at_most": sum(ended["under_way_max"] for ended in lost),
        "not_known": done - recorded,
        "verdict": checks["fleet"].verdict.word,
        "words": checks["fleet"].reason,
        "identity": checks["outcomes"].reason,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rate", default="4mbit")
    parser.add_argument("--open-rate", default="1500")
    parser.add_argument("--smoke", action="store_true", help="one host beside the single driver")
    parser.add_argument("--keep", type=Path, help="keep records in this directory")
    asked = parser.parse_args()
    if os.geteuid() != 0 or not (shutil.which("ip") and shutil.which("tc")):
        left_out("root is needed, and `ip` and `tc` (iproute2), for hosts that are namespaces")
    results: dict[str, Any] = {}
    with ExitStack() as stack:
        folder = asked.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        # The server's own user passes through.
        folder.chmod(0o711)
        net = stack.enter_context(network(HOSTS))
        server = stack.enter_context(database(folder, net.address))
        lab = Lab(net, server, folder, asked.seconds)
        stack.enter_context(lab.meeting_place())
        at_a_rate = ("--rate", asked.open_rate)
        run = lab.run(*at_a_rate)
        results["single driver, open"] = figures(run) | {
            "driver_us_an_operation": single_driver_us(run)
        }
        fleet = ("--fleet-plain", "--fleet")
        for hosts in (1,) if asked.smoke else (1, HOSTS):
            with lab.agents(hosts):
                run = lab.run(*at_a_rate, *fleet, f"{hosts}@{lab.meeting}")
                results[f"{hosts} hosts, open"] = figures(run)
        if asked.smoke:
            print(json.dumps(results, indent=1))
            return 0
        with lab.agents(HOSTS), lab.engine_agent() as name:
            # The run is on a host of the drivers, so that the server's is another one.
            run = lab.run(*fleet, f"{HOSTS}@{lab.meeting}", "--engine-host", name, inside=0)
            results["probes on the server's host"] = figures(run) | of_engine_host(run)
        net.limit(asked.rate)
        for hosts in range(1, HOSTS + 1):
            with lab.agents(hosts):
                run = lab.run(*fleet, f"{hosts}@{lab.meeting}")
                results[f"{hosts} hosts, {asked.rate}"] = figures(run) | {"tbf": net.limited(0)}
        for how in ("killed", "cut off"):
            with lab.agents(HOSTS) as agents:
                before = {path.name for path in (folder / "runs").iterdir()}
                process = lab.begun(*fleet, f"{HOSTS}@{lab.meeting}")
                lab.driving(process, before)
                if how == "killed":
                    agents[1].kill()
                else:
                    net.cut(1)
                process.wait(PATIENCE_S * 2)
                net.mend(1)
                run = Run(lab.newest())
                results[f"one {how}"] = figures(run) | {
                    "exit_code": process.returncode,
                    **accounted(run, server.selects()),
                }
    print(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
