"""Starts a private MySQL or MariaDB server: its configuration, accounts and address."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mysql_family.configuration import canonical, write_configuration
from assay.engines.mysql_family.connecting import answers
from assay.engines.mysql_family.programs import CONFIGURATION_FILE
from assay.engines.mysql_family.statements import filled
from assay.engines.resources import PORT_TRIES, free_port, memory_bytes, ports_taken
from assay.engines.server_files import write_server_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher
    from assay.engines.mysql_family.programs import Program

INIT_FILE, SOCKET_FILE, PID_FILE, TEMPORARY = "users.sql", "s", "pid", "tmp"
USER, DATABASE, HOST = "assay", "assay", "127.0.0.1"
# The kernel's limit for a socket's path in bytes, including the final zero.
SOCKET_PATH_BYTES_MAX = 108
START_PATIENCE_S = 300.0
STOP_GRACE_S = 300.0
LOOK_S = 0.02
BUFFER_POOL = "innodb_buffer_pool_size"
PORT_TAKEN = "Can't start server: Bind on TCP/IP port"
# Settings that Assay controls, such as the server's port and directories.
OURS = (
    "basedir",
    "bind_address",
    "datadir",
    "init_file",
    "pid_file",
    "plugin_dir",
    "port",
    "secure_file_priv",
    "socket",
    "tmpdir",
    "user",
)


def refuse_ours(settings: Mapping[str, str]) -> None:
    """Raise `EngineError` for a setting that Assay controls on a private server."""
    for name in settings:
        if canonical(name) in OURS:
            raise EngineError(
                f"Assay itself sets {name} on a server that it starts: remove it, or start the"
                " server yourself and name it with --dsn."
            )


def buffer_pool() -> dict[str, str]:
    """Return the size in bytes of InnoDB's buffer pool: half of memory."""
    return {BUFFER_POOL: f"{memory_bytes() // 2 >> 20}M"}


def serve(
    program: Program, data: Path, settings: Mapping[str, str], users: Path, launcher: Launcher
) -> Address:
    """Start a MySQL or MariaDB server and return its address once it answers.

    Args:
        program: The server's program.
        data: The server's data directory, with its system tables.
        settings: All settings except those that Assay controls.
        users: SQL that creates Assay's account, with `{password}`.
        launcher: Launcher that starts the server.

    Raises:
        EngineError: If the server does not start. The error message has its last output.
    """
    password = secrets.token_urlsafe(24)
    scratch = launcher.scratch
    (scratch / TEMPORARY).mkdir(mode=0o700, exist_ok=True)
    launcher.own(scratch / TEMPORARY)
    given = {canonical(name): value for name, value in settings.items()}
    for _ in range(PORT_TRIES):
        address = local_address(free_port(HOST), password, launcher) | {"data": str(data)}
        _configure(data, given, users, address, launcher)
        file = scratch / CONFIGURATION_FILE
        argv = [*program.command, f"--defaults-file={file}", *program.places]
        address["pid"] = launcher.serve(argv, program.environment, "SIGTERM", STOP_GRACE_S)
        output = await_ready(program.title, address, launcher)
        if output is None:
            # The server has read the file, which contains a password, so it is deleted.
            (scratch / INIT_FILE).unlink(missing_ok=True)
            return address
        if PORT_TAKEN not in output:
            raise EngineError(f"{program.title} did not start: {output}")
    raise ports_taken(program.title)


def local_address(port: int, password: str, launcher: Launcher) -> Address:
    """Return the address of a private server: a Unix socket, or TCP if its path is too long."""
    path = launcher.scratch / SOCKET_FILE
    fits = len(os.fsencode(path)) < SOCKET_PATH_BYTES_MAX
    return {
        "host": HOST,
        "port": port,
        "unix_socket": str(path) if fits else None,
        "user": USER,
        "password": password,
        "database": DATABASE,
        "scratch": str(launcher.scratch),
    }


def await_ready(title: str, address: Address, launcher: Launcher) -> str | None:
    """Return None once the MySQL server answers, or its last output if it ended.

    Raises `EngineError`.
    """
    deadline_s = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline_s:
        if (output := launcher.last_words()) is not None:
            return output
        if answers(address):
            return None
        time.sleep(LOOK_S)
    raise EngineError(
        f"{title} did not answer within {START_PATIENCE_S:.0f} s of its start: the host is "
        "overloaded or the disk does not answer. Try again while the host is less busy."
    )


def _configure(
    data: Path, settings: Mapping[str, str], users: Path, address: Address, launcher: Launcher
) -> None:
    """Write the MySQL server's configuration and accounts, readable for its user only."""
    scratch = launcher.scratch
    init = scratch / INIT_FILE
    text = filled(users.name, {"password": address["password"]}, conf=users.parent)
    write_server_file(init, text + "\n")
    ours = {
        "datadir": str(data),
        "bind_address": HOST,
        "port": str(address["port"]),
        # If the path is too long for the kernel, the socket is relative to the server's data
        # directory.
        "socket": address["unix_socket"] or SOCKET_FILE,
        "pid_file": str(scratch / PID_FILE),
        "tmpdir": str(scratch / TEMPORARY),
        "secure_file_priv": str(scratch),
        "init_file": str(init),
    }
    file = scratch / CONFIGURATION_FILE
    write_configuration(file, {**settings, **ours})
    launcher.own(file)
    launcher.own(init)
