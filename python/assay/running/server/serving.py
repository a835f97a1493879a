"""Runs a server's programs through the guardian, without root's privileges.

Server programs refuse to run as root, and a measured server needs none of Assay's rights. If Assay
is not root, programs run as its own user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.running.processes.endings import how, last_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.running.processes.launcher import Child, Exit, Guardian

# Candidates, of which the first existing one is used; any unprivileged user will do.
USERS = ("postgres", "nobody")
SCRATCH = "server"
PROGRAM_LOG = "program.log"
ATTENDING_GRACE_S = 3.0
# Seconds for a server to end after its run was killed. Its data are removed, so a checkpoint that
# takes longer on a slow disk, or with limited CPU time, is of no use.
ABANDONED_GRACE_S = 10.0
DISK_FULL = "No space left on device"


@dataclass(frozen=True)
class User:
    """The operating system user that a server's programs run as.

    `groups` are all of the user's groups.
    """

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]

    def may_pass(self, directory: Path) -> bool:
        """Return True if this user may pass through a directory."""
        status = directory.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid in self.groups:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)


def unprivileged_user() -> User | None:
    """Return the user that server programs run as; None if Assay is not root.

    Raises:
        EngineError: If the host has no such user.
    """
    if os.geteuid() != 0:
        return None
    for name in USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        groups = tuple(os.getgrouplist(name, entry.pw_gid))
        return User(name, entry.pw_uid, entry.pw_gid, groups)
    raise EngineError(
        f"servers do not run as root, and this host has no user {' or '.join(USERS)}: run Assay "
        "as another user, or create such a user with `useradd --system postgres`."
    )


class ServerLauncher:
    """Launches one server with its helper processes.

    `cpus` are the CPUs of programs, `cpus_beside` those of helper processes; empty means all.
    `groups` are member files of control groups that the server joins.
    """

    def __init__(
        self,
        guardian: Guardian,
        log: Path,
        cpus: Sequence[int] = (),
        cpus_beside: Sequence[int] = (),
        groups: Sequence[Path] = (),
    ) -> None:
        self._groups = groups
        self._cpus = cpus
        self._cpus_beside = cpus_beside
        self._attending: dict[str, Child] = {}
        self._guardian = guardian
        self._log = log
        self._user = unprivileged_user()
        self._server: Child | None = None
        self._nodes: dict[str, Child] = {}
        self._log_begins = 0
        self._scratch = guardian.directory / SCRATCH
        self._scratch.mkdir(mode=0o700, exist_ok=True)
        self.own(self._scratch)

    @property
    def scratch(self) -> Path:
        """The directory that only the server programs' user and root can enter."""
        return self._scratch

    @property
    def server(self) -> Child | None:
        """The server process that was started last."""
        return self._server

    @property
    def served(self) -> tuple[int, ...]:
        """The root processes of the server, in order of their start."""
        alone = () if self._server is None else (self._server.pid,)
        return (*alone, *(child.pid for child in self._nodes.values()))

    @property
    def attending(self) -> tuple[int, ...]:
        """The helper processes of the server."""
        return tuple(child.pid for child in self._attending.values())

    def own(self, path: Path) -> None:
        """Give a file or a whole directory to the server programs' user.

        A directory is given after its content, and its content by name within it: the user cannot
        replace a part of the path by a link to a file of somebody else.

        Raises:
            EngineError: If the parent directories deny the user access.
        """
        if self._user is None:
            return
        self._check_reachable(path)
        if path.is_dir() and not path.is_symlink():
            for _, directories, files, descriptor in os.fwalk(path, topdown=False):
                for name in (*directories, *files):
                    self._give(name, self._user, descriptor)
        self._give(path, self._user)

    def run(self, argv: Sequence[str], env: Mapping[str, str], timeout_s: float) -> None:
        """Run a program of the server until it ends.

        Raises `EngineError` with its last output if it fails.
        """
        log = self._guardian.directory / PROGRAM_LOG
        log.unlink(missing_ok=True)
        child = self._start(argv, env, log, "SIGTERM", 0.0)
        ended = self._guardian.wait(child, timeout_s)
        if ended is None:
            self._guardian.stop(child)
            raise EngineError(
                f"{Path(argv[0]).name} did not end within {timeout_s:.0f} s: the host is overloaded"
                f" or the disk does not answer. {last_lines(log)}".rstrip()
            )
        if ended.status != 0:
            said = last_lines(log)
            mend = "free space, or set XDG_STATE_HOME. " if DISK_FULL in said else ""
            raise EngineError(f"{Path(argv[0]).name} {how(ended)}: {mend}{said}")

    def serve(
        self, argv: Sequence[str], env: Mapping[str, str], stop_signal: str, stop_grace_s: float
    ) -> int:
        """Start the server and return its process id.

        Raises `EngineError` if a server already runs.
        """
        if self._server is not None and self._guardian.wait(self._server, 0.0) is None:
            raise EngineError("the instance already has a running server.")
        self._log_begins = self._log.stat().st_size if self._log.exists() else 0
        self._server = self._start(
            argv, env, self._log, stop_signal, stop_grace_s, groups=self._groups
        )
        return self._server.pid

    def serve_node(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        stop_signal: str,
        stop_grace_s: float,
    ) -> int:
        """Start one node's process of a cluster, replacing a running one of the same name."""
        before = self._nodes.pop(name, None)
        if before is not None:
            self._guardian.stop(before)
        log, groups = self._beside(name), self._groups
        child = self._start(argv, env, log, stop_signal, stop_grace_s, groups=groups)
        self._nodes[name] = child
        return child.pid

    def attend(self, argv: Sequence[str], env: Mapping[str, str], account: str) -> int:
        """Start a helper process of the server, replacing a running one."""
        before = self._attending.pop(account, None)
        if before is not None:
            self._guardian.stop(before)
        log = self._beside(account)
        child = self._start(argv, env, log, "SIGTERM", ATTENDING_GRACE_S, self._cpus_beside)
        self._attending[account] = child
        return child.pid

    def last_words(self) -> str | None:
        """Return None while server and helpers live, else how one of them ended."""
        for account, child in (self._attending | self._nodes).items():
            ended = self._guardian.wait(child, 0.0)
            if ended is not None:
                return f"the {account} {how(ended)}. {last_lines(self._beside(account))}".rstrip()
        if self._server is None:
            return None if self._attending or self._nodes else "it was never started"
        ended = self._guardian.wait(self._server, 0.0)
        if ended is None:
            return None
        return f"it {how(ended)}. {last_lines(self._log, self._log_begins)}".rstrip()

    def stop(self) -> Exit | None:
        """Stop the server in its own way, then its helpers, and return how it ended.

        Raises `LaunchError`.

        The result is None without a server, or with several processes.
        """
        ended = None if self._server is None else self._guardian.stop(self._server)
        for name in reversed(list(self._nodes)):
            self._guardian.stop(self._nodes.pop(name))
        for child in self._attending.values():
            self._guardian.stop(child)
        self._attending.clear()
        return ended

    def _beside(self, account: str) -> Path:
        return self._log.with_name(f"{self._log.stem}-{account}.log")

    def _start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        log: Path,
        stop_signal: str,
        stop_grace_s: float,
        cpus: Sequence[int] | None = None,
        groups: Sequence[Path] = (),
    ) -> Child:
        program = Path(argv[0])
        for path in (program, self._scratch):
            self._check_reachable(path)
        return self._guardian.start(
            [*_placed(self._cpus if cpus is None else cpus), *self._prefix(), *argv],
            env=env,
            # The working directory is neither Assay's, which the user may not read, nor the data,
            # which may be removed first.
            cwd=self._scratch,
            log=log,
            stop_signal=stop_signal,
            stop_grace_s=stop_grace_s,
            abandoned_grace_s=ABANDONED_GRACE_S,
            groups=groups,
        )

    def _prefix(self) -> list[str]:
        """Return the command prefix that changes the user of a program."""
        if self._user is None:
            return []
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise EngineError(
                "setpriv is not installed, and servers do not run as root: install util-linux, or"
                " run Assay as another user."
            )
        # A change of user would remove the signal that ends the server with the guardian.
        user = [f"--reuid={self._user.uid}", f"--regid={self._user.gid}", "--init-groups"]
        return [setpriv, *user, "--pdeathsig", "keep", "--"]

    @staticmethod
    def _give(path: Path | str, user: User, directory: int | None = None) -> None:
        os.chown(path, user.uid, user.gid, dir_fd=directory, follow_symlinks=False)

    def _check_reachable(self, path: Path) -> None:
        if self._user is None:
            return
        for directory in reversed(path.absolute().parents):
            if not self._user.may_pass(directory):
                raise EngineError(
                    f"servers do not run as root, and the user {self._user.name} may not enter "
                    f"{directory}: set XDG_CACHE_HOME and XDG_STATE_HOME to directories that "
                    f"this user can enter, or run `chmod o+x {directory}`."
                )


def _placed(cpus: Sequence[int]) -> list[str]:
    """Return the command prefix that binds a program to CPUs."""
    if not cpus:
        return []
    taskset = shutil.which("taskset")
    if taskset is None:
        raise EngineError("--pin needs taskset: install util-linux.")
    return [taskset, "--cpu-list", ",".join(map(str, cpus))]
