"""The guardian's promise: whatever ends us, nothing that we started stays.

Every process of a test carries a token of its own in its environment, and leftovers are looked for
by that token, so tests can run side by side. Waiting is polling with a generous limit: a slow host
makes a test slow, not red.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.running.host import places
from assay.running.processes import c_library, guarding, instance_files, process_table
from assay.running.processes.launcher import Child, Guardian
from assay.running.processes.process_table import read_process
from assay.running.server import instances
from assay.running.server.instances import LaunchError, sweep

PATIENCE_S = 20.0
PYTHON = [sys.executable, "-I", "-S", "-c"]
PACKAGE_ROOT = str(Path(next(iter(assay.__path__))).parent)

STUBBORN = ["sh", "-c", "trap '' TERM INT HUP; sleep 1000 & wait; sleep 1000"]
STUBBORN_LEADER = ["sh", "-c", "trap '' TERM; exec sleep 1000"]
DAEMONISE = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
time.sleep(1000)
"""
DAEMON = [*PYTHON, DAEMONISE]
# A server's process that leads its own group and no longer has the environment it was given.
DISGUISE = """
import os, time
if os.fork() == 0:
    os.setsid()
    os.chdir("/")
    token = {"ASSAY_TEST_TOKEN": os.environ["ASSAY_TEST_TOKEN"]}
    os.execve("/bin/sleep", ["sleep", "1000"], token)
time.sleep(1000)
"""
DISGUISED = [*PYTHON, DISGUISE]

OWNER = """
import json, os, signal, sys, time
from pathlib import Path
from assay.running.processes.launcher import Guardian

plan = json.loads(sys.argv[1])
report = Path(plan["report"])

def tell(facts):
    fresh = report.with_suffix(".new")
    fresh.write_text(json.dumps(facts))
    fresh.replace(report)

def main():
    g = Guardian("run", Path(plan["instances"]))
    children = [
        g.start(
            argv, env=plan["env"], cwd=g.directory, log=g.directory / "log", **plan["graces_s"]
        )
        for argv in plan["argvs"]
    ]
    if plan["fork"] and (forked := os.fork()) == 0:
        time.sleep(1000)
    facts = {"guardian": g.pid, "pids": [c.pid for c in children]}
    tell(facts)
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        time.sleep(0.5)
        os.kill(g.pid, 0)
        facts["interrupted"] = [c.pid for c in children if g.wait(c, 0.0) is None]
        g.close()
        facts["closed"] = not g.directory.exists()
        tell(facts)

main()
"""


def eventually(what: Callable[[], object]) -> bool:
    deadline_s = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.02)
    return True


class Lab:
    """One test's instances directory, token and clean-up."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.instances = root / "instances"
        self.token = uuid.uuid4().hex
        self.env = {"PATH": os.environ["PATH"], "ASSAY_TEST_TOKEN": self.token}
        self.owners: list[subprocess.Popen[bytes]] = []

    def guardian(self, run_id: str = "run") -> Guardian:
        return Guardian(run_id, self.instances)

    def start(self, g: Guardian, argv: list[str], **options: Any) -> Child:
        return g.start(argv, env=self.env, cwd=self.root, log=self.root / "log", **options)

    def tokened(self) -> list[int]:
        """Live processes that carry this test's token."""
        mark = f"ASSAY_TEST_TOKEN={self.token}".encode()
        pids = []
        for process in process_table.all_processes():
            try:
                environment = Path(f"/proc/{process.pid}/environ").read_bytes()
            except OSError:
                continue
            if process.alive and mark in environment.split(b"\0"):
                pids.append(process.pid)
        return pids

    def has_daemon(self) -> bool:
        """Whether `DAEMON` has forked twice: what stays is no child of its own any more."""
        pids = set(self.tokened())
        parents = {process.ppid for pid in pids if (process := process_table.read_process(pid))}
        return len(pids) == 2 and pids.isdisjoint(parents)

    def owner(self, *argvs: list[str], fork: bool = False, **options: Any) -> dict[str, Any]:
        """Starts another process that owns a guardian with these children; its report.

        The grace of a child that is stopped is longer than the tests wait, so that each shows that
        children of an owner that ended get the shorter one.
        """
        report = self.root / f"report{len(self.owners)}"
        plan = {
            "report": str(report),
            "instances": str(self.instances),
            "env": self.env,
            "argvs": argvs,
            "fork": fork,
            "graces_s": {"stop_grace_s": 300.0, "abandoned_grace_s": 0.5},
        }
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": PACKAGE_ROOT}
        command = [sys.executable, "-c", OWNER, json.dumps(plan)]
        options.setdefault("start_new_session", True)
        self.owners.append(subprocess.Popen(command, env=environment, **options))
        assert eventually(report.exists)
        return {**json.loads(report.read_text()), "report": report}

    def kill_owner(self, number: int = 0) -> None:
        self.owners[number].kill()
        self.owners[number].wait()

    def all_gone(self) -> bool:
        return not self.tokened() and not (self.instances / "run").exists()

    def clean(self) -> None:
        for owner in self.owners:
            if owner.poll() is None:
                os.killpg(owner.pid, signal.SIGKILL)
                owner.wait()
        for pid in self.tokened():
            if (process := read_process(pid)) is not None:
                process_table.send_signal(process, signal.SIGKILL)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab(tmp_path)
    yield made
    made.clean()


def gone(pid: int) -> bool:
    process = read_process(pid)
    return process is None or not process.alive


def daemons(lab: Lab, g: Guardian, child: Child) -> list[int]:
    """Processes of the test that are the guardian's without being what it started."""
    return [pid for pid in lab.tokened() if pid != child.pid and _parent(pid) == g.pid]


def test_of_assay_it_imports_only_its_own_modules() -> None:
    names = "sorted(name for name in sys.modules if name.startswith('assay.'))"
    program = f"import sys; sys.path.append({PACKAGE_ROOT!r}); import {guarding.__name__}\n"
    imported = subprocess.check_output([*PYTHON, f"{program}print(*{names})"], text=True).split()
    modules = [
        c_library.__name__,
        guarding.__name__,
        instance_files.__name__,
        process_table.__name__,
    ]
    assert imported == ["assay.running", "assay.running.processes", *modules, "assay.version"]


class TestOneChild:
    def test_starts_stops_and_removes_the_directory(self, lab: Lab) -> None:
        with lab.guardian() as g:
            assert g.directory.stat().st_mode & 0o777 == (0o711 if os.geteuid() == 0 else 0o700)
            child = lab.start(g, ["sleep", "1000"])
            assert child.pid == child.pgid == os.getsid(child.pid)
            ended = g.stop(child)
            assert (ended.status, ended.signal) == (None, signal.SIGTERM)
            assert gone(child.pid)
        assert lab.all_gone()

    def test_reports_the_exit_status(self, lab: Lab) -> None:
        with lab.guardian() as g:
            ended = g.wait(lab.start(g, ["sh", "-c", "exit 7"]), PATIENCE_S)
            assert ended is not None
            assert (ended.status, ended.signal) == (7, None)

    def test_reports_what_it_used(self, lab: Lab) -> None:
        burn = "x = bytearray(64 << 20)\nfor _ in range(3_000_000): pass"
        with lab.guardian() as g:
            ended = g.wait(lab.start(g, [*PYTHON, burn]), PATIENCE_S)
            assert ended is not None
            assert ended.maxrss_bytes > 64 << 20
            assert ended.user_s + ended.system_s > 0

    def test_waiting_for_a_running_child_gives_none(self, lab: Lab) -> None:
        with lab.guardian() as g:
            assert g.wait(lab.start(g, ["sleep", "1000"]), 0.05) is None

    def test_output_goes_to_the_log(self, lab: Lab) -> None:
        with lab.guardian() as g:
            g.wait(lab.start(g, ["sh", "-c", "echo out; echo err >&2"]), PATIENCE_S)
        assert (lab.root / "log").read_text() == "out\nerr\n"

    def test_environment_is_what_was_given(self, lab: Lab) -> None:
        with lab.guardian() as g:
            g.wait(lab.start(g, ["env"]), PATIENCE_S)
            lines = set((lab.root / "log").read_text().splitlines())
            marks = {f"{name}={value}" for name, value in lab.env.items()}
            assert lines - {"PWD", "SHLVL", "_"} == marks | {f"ASSAY_INSTANCE={g.directory}"}

    def test_stopping_an_ended_child_is_no_error(self, lab: Lab) -> None:
        with lab.guardian() as g:
            child = lab.start(g, ["true"])
            g.wait(child, PATIENCE_S)
            assert g.stop(child).status == 0
            assert g.stop(child).status == 0

    def test_stop_signal_is_the_engines_own(self, lab: Lab) -> None:
        # Of a shell that begins a program at that moment, dash's among them, a signal can be lost.
        program = (
            "import signal, sys, time\n"
            "signal.signal(signal.SIGQUIT, lambda *_: print('quit') or sys.exit(5))\n"
            "print('up', flush=True)\n"
            "while True: time.sleep(60)\n"
        )
        with lab.guardian() as g:
            child = lab.start(g, [sys.executable, "-c", program], stop_signal="SIGQUIT")
            assert eventually(lambda: (lab.root / "log").read_text() == "up\n")
            assert g.stop(child).status == 5
        assert "quit" in (lab.root / "log").read_text()

    def test_stop_kills_a_group_that_does_not_listen(self, lab: Lab) -> None:
        with lab.guardian() as g:
            child = lab.start(g, STUBBORN, stop_grace_s=0.3)
            assert eventually(lambda: len(lab.tokened()) == 2)
            assert g.stop(child).signal == signal.SIGKILL
            assert lab.tokened() == []

    def test_stop_reaches_the_group_when_the_leader_is_gone(self, lab: Lab) -> None:
        with lab.guardian() as g:
            rest = "trap 'echo told; exit' TERM; echo up; sleep 1000 & wait"
            child = lab.start(g, ["sh", "-c", f"({rest}) & exit 4"])
            ended = g.wait(child, PATIENCE_S)
            assert ended is not None
            assert ended.status == 4
            assert eventually(lambda: (lab.root / "log").read_text() == "up\n")
            g.stop(child)
            assert lab.tokened() == []
        assert "told\n" in (lab.root / "log").read_text()


class TestErrorsNameTheMend:
    def test_missing_program(self, lab: Lab) -> None:
        with lab.guardian() as g:
            with pytest.raises(LaunchError, match=r"no-such-engine: not found.*; install"):
                lab.start(g, ["no-such-engine"])
            assert lab.start(g, ["true"]).pid > 0  # the guardian goes on

    def test_program_without_permission(self, lab: Lab) -> None:
        program = lab.root / "program"
        program.write_text("#!/bin/sh\n")
        with lab.guardian() as g, pytest.raises(LaunchError, match=r"no permission for .*program"):
            lab.start(g, [str(program)])

    def test_missing_working_directory(self, lab: Lab) -> None:
        missing = lab.root / "missing"
        with lab.guardian() as g, pytest.raises(LaunchError, match=r"missing does not exist"):
            g.start(["true"], env=lab.env, cwd=missing, log=lab.root / "log")

    def test_missing_log_directory(self, lab: Lab) -> None:
        log = lab.root / "missing" / "log"
        with lab.guardian() as g, pytest.raises(LaunchError, match=r"missing/log does not exist"):
            g.start(["true"], env=lab.env, cwd=lab.root, log=log)

    def test_environment_too_large(self, lab: Lab) -> None:
        env = {"LARGE": "x" * guarding.MESSAGE_BYTES_MAX}
        with lab.guardian() as g, pytest.raises(LaunchError, match="fewer variables"):
            g.start(["true"], env=env, cwd=lab.root, log=lab.root / "log")

    def test_unknown_signal(self, lab: Lab) -> None:
        with lab.guardian() as g, pytest.raises(ValueError, match="SIGQUIT"):
            lab.start(g, ["true"], stop_signal="quit")

    def test_run_id_in_use(self, lab: Lab) -> None:
        with lab.guardian() as g:
            with pytest.raises(LaunchError, match="another run id"):
                lab.guardian()
            assert g.directory.exists()

    @pytest.mark.parametrize("run_id", ["", ".", "..", "a/b", ".hidden", "a\nb"])
    def test_run_id_is_a_plain_name(self, lab: Lab, run_id: str) -> None:
        with pytest.raises(LaunchError, match="is not a valid run id:"):
            lab.guardian(run_id)

    def test_after_close(self, lab: Lab) -> None:
        g = lab.guardian()
        g.close()
        g.close()
        with pytest.raises(LaunchError, match="closed"):
            lab.start(g, ["true"])


class TestControlSocket:
    def test_works_both_ways(self, lab: Lab) -> None:
        echo = (
            "import os, socket\n"
            "s = socket.socket(fileno=int(os.environ['ASSAY_CONTROL_FD']))\n"
            "while data := s.recv(100): s.sendall(data.upper())\n"
        )
        ours, theirs = socket.socketpair()
        ours.settimeout(PATIENCE_S)
        with lab.guardian() as g, ours:
            with theirs:
                child = lab.start(g, [*PYTHON, echo], control=theirs)
            ours.sendall(b"hello")
            assert ours.recv(100) == b"HELLO"
            ours.shutdown(socket.SHUT_WR)
            assert ours.recv(100) == b""  # nobody else holds the child's end
            ended = g.wait(child, PATIENCE_S)
            assert ended is not None
            assert ended.status == 0

    def test_child_sees_our_end_close(self, lab: Lab) -> None:
        listen = (
            "import os, socket\n"
            "s = socket.socket(fileno=int(os.environ['ASSAY_CONTROL_FD']))\n"
            "raise SystemExit(9 if s.recv(1) == b'' else 1)\n"
        )
        ours, theirs = socket.socketpair()
        with lab.guardian() as g:
            with theirs:
                child = lab.start(g, [*PYTHON, listen], control=theirs)
            ours.close()
            ended = g.wait(child, PATIENCE_S)
            assert ended is not None
            assert ended.status == 9

    def test_child_inherits_no_other_descriptor(self, lab: Lab) -> None:
        ours, theirs = socket.socketpair()
        with lab.guardian() as g, ours, theirs:
            child = lab.start(g, ["sleep", "1000"], control=theirs)
            open_files = [file.readlink() for file in Path(f"/proc/{child.pid}/fd").iterdir()]
            assert len(open_files) == 5
            assert g.directory / instance_files.MARK_FILE in open_files


# An owner that is killed at the moment in which it would start its guardian.
KILLED_BEFORE = """
import os, signal, sys
from pathlib import Path
from assay.running.processes import launcher
launcher.subprocess.Popen = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
launcher.Guardian("early", Path(sys.argv[1]))
"""


class TestOwnerEnds:
    def test_killed_before_its_guardian_it_leaves_no_directory(self, lab: Lab) -> None:
        command = [sys.executable, "-c", KILLED_BEFORE, str(lab.root)]
        ended = subprocess.run(command, check=False)
        assert ended.returncode == -signal.SIGKILL
        assert not (lab.root / "early").exists()

    @pytest.mark.parametrize("argv", [STUBBORN, STUBBORN_LEADER, DAEMON, ["sleep", "1000"]])
    def test_killed_in_the_middle(self, lab: Lab, argv: list[str]) -> None:
        lab.owner(argv)
        lab.kill_owner()
        assert eventually(lab.all_gone)

    def test_killed_with_unread_events(self, lab: Lab) -> None:
        facts = lab.owner(["true"], ["true"], ["sleep", "1000"])
        assert eventually(lambda: gone(facts["pids"][0]) and gone(facts["pids"][1]))
        lab.kill_owner()
        assert eventually(lab.all_gone)

    def test_killed_while_a_fork_of_it_holds_the_socket(self, lab: Lab) -> None:
        facts = lab.owner(["sleep", "1000"], fork=True)
        forks = [p for p in process_table.all_processes() if p.pgid == lab.owners[0].pid]
        lab.kill_owner()
        try:
            assert eventually(lab.all_gone)
            assert eventually(lambda: gone(facts["guardian"]))
            assert any(not gone(process.pid) for process in forks)
        finally:
            for process in forks:
                process_table.send_signal(process, signal.SIGKILL)

    def test_ctrl_c_reaches_the_owner_only(self, lab: Lab) -> None:
        ours, terminal = os.openpty()
        facts = lab.owner(
            ["sleep", "1000"],
            start_new_session=False,
            preexec_fn=lambda: os.login_tty(os.dup(terminal)),
        )
        os.close(terminal)
        os.write(ours, b"\x03")
        report: Path = facts["report"]
        assert eventually(lambda: "closed" in report.read_text())
        after = json.loads(report.read_text())
        assert after["interrupted"] == facts["pids"]
        assert after["closed"]
        os.close(ours)
        assert lab.all_gone()


class TestGuardianEnds:
    def test_killed_and_the_children_die_with_it(self, lab: Lab) -> None:
        g = lab.guardian()
        child = lab.start(g, ["sleep", "1000"])
        os.kill(g.pid, signal.SIGKILL)
        assert eventually(lambda: gone(child.pid))
        with pytest.raises(LaunchError, match="ended from outside"):
            g.wait(child, PATIENCE_S)
        g.close()
        assert lab.all_gone()

    def test_killed_and_close_finds_the_daemon(self, lab: Lab) -> None:
        g = lab.guardian()
        lab.start(g, DAEMON)
        assert eventually(lab.has_daemon)
        os.kill(g.pid, signal.SIGKILL)
        g.close()
        assert lab.all_gone()

    def test_killed_then_sweep_removes_the_directory(self, lab: Lab) -> None:
        facts = lab.owner(["sleep", "1000"])
        os.kill(facts["guardian"], signal.SIGKILL)
        assert eventually(lambda: gone(facts["pids"][0]))
        assert [s.outcome for s in sweep(lab.instances)] == ["live"]  # the owner runs
        lab.kill_owner()
        assert [s.outcome for s in sweep(lab.instances)] == ["removed"]
        assert lab.all_gone()

    def test_killed_then_sweep_kills_what_is_left(self, lab: Lab) -> None:
        facts = lab.owner(DAEMON, STUBBORN)
        assert eventually(lambda: len(lab.tokened()) == 4)
        lab.owners[0].send_signal(signal.SIGSTOP)
        os.kill(facts["guardian"], signal.SIGKILL)
        assert eventually(lambda: len(lab.tokened()) == 2)  # the leaders died at once
        lab.kill_owner()
        (swept,) = sweep(lab.instances)
        assert swept.outcome == "removed"
        assert len(swept.killed_pids) == 2
        assert lab.all_gone()

    def test_killed_then_sweep_finds_who_looks_like_somebody_else(self, lab: Lab) -> None:
        facts = lab.owner(DISGUISED)
        assert eventually(lambda: len(lab.tokened()) == 2)
        os.kill(facts["guardian"], signal.SIGKILL)
        lab.kill_owner()
        assert eventually(lambda: len(lab.tokened()) == 1)
        (swept,) = sweep(lab.instances)
        assert len(swept.killed_pids) == 1
        assert lab.all_gone()

    @pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
    def test_asked_to_end_it_ends_in_order(self, lab: Lab, signum: int) -> None:
        g = lab.guardian()
        child = lab.start(g, ["sh", "-c", "trap 'exit 3' TERM; sleep 1000 & wait"])
        assert eventually(lambda: len(lab.tokened()) == 2)
        os.kill(g.pid, signum)
        ended = g.wait(child, PATIENCE_S)
        assert ended is not None
        assert ended.status == 3
        g.close()
        assert lab.all_gone()

    def test_idle_it_takes_no_cpu(self, lab: Lab) -> None:
        with lab.guardian() as g:
            lab.start(g, ["sleep", "1000"])
            before = _cpu_ticks(g.pid)
            time.sleep(1.0)
            assert _cpu_ticks(g.pid) - before <= 10  # a busy loop would take about 100

    def test_a_daemon_is_killed_at_the_end(self, lab: Lab) -> None:
        with lab.guardian() as g:
            child = lab.start(g, DAEMON)
            # What it forks first is gone as soon as that has forked the daemon.
            assert eventually(lambda: daemons(lab, g, child))
            (daemon,) = daemons(lab, g, child)
            assert os.getsid(daemon) != child.pid
        assert lab.all_gone()


class TestSweep:
    def test_nothing_was_ever_started(self, lab: Lab) -> None:
        assert sweep(lab.instances) == []

    def test_leaves_a_live_instance_alone(self, lab: Lab) -> None:
        with lab.guardian() as g:
            child = lab.start(g, ["sleep", "1000"])
            assert [s.outcome for s in sweep(lab.instances)] == ["live"]
            assert g.directory.exists()
            assert not gone(child.pid)

    def test_leaves_another_owners_instance_alone(self, lab: Lab) -> None:
        facts = lab.owner(["sleep", "1000"])
        assert [s.outcome for s in sweep(lab.instances)] == ["live"]
        assert not gone(facts["pids"][0])

    def test_a_stuck_guardian_is_asked_and_left(self, lab: Lab) -> None:
        facts = lab.owner(["sleep", "1000"])
        os.kill(facts["guardian"], signal.SIGSTOP)
        lab.kill_owner()
        (swept,) = sweep(lab.instances)
        assert swept.outcome == "left"
        assert str(facts["guardian"]) in swept.reason
        os.kill(facts["guardian"], signal.SIGCONT)
        assert eventually(lab.all_gone)

    def test_a_reused_pid_is_not_mistaken(self, lab: Lab) -> None:
        with _bystander(lab) as bystander:
            directory = _forged(lab, bystander.pid, shift_ticks=-100)
            (swept,) = sweep(lab.instances)
            assert (swept.outcome, swept.killed_pids) == ("removed", ())
            assert not directory.exists()
            assert bystander.poll() is None

    def test_a_recorded_group_is_killed(self, lab: Lab) -> None:
        with _bystander(lab) as left_over:
            _forged(lab, left_over.pid, owner_shift_ticks=-100, shift_ticks=0)
            (swept,) = sweep(lab.instances)
            assert (swept.outcome, swept.killed_pids) == ("removed", (left_over.pid,))
            assert left_over.wait(PATIENCE_S) == -signal.SIGKILL

    def test_pids_of_another_boot_mean_nothing(self, lab: Lab) -> None:
        with _bystander(lab) as bystander:
            _forged(lab, bystander.pid, shift_ticks=0, pid_space="another boot")
            (swept,) = sweep(lab.instances)
            assert (swept.outcome, swept.killed_pids) == ("removed", ())
            assert bystander.poll() is None

    def test_a_held_lock_means_live(self, lab: Lab) -> None:
        directory = _forged(lab, 1, shift_ticks=-100, pid_space="another container")
        lock = instance_files.take_lock(directory / instance_files.LOCK_FILE)
        assert lock is not None
        assert [s.outcome for s in sweep(lab.instances)] == ["live"]
        os.close(lock)
        assert [s.outcome for s in sweep(lab.instances)] == ["removed"]

    def test_a_link_is_refused(self, lab: Lab) -> None:
        target = lab.root / "target"
        target.mkdir()
        (target / "precious").write_text("x")
        lab.instances.mkdir()
        (lab.instances / "run").symlink_to(target)
        (swept,) = sweep(lab.instances)
        assert (swept.outcome, "link" in swept.reason) == ("left", True)
        assert (target / "precious").exists()

    def test_links_inside_are_not_followed(self, lab: Lab) -> None:
        precious = lab.root / "target" / "precious"
        precious.parent.mkdir()
        precious.write_text("x")
        directory = _forged(lab, os.getpid(), shift_ticks=-100)
        (directory / "data").symlink_to(precious.parent)
        assert [s.outcome for s in sweep(lab.instances)] == ["removed"]
        assert precious.exists()

    def test_a_directory_in_the_making_is_left(self, lab: Lab) -> None:
        directory = lab.instances / "run"
        directory.mkdir(parents=True)
        assert [s.outcome for s in sweep(lab.instances)] == ["live"]
        os.utime(directory, (0, 0))
        assert [s.outcome for s in sweep(lab.instances)] == ["removed"]

    @pytest.mark.parametrize("text", ["", "{", "[]", '"x"'])
    def test_an_unreadable_owner_file_is_debris(self, lab: Lab, text: str) -> None:
        directory = lab.instances / "run"
        directory.mkdir(parents=True)
        (directory / instances.OWNER_FILE).write_text(text)
        os.utime(directory, (0, 0))
        assert [s.outcome for s in sweep(lab.instances)] == ["removed"]

    def test_one_sweep_at_a_time(self, lab: Lab) -> None:
        _forged(lab, os.getpid(), shift_ticks=-100)
        lock = instance_files.take_lock(lab.instances / instances.SWEEP_LOCK)
        assert lock is not None
        assert sweep(lab.instances) == []
        os.close(lock)
        assert len(sweep(lab.instances)) == 1


class TestPlaces:
    def test_runs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ASSAY_RUNS", raising=False)
        assert places.runs_dir() == Path("runs")
        monkeypatch.setenv("ASSAY_RUNS", "/there")
        assert places.runs_dir() == Path("/there")
        assert places.runs_dir("here") == Path("here")

    def test_root_keeps_its_things_where_its_servers_reach_them(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("os.geteuid", lambda: 0)
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.delenv("XDG_STATE_HOME", raising=False)
        assert places.cache_dir() == Path("/var/cache/assay")
        assert places.instances_dir() == Path("/var/lib/assay/instances")

    def test_defaults(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("os.geteuid", lambda: 1000)
        monkeypatch.setenv("HOME", "/home/ada")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setenv("XDG_STATE_HOME", "relative/is/ignored")
        assert places.cache_dir() == Path("/home/ada/.cache/assay")
        assert places.instances_dir() == Path("/home/ada/.local/state/assay/instances")

    def test_xdg(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", "/c")
        monkeypatch.setenv("XDG_STATE_HOME", "/s")
        assert places.cache_dir() == Path("/c/assay")
        assert places.state_dir() == Path("/s/assay")


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _parent(pid: int) -> int | None:
    process = read_process(pid)
    return process.ppid if process else None


def _bystander(lab: Lab) -> _Bystander:
    return _Bystander(["sleep", "1000"], env=lab.env, start_new_session=True)


class _Bystander(subprocess.Popen[bytes]):
    """A process that belongs to no guardian; killed when its block ends."""

    def __exit__(self, *error: Any) -> None:
        self.kill()
        super().__exit__(*error)


def _forged(
    lab: Lab,
    pid: int,
    *,
    shift_ticks: int,
    owner_shift_ticks: int | None = None,
    pid_space: str | None = None,
) -> Path:
    """An instance directory whose files name `pid` with a start time that is so far off."""
    process = read_process(pid)
    assert process is not None
    owner_shift_ticks = shift_ticks if owner_shift_ticks is None else owner_shift_ticks
    owner = {"pid": pid, "start_ticks": process.start_ticks + owner_shift_ticks}
    facts = {
        "run_id": "run",
        "pid_space": pid_space or instances._pid_space(),
        "owner": owner,
        "guardian": owner,
    }
    noted = {"pid": pid, "pgid": pid, "start_ticks": process.start_ticks + shift_ticks}
    directory = lab.instances / "run"
    directory.mkdir(parents=True)
    (directory / instances.OWNER_FILE).write_text(json.dumps(facts))
    (directory / instance_files.CHILDREN_FILE).write_text(json.dumps([noted]))
    return directory
