"""Starts a private PostgreSQL server: its data directory, configuration and sockets."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.postgresql.programs import (
    CONFIGURATION_FILE,
    read_configuration,
    write_configuration,
)
from assay.engines.resources import PORT_TRIES, free_port, memory_bytes, ports_taken
from assay.engines.server_files import read_server_file, write_server_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place
    from assay.engines.postgresql.programs import Programs

CONF = Path(__file__).parent / "conf"
HBA_FILE = "hba.conf"
# Names below `place.data`: the server's data directory, and the file with the password of its only
# user.
CLUSTER, PASSWORD_FILE = "cluster", "password"
USER, DATABASE, HOST = "assay", "postgres", "127.0.0.1"
STATISTICS_LIBRARY = "pg_stat_statements"
# The kernel's limit for a socket's path in bytes, including the final zero.
SOCKET_PATH_BYTES_MAX = 108
PORT_DIGITS = 5
INITDB_PATIENCE_S = 300.0
START_PATIENCE_S = 120.0
STOP_GRACE_S = 120.0
LOOK_S = 0.01
# Line of `postmaster.pid` with the server's state, and its value for a ready server.
STATE_LINE, READY = 7, "ready"
# Settings that Assay controls, such as the server's port and directories.
OURS = (
    "config_file",
    "data_directory",
    "hba_file",
    "listen_addresses",
    "port",
    "unix_socket_directories",
    "unix_socket_permissions",
)


def start_server(
    programs: Programs, place: Place, settings: Mapping[str, str], launcher: Launcher
) -> Address:
    """Start a PostgreSQL server and return its address once it answers.

    Raises:
        EngineError: If the server does not start. The error message has its last output.
    """
    cluster = place.data / CLUSTER
    if not any(place.data.iterdir()):
        _make_cluster(programs, place.data, launcher)
    launcher.own(place.data)
    given = default_settings(programs) | dict(settings)
    for _ in range(PORT_TRIES):
        port = free_port(HOST)
        _configure(cluster, given, port, launcher)
        pid = _serve(programs, cluster, launcher)
        output = _await_ready(cluster, pid, launcher)
        if output is None:
            return _address(place.data, port, pid, launcher)
        if "could not bind" not in output:
            raise EngineError(f"PostgreSQL did not start: {output}")
    raise ports_taken("PostgreSQL")


def default_settings(programs: Programs) -> dict[str, str]:
    """Return the settings of `run.conf` that exist in the installed PostgreSQL version."""
    names = programs.setting_names()
    settings = {
        name: value
        for name, value in read_configuration(CONF / "run.conf").items()
        if name in names or "." in name
    }
    if not programs.has_library(STATISTICS_LIBRARY):
        prefixes = ("shared_preload_libraries", f"{STATISTICS_LIBRARY}.")
        settings = {
            name: value for name, value in settings.items() if not name.startswith(prefixes)
        }
    there_bytes = memory_bytes()
    # A quarter and three quarters of memory, as PostgreSQL's documentation advises.
    sized = {"shared_buffers": there_bytes // 4, "effective_cache_size": there_bytes * 3 // 4}
    return settings | {name: f"{size_bytes >> 20}MB" for name, size_bytes in sized.items()}


def refuse_ours(settings: Mapping[str, str]) -> None:
    """Raise `EngineError` for a setting that Assay controls on a private server."""
    for name in settings:
        if name.lower() in OURS:
            raise EngineError(
                f"Assay itself sets {name} on a server that it starts: remove it, or start the"
                " server yourself and name it with --dsn."
            )


def _make_cluster(programs: Programs, data: Path, launcher: Launcher) -> None:
    password = data / PASSWORD_FILE
    descriptor = os.open(password, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(secrets.token_urlsafe(24))
    launcher.own(data)
    argv = [
        programs.initdb,
        f"--pgdata={data / CLUSTER}",
        f"--username={USER}",
        f"--pwfile={password}",
        "--encoding=UTF8",
        "--no-locale",
        "--auth=scram-sha-256",
    ]
    launcher.run(argv, programs.environment, INITDB_PATIENCE_S)


def _configure(cluster: Path, settings: Mapping[str, str], port: int, launcher: Launcher) -> None:
    """Write the PostgreSQL server's configuration outside its data directory."""
    scratch = launcher.scratch
    write_server_file(scratch / HBA_FILE, (CONF / HBA_FILE).read_text(encoding="utf-8"))
    ours = {
        "hba_file": str(scratch / HBA_FILE),
        "listen_addresses": HOST,
        "port": str(port),
        "unix_socket_directories": str(scratch) if socket_fits(scratch) else "",
    }
    file = scratch / CONFIGURATION_FILE
    write_configuration(file, {**settings, **ours}, include=cluster / CONFIGURATION_FILE)
    launcher.own(file)
    launcher.own(scratch / HBA_FILE)


def _serve(programs: Programs, cluster: Path, launcher: Launcher) -> int:
    # The file of a killed server would be taken for this one's.
    (cluster / "postmaster.pid").unlink(missing_ok=True)
    file = launcher.scratch / CONFIGURATION_FILE
    argv = [programs.postgres, "-D", str(cluster), f"--config-file={file}"]
    return launcher.serve(argv, programs.environment, "SIGINT", STOP_GRACE_S)


def _await_ready(cluster: Path, pid: int, launcher: Launcher) -> str | None:
    """Return None once the PostgreSQL server answers, or its last output if it ended.

    Raises `EngineError`.
    """
    deadline_s = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline_s:
        if (output := launcher.last_words()) is not None:
            return output
        if _is_ready(cluster, pid):
            return None
        time.sleep(LOOK_S)
    raise EngineError(
        f"PostgreSQL did not answer within {START_PATIENCE_S:.0f} s of its start: the host is "
        "overloaded or the disk does not answer. Try again while the host is less busy."
    )


def _is_ready(cluster: Path, pid: int) -> bool:
    try:
        lines = read_server_file(cluster / "postmaster.pid", cluster.parent).splitlines()
    except FileNotFoundError:
        return False
    whole = len(lines) > STATE_LINE and lines[0] == str(pid)
    return whole and lines[STATE_LINE].strip() == READY


def _address(data: Path, port: int, pid: int, launcher: Launcher) -> Address:
    from psycopg.conninfo import make_conninfo

    password = read_server_file(data / PASSWORD_FILE, data)
    who = make_conninfo("", port=port, user=USER, dbname=DATABASE)
    over_tcp = make_conninfo(who, host=HOST, password=password)
    scratch = launcher.scratch
    over_socket = make_conninfo(who, host=str(scratch)) if socket_fits(scratch) else over_tcp
    return {"dsn": over_socket, "dsn_tcp": over_tcp, "pid": pid, "data": str(data)}


def socket_fits(directory: Path) -> bool:
    """Return True if a directory's path is short enough for a Unix socket."""
    name = f"/.s.PGSQL.{'9' * PORT_DIGITS}"
    return len(os.fsencode(directory)) + len(name) < SOCKET_PATH_BYTES_MAX
