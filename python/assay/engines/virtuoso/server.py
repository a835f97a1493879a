"""Starts a private Virtuoso server: data directory, configuration, password, bridge."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.engines.bridge.beside import start_bridge
from assay.engines.bridge.link import Link
from assay.engines.contract import EngineError
from assay.engines.resources import PORT_TRIES, free_port, ports_taken
from assay.engines.server_files import read_server_file, write_server_file
from assay.engines.virtuoso import configuration, statistics, web
from assay.engines.virtuoso.connecting import HOST, USER, file_text, filled, run, url_of
from assay.model.language import SPARQL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place
    from assay.engines.virtuoso.programs import Programs
    from assay.model.language import Language

# Name below `place.data` of the server's directory.
DATA = "virtuoso"
PASSWORD_FILE = "password"  # noqa: S105 - where it is, not what it is
CONFIGURATION_FILE, LOG_FILE, LOADING = "virtuoso.ini", "virtuoso.log", "load"
QUERY_LOG = "virtuoso.qrl"
# Default password of a new database.
FIRST_PASSWORD = "dba"  # noqa: S105 - everybody knows it
ONLINE = "Server online at"
PORT_TAKEN = "Address already in use"
START_PATIENCE_S = 300.0
STOP_GRACE_S = 300.0
LOOK_S = 0.02


class Ports(NamedTuple):
    """The ports of a Virtuoso server: for connections, and for HTTP."""

    server: int
    web: int | None


def start_server(
    programs: Programs,
    place: Place,
    settings: Mapping[str, str],
    launcher: Launcher,
    bridge: tuple[Path, Path],
    language: Language,
) -> Address:
    """Start a Virtuoso server and return its address once it answers.

    Args:
        programs: Programs of the product.
        place: Directories of the instance.
        settings: Settings in the form of `--set`.
        launcher: Launcher of the server, and of the bridge beside it.
        bridge: Path of the Java program, and directory of the JDBC driver.
        language: Query language. For SPARQL, Virtuoso also runs its web server.

    Raises:
        EngineError: If the server does not start. The error message has its last output.
    """
    data = place.data / DATA
    is_new = not data.exists()
    data.mkdir(mode=0o700, exist_ok=True)
    (launcher.scratch / LOADING).mkdir(mode=0o700, exist_ok=True)
    launcher.own(data)
    launcher.own(launcher.scratch / LOADING)
    is_web = language == SPARQL
    configured = _configured(settings, is_web=is_web)
    ports, pid = _listening(programs, data, configured, launcher, is_web=is_web)
    java, driver = bridge
    address: Address = {
        "socket": str(start_bridge(launcher, java, [driver])),
        "url": url_of(ports.server),
        "properties": {
            "user": USER,
            "password": _password(data),
        },
        "port": ports.server,
        "web_port": ports.web,
        "pid": pid,
        "data": str(data),
        "scratch": str(launcher.scratch),
        "query_log": str(launcher.scratch / LOADING / QUERY_LOG),
    }
    if is_new:
        _make_ours(address, data, is_web=is_web)
    with Link.connect(address) as link:
        if ports.web is not None:
            address["authorization"] = web.authorization(link, data, ports.web)
        _log_no_query(link)
        statistics.choose(link, settings.get(configuration.STATISTICS))
    return address


def restart_server(
    programs: Programs, settings: Mapping[str, str], launcher: Launcher, address: Address
) -> None:
    """Restart a crashed Virtuoso server at its address.

    Raises `EngineError`.
    """
    ports = Ports(address["port"], address["web_port"])
    configured = _configured(settings, is_web=ports.web is not None)
    _, output = _started(programs, Path(address["data"]), configured, launcher, ports)
    if output is not None:
        raise EngineError(f"Virtuoso did not start again: {output}")
    with Link.connect(address) as link:
        _log_no_query(link)


def _configured(settings: Mapping[str, str], *, is_web: bool) -> configuration.Configuration:
    return configuration.configured(configuration.for_sparql() if is_web else {}, settings)


def _listening(
    programs: Programs,
    data: Path,
    configured: configuration.Configuration,
    launcher: Launcher,
    *,
    is_web: bool,
) -> tuple[Ports, int]:
    """Start Virtuoso's program; return its ports and its process id."""
    for _ in range(PORT_TRIES):
        ports = Ports(free_port(HOST), free_port(HOST) if is_web else None)
        pid, output = _started(programs, data, configured, launcher, ports)
        if output is None:
            return ports, pid
        if PORT_TAKEN not in output:
            raise EngineError(f"Virtuoso did not start: {output}")
    raise ports_taken("Virtuoso")


def _started(
    programs: Programs,
    data: Path,
    configured: configuration.Configuration,
    launcher: Launcher,
    ports: Ports,
) -> tuple[int, str | None]:
    """Start Virtuoso on given ports; return its pid, and its output if it failed."""
    scratch = launcher.scratch
    file, log = scratch / CONFIGURATION_FILE, scratch / LOG_FILE
    log.unlink(missing_ok=True)
    _write(file, configured, _ours(data, scratch, ports))
    launcher.own(file)
    argv = [str(programs.server), "+foreground", "+configfile", str(file)]
    pid = launcher.serve(argv, programs.environment, "SIGTERM", STOP_GRACE_S)
    return pid, _await_online(log, launcher)


def _ours(data: Path, scratch: Path, ports: Ports) -> configuration.Configuration:
    """Return the Virtuoso settings for the server's ports and directories."""
    web = {"ServerPort": f"{HOST}:{ports.web}", "ServerRoot": str(scratch / LOADING)}
    return ({configuration.WEB: web} if ports.web is not None else {}) | {
        "Database": {
            "DatabaseFile": str(data / "virtuoso.db"),
            "ErrorLogFile": str(scratch / LOG_FILE),
            "LockFile": str(scratch / "virtuoso.lck"),
            "TransactionFile": str(data / "virtuoso.trx"),
            "xa_persistent_file": str(data / "virtuoso.pxa"),
            "TempStorage": "TempDatabase",
        },
        "TempDatabase": {
            "DatabaseFile": str(scratch / "virtuoso-temp.db"),
            "TransactionFile": str(scratch / "virtuoso-temp.trx"),
        },
        configuration.PARAMETERS: {
            "ServerPort": f"{HOST}:{ports.server}",
            "DirsAllowed": str(scratch / LOADING),
            # The server reads its log itself when plans are requested.
            "QueryLog": str(scratch / LOADING / QUERY_LOG),
        },
    }


def _write(
    file: Path, configured: configuration.Configuration, ours: configuration.Configuration
) -> None:
    sections = [*configured, *(section for section in ours if section not in configured)]
    whole = {name: configured.get(name, {}) | ours.get(name, {}) for name in sections}
    write_server_file(file, configuration.text(whole))


def _await_online(log: Path, launcher: Launcher) -> str | None:
    """Return None once Virtuoso listens, or its last output if it ended.

    Raises `EngineError`.
    """
    deadline_s = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline_s:
        if (output := launcher.last_words()) is not None:
            return output
        if log.is_file() and ONLINE in read_server_file(log, log.parent):
            return None
        time.sleep(LOOK_S)
    raise EngineError(
        f"Virtuoso did not answer within {START_PATIENCE_S:.0f} s of its start: the host is "
        "overloaded or the disk does not answer. Try again while the host is less busy."
    )


def _log_no_query(link: Link) -> None:
    """Turn Virtuoso's query log off."""
    link.run(file_text("plans/end.sql"))


def _password(data: Path) -> str:
    """Return the password of an existing Virtuoso database."""
    file = data / PASSWORD_FILE
    return read_server_file(file, data.parent) if file.is_file() else FIRST_PASSWORD


def _make_ours(address: Address, data: Path, *, is_web: bool) -> None:
    """Give a new Virtuoso database a password, and record its initial tables.

    Raises `EngineError` if somebody else logged in with the default password.
    """
    password = f"p{secrets.token_hex(16)}"
    with Link.connect(address) as link:
        link.run(filled("password.sql", old=FIRST_PASSWORD, new=password))
        ((connections,),) = link.text(file_text("connected.sql"))
        if connections != "1":
            raise EngineError(
                f"another program logged in to the new Virtuoso server on port {address['port']} "
                "before it had a password: end that program, and try again."
            )
        run(link, file_text("note_tables.sql"))
        if is_web:
            run(link, file_text("triples_update.sql"))
        run(link, file_text("checkpoint.sql"))
    write_server_file(data / PASSWORD_FILE, password)
    address["properties"]["password"] = password
