"""Starts a private server: its data directory, its configuration, its socket."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mariadb.connecting import answers
from assay.engines.mariadb.programs import (
    CONFIGURATION_FILE,
    canonical,
    read_configuration,
    write_configuration,
)
from assay.engines.mariadb.statements import CONF, filled
from assay.engines.resources import free_port, memory_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place
    from assay.engines.mariadb.programs import Programs

# Below `place.data`: the server's own directory.
DATA = "mariadb"
BOOTSTRAP_FILE = "bootstrap.sql"
# A program with a file as its input, replaced by it.
SHELL, READING = "/bin/sh", 'script=$1; shift; exec "$@" < "$script"'
CURRENT_HOST = "@current_hostname"
INIT_FILE, SOCKET_FILE, PID_FILE, TEMPORARY = "users.sql", "s", "pid", "tmp"
USER, DATABASE, HOST = "assay", "assay", "127.0.0.1"
# The kernel's limit of a socket's path, with the zero at its end.
SOCKET_PATH_BYTES_MAX = 108
PORT_TRIES = 5
INSTALL_PATIENCE_S = 300.0
START_PATIENCE_S = 300.0
STOP_GRACE_S = 300.0
LOOK_S = 0.02
BUFFER_POOL = "innodb_buffer_pool_size"
# Where the server listens and keeps things is ours to say.
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


def start_server(
    programs: Programs, place: Place, settings: Mapping[str, str], launcher: Launcher
) -> Address:
    """Starts a server on `place` and returns its address once it answers.

    Raises:
        EngineError: With the server's last words.
    """
    data = place.data / DATA
    given = default_settings() | {canonical(name): value for name, value in settings.items()}
    password = secrets.token_urlsafe(24)
    if not any(place.data.iterdir()):
        _make_data(programs, data, launcher)
    launcher.own(place.data)
    (launcher.scratch / TEMPORARY).mkdir(mode=0o700, exist_ok=True)
    launcher.own(launcher.scratch / TEMPORARY)
    for _ in range(PORT_TRIES):
        port = free_port(HOST)
        address = _address(data, port, password, launcher)
        _configure(programs, data, given, address, launcher)
        file = launcher.scratch / CONFIGURATION_FILE
        argv = [str(programs.server), f"--defaults-file={file}"]
        address["pid"] = launcher.serve(argv, programs.environment, "SIGTERM", STOP_GRACE_S)
        words = _await_ready(address, launcher)
        if words is None:
            # It was read: nothing with a password in it is left behind.
            (launcher.scratch / INIT_FILE).unlink(missing_ok=True)
            return address
        if "Can't start server: Bind on TCP/IP port" not in words:
            raise EngineError(f"MariaDB did not start: {words}")
    raise EngineError(
        f"MariaDB found {PORT_TRIES} ports taken that had been free a moment before: try again"
        " when fewer programs open connections."
    )


def default_settings() -> dict[str, str]:
    """The settings of `run.cnf`, and the sizes that follow from the memory."""
    # The pool holds tables and indexes alike; the other half is for sorts, joins and the client.
    pool = {BUFFER_POOL: f"{memory_bytes() // 2 >> 20}M"}
    return read_configuration(CONF / "run.cnf") | pool


def refuse_ours(settings: Mapping[str, str]) -> None:
    """Raises `EngineError` for a setting that a private server must leave to us."""
    for name in settings:
        if canonical(name) in OURS:
            raise EngineError(
                f"{name} is Assay's to set for a private server: leave it out, or start the server"
                " yourself and name it with --dsn."
            )


def _make_data(programs: Programs, data: Path, launcher: Launcher) -> None:
    """Has the server make its own tables, by the product's scripts."""
    data.mkdir(mode=0o700)
    launcher.own(data)
    script = launcher.scratch / BOOTSTRAP_FILE
    parts = [CONF / BOOTSTRAP_FILE, *programs.system_tables]
    lines = [line for part in parts for line in part.read_text("utf-8").splitlines()]
    # An account of the host's own name would be one with a name that we do not know.
    kept = [line for line in lines if CURRENT_HOST not in line]
    script.write_text("\n".join(kept), "utf-8")
    launcher.own(script)
    argv = [
        str(programs.server),
        "--no-defaults",
        "--bootstrap",
        f"--basedir={programs.base}",
        f"--datadir={data}",
        f"--tmpdir={launcher.scratch}",
        # Only its orderly end has to be on the disk.
        "--innodb-flush-log-at-trx-commit=0",
    ]
    from_script = [SHELL, "-c", READING, SHELL, str(script)]
    launcher.run([*from_script, *argv], programs.environment, INSTALL_PATIENCE_S)
    script.unlink()


def _configure(
    programs: Programs,
    data: Path,
    settings: Mapping[str, str],
    address: Address,
    launcher: Launcher,
) -> None:
    """Writes configuration and accounts into the scratch directory, for the server's user only."""
    scratch = launcher.scratch
    init = scratch / INIT_FILE
    init.touch(mode=0o600)
    init.write_text(filled("users.sql", {"password": address["password"]}) + "\n", encoding="utf-8")
    ours = {
        "basedir": str(programs.base),
        "datadir": str(data),
        "bind_address": HOST,
        "port": str(address["port"]),
        # One that the kernel would not take is put beside the data, where the server itself stands.
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


def _await_ready(address: Address, launcher: Launcher) -> str | None:
    """None once the server answers; its last words if it ended. Raises `EngineError`."""
    deadline_s = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline_s:
        if (words := launcher.last_words()) is not None:
            return words
        if answers(address):
            return None
        time.sleep(LOOK_S)
    raise EngineError(
        f"MariaDB did not answer within {START_PATIENCE_S:.0f} s of its start: the host is"
        " overloaded or the disk does not answer. Try again when it is quieter."
    )


def _address(data: Path, port: int, password: str, launcher: Launcher) -> Address:
    path = launcher.scratch / SOCKET_FILE
    fits = len(os.fsencode(path)) < SOCKET_PATH_BYTES_MAX
    return {
        "host": HOST,
        "port": port,
        "unix_socket": str(path) if fits else None,
        "user": USER,
        "password": password,
        "database": DATABASE,
        "data": str(data),
        "scratch": str(launcher.scratch),
    }
