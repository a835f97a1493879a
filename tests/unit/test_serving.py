"""Programs of a server run as somebody who is not root, and end with the run."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from assay.engines.contract import EngineError
from assay.running.processes.endings import LINE_MAX
from assay.running.processes.launcher import Guardian
from assay.running.processes.process_table import read_process
from assay.running.server import serving
from assay.running.server.serving import ServerLauncher, User, unprivileged_user

PATIENCE_S = 20.0
ENVIRONMENT = {"PATH": os.environ["PATH"]}
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")


def eventually(what: Callable[[], object]) -> bool:
    deadline_s = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def instances() -> Iterator[Path]:
    """A directory that every user reaches, as tmp_path is not."""
    directory = Path(tempfile.mkdtemp(prefix="assay-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def guardian(instances: Path) -> Iterator[Guardian]:
    with Guardian("run", instances) as made:
        yield made


@pytest.fixture
def launcher(guardian: Guardian, tmp_path: Path) -> ServerLauncher:
    return ServerLauncher(guardian, tmp_path / "server.log")


def shell(script: str) -> list[str]:
    return [shutil.which("sh") or "/bin/sh", "-c", script]


class TestUser:
    @as_root
    def test_root_becomes_somebody_else(self, launcher: ServerLauncher) -> None:
        path = launcher.scratch / "told"
        launcher.run(shell(f"id -u > {path}; id -G >> {path}"), ENVIRONMENT, PATIENCE_S)
        user = unprivileged_user()
        assert user is not None
        uid, groups = path.read_text().splitlines()
        assert int(uid) == user.uid != 0
        assert {int(group) for group in groups.split()} == set(user.groups)
        assert path.stat().st_uid == user.uid

    def test_somebody_else_stays_who_they_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        assert unprivileged_user() is None

    def test_without_such_a_user_the_mend_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(serving, "USERS", ("no-such-user",))
        with pytest.raises(EngineError, match="useradd --system postgres"):
            unprivileged_user()

    @pytest.mark.parametrize(
        ("mode", "uid", "groups", "may"),
        [
            (0o700, 0, (), False),
            (0o711, 0, (), True),
            (0o700, 1, (), True),
            (0o077, 1, (), False),
            (0o710, 0, (1,), True),
            (0o701, 0, (1,), False),
        ],
    )
    def test_who_may_pass_a_directory(
        self, tmp_path: Path, mode: int, uid: int, groups: tuple[int, ...], may: bool
    ) -> None:
        own = tmp_path.stat()
        directory = tmp_path / "directory"
        directory.mkdir()
        directory.chmod(mode)
        user = User("x", own.st_uid if uid else own.st_uid + 1, 0, (own.st_gid,) if groups else ())
        assert user.may_pass(directory) is may

    @as_root
    @pytest.mark.parametrize("what", ["own", "run"])
    def test_a_closed_directory_is_told_with_the_mend(
        self, launcher: ServerLauncher, tmp_path: Path, what: str
    ) -> None:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o700)
        program = closed / "program"
        program.write_text("#!/bin/sh\n")
        acts = {
            "own": lambda: launcher.own(program),
            "run": lambda: launcher.run([str(program)], ENVIRONMENT, PATIENCE_S),
        }
        with pytest.raises(EngineError, match=r"may not enter .*XDG_CACHE_HOME and XDG_STATE_HOME"):
            acts[what]()

    @as_root
    def test_what_is_owned_is_a_tree_without_what_links_lead_to(
        self, launcher: ServerLauncher, guardian: Guardian
    ) -> None:
        data, elsewhere = guardian.directory / "data", guardian.directory / "elsewhere"
        (data / "inner").mkdir(parents=True)
        (data / "inner" / "file").write_text("x")
        elsewhere.write_text("x")
        (data / "link").symlink_to(elsewhere)
        launcher.own(data)
        user = unprivileged_user()
        assert user is not None
        owners = {path.lstat().st_uid for path in (data, *data.rglob("*"))}
        assert (owners, elsewhere.stat().st_uid) == ({user.uid}, 0)

    @as_root
    def test_a_folder_that_its_user_replaces_by_a_link_leads_nowhere(
        self, launcher: ServerLauncher, guardian: Guardian, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data, elsewhere = guardian.directory / "data", guardian.directory / "elsewhere"
        for folder in (data / "inner", elsewhere):
            folder.mkdir(parents=True)
            (folder / "file").write_text("x")
        change_owner = os.chown

        def replacing(path: Path | str, *owner: int, **more: Any) -> None:
            if Path(path).name == "file":
                (data / "inner").rename(data / "before")
                (data / "inner").symlink_to(elsewhere)
            change_owner(path, *owner, **more)

        monkeypatch.setattr(os, "chown", replacing)
        launcher.own(data)
        assert (data / "inner").is_symlink()
        assert (elsewhere / "file").stat().st_uid == 0

    @as_root
    def test_without_setpriv_the_mend_is_told(
        self, launcher: ServerLauncher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(EngineError, match="install util-linux"):
            launcher.run(["/bin/true"], ENVIRONMENT, PATIENCE_S)

    @as_root
    def test_others_see_nothing_of_the_instance(
        self, launcher: ServerLauncher, guardian: Guardian
    ) -> None:
        assert guardian.directory.stat().st_mode & 0o777 == 0o711
        assert launcher.scratch.stat().st_mode & 0o777 == 0o700
        for name in ("owner.json", "children.json"):
            launcher.run(["/bin/true"], ENVIRONMENT, PATIENCE_S)
            assert (guardian.directory / name).stat().st_mode & 0o777 == 0o600


class TestRun:
    def test_a_program_that_fails_is_quoted(self, launcher: ServerLauncher) -> None:
        with pytest.raises(EngineError, match=r"sh ended with status 3: first / second"):
            launcher.run(shell("echo first; echo second >&2; exit 3"), ENVIRONMENT, PATIENCE_S)

    def test_the_words_are_those_of_the_last_program(self, launcher: ServerLauncher) -> None:
        launcher.run(shell("echo before"), ENVIRONMENT, PATIENCE_S)
        with pytest.raises(EngineError) as raised:
            launcher.run(shell("echo after; exit 1"), ENVIRONMENT, PATIENCE_S)
        assert "before" not in str(raised.value)

    def test_a_full_disk_has_its_mend(self, launcher: ServerLauncher) -> None:
        with pytest.raises(EngineError, match="free space, or set XDG_STATE_HOME"):
            launcher.run(
                shell("echo write: No space left on device; exit 1"), ENVIRONMENT, PATIENCE_S
            )

    def test_one_that_does_not_end_is_ended(self, launcher: ServerLauncher) -> None:
        pid = launcher.scratch / "pid"
        with pytest.raises(EngineError, match="sh did not end within 1 s"):
            launcher.run(shell(f"echo $$ > {pid}; exec sleep 1000"), ENVIRONMENT, 1.0)
        assert read_process(int(pid.read_text())) is None

    def test_a_line_that_goes_on_and_on_is_cut(self, launcher: ServerLauncher) -> None:
        with pytest.raises(EngineError) as caught:
            launcher.run(
                shell("echo first; printf '%01000d\\n' 0; exit 1"), ENVIRONMENT, PATIENCE_S
            )
        assert str(caught.value).endswith(f"first / {'0' * LINE_MAX} ...")

    def test_the_environment_is_what_was_given(self, launcher: ServerLauncher) -> None:
        path = launcher.scratch / "told"
        launcher.run(shell(f"env > {path}"), {**ENVIRONMENT, "GIVEN": "1"}, PATIENCE_S)
        names = {line.partition("=")[0] for line in path.read_text().splitlines()}
        assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", "GIVEN", "ASSAY_INSTANCE"}


class TestServe:
    def test_it_lives_until_it_is_stopped(self, launcher: ServerLauncher) -> None:
        pid = launcher.serve(shell("exec sleep 1000"), ENVIRONMENT, "SIGTERM", PATIENCE_S)
        assert launcher.last_words() is None
        ended = launcher.stop()
        assert ended is not None
        assert ended.signal == signal.SIGTERM
        assert read_process(pid) is None
        assert "ended by signal 15" in (launcher.last_words() or "")

    def test_without_its_run_it_ends_sooner_than_in_its_own_way(
        self,
        launcher: ServerLauncher,
        guardian: Guardian,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        monkeypatch.setattr(serving, "ABANDONED_GRACE_S", 0.3)
        script = "trap '' TERM; echo up; while :; do sleep 1; done"
        pid = launcher.serve(shell(script), ENVIRONMENT, "SIGTERM", 3 * PATIENCE_S)
        assert eventually(lambda: "up" in (tmp_path / "server.log").read_text())
        closing = Thread(target=guardian.close)
        closing.start()
        assert eventually(lambda: read_process(pid) is None)
        closing.join()

    def test_the_child_is_the_server_itself(self, launcher: ServerLauncher) -> None:
        pid = launcher.serve(shell("exec sleep 1000"), ENVIRONMENT, "SIGTERM", PATIENCE_S)
        name = Path(f"/proc/{pid}/comm")
        assert eventually(lambda: name.read_text().strip() == "sleep")

    def test_its_end_is_told_with_the_end_of_its_log(
        self, launcher: ServerLauncher, tmp_path: Path
    ) -> None:
        (tmp_path / "server.log").write_text("of another server\n")
        launcher.serve(shell("echo no port; exit 4"), ENVIRONMENT, "SIGTERM", PATIENCE_S)
        assert eventually(launcher.last_words)
        assert launcher.last_words() == "it ended with status 4. no port"

    def test_a_second_one_is_refused_while_the_first_lives(self, launcher: ServerLauncher) -> None:
        launcher.serve(shell("exec sleep 1000"), ENVIRONMENT, "SIGTERM", PATIENCE_S)
        with pytest.raises(EngineError, match="the instance already has a running server"):
            launcher.serve(shell("exec sleep 1000"), ENVIRONMENT, "SIGTERM", PATIENCE_S)

    def test_after_its_end_another_may_follow(self, launcher: ServerLauncher) -> None:
        launcher.serve(shell("exit 0"), ENVIRONMENT, "SIGTERM", PATIENCE_S)
        assert eventually(launcher.last_words)
        launcher.serve(shell("exec sleep 1000"), ENVIRONMENT, "SIGTERM", PATIENCE_S)
        assert launcher.last_words() is None

    def test_nothing_was_started(self, launcher: ServerLauncher) -> None:
        assert launcher.last_words() == "it was never started"
        assert launcher.stop() is None

    def test_it_ends_with_the_guardian(self, guardian: Guardian, launcher: ServerLauncher) -> None:
        pid = launcher.serve(shell("exec sleep 1000"), ENVIRONMENT, "SIGTERM", PATIENCE_S)
        assert eventually(lambda: Path(f"/proc/{pid}/comm").read_text().strip() == "sleep")
        os.kill(guardian.pid, signal.SIGKILL)
        assert eventually(lambda: (p := read_process(pid)) is None or not p.alive)


class TestAttend:
    def test_what_is_beside_a_server_lives_and_ends_with_it(
        self, launcher: ServerLauncher, tmp_path: Path
    ) -> None:
        launcher.serve(shell("exec sleep 1000"), ENVIRONMENT, "SIGTERM", PATIENCE_S)
        pid = launcher.attend(shell("echo hello; exec sleep 1000"), ENVIRONMENT, "bridge")
        assert launcher.attending == (pid,)
        assert launcher.last_words() is None
        assert eventually((tmp_path / "server-bridge.log").read_text)
        launcher.stop()
        assert launcher.attending == ()
        assert eventually(lambda: (p := read_process(pid)) is None or not p.alive)

    def test_its_end_is_told_by_its_name(self, launcher: ServerLauncher) -> None:
        launcher.serve(shell("exec sleep 1000"), ENVIRONMENT, "SIGTERM", PATIENCE_S)
        launcher.attend(shell("echo no driver; exit 3"), ENVIRONMENT, "bridge")
        assert eventually(launcher.last_words)
        assert launcher.last_words() == "the bridge ended with status 3. no driver"

    def test_it_needs_no_server_of_ours(self, launcher: ServerLauncher) -> None:
        launcher.attend(shell("exec sleep 1000"), ENVIRONMENT, "bridge")
        assert launcher.last_words() is None

    def test_a_second_one_takes_the_place_of_the_first(self, launcher: ServerLauncher) -> None:
        first = launcher.attend(shell("exec sleep 1000"), ENVIRONMENT, "bridge")
        second = launcher.attend(shell("exec sleep 1000"), ENVIRONMENT, "bridge")
        assert launcher.attending == (second,)
        assert eventually(lambda: (p := read_process(first)) is None or not p.alive)


def test_the_users_we_look_for_are_no_root() -> None:
    user_ids = [pwd.getpwnam(name).pw_uid for name in serving.USERS if _exists(name)]
    assert 0 not in user_ids


def _exists(name: str) -> bool:
    return any(entry.pw_name == name for entry in pwd.getpwall())
