"""Starts a private Dolt server: its configuration, account and address."""

from __future__ import annotations

import secrets
import shutil
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.dolt.configuration import configured
from assay.engines.dolt.programs import (
    CONF,
    CONFIGURATION_FILE,
    environment,
    find_program,
    home_of,
    write_global_configuration,
)
from assay.engines.mysql_family.configuration import read_configuration
from assay.engines.mysql_family.connecting import connect
from assay.engines.mysql_family.loading import execute
from assay.engines.mysql_family.server import (
    DATABASE,
    HOST,
    SOCKET_FILE,
    await_ready,
    local_address,
)
from assay.engines.mysql_family.statements import filled
from assay.engines.resources import PORT_TRIES, free_port, ports_taken
from assay.engines.server_files import (
    new_server_directory,
    server_directory,
    write_server_file,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place, Product

TITLE = "Dolt"
# Name below `place.data` of the directory that has one directory per database.
DATA = "dolt"
# Names below the launcher's scratch directory: accounts, and the program's own configuration.
ACCOUNTS, HOME = "accounts", "home"
# The account that the server creates itself when it finds none.
USER = "root"
STOP_GRACE_S = 300.0
PORT_TAKEN = ("already in use",)
# 1.26.1 is an old version and 1.83.2 is not; versions between were not tried.
AUTOMATIC_FROM = (1, 50)


def start_server(
    product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
) -> Address:
    """Start a Dolt server and return its address once it answers.

    Raises:
        EngineError: If the server does not start. The error message has its last output.
    """
    program, version = find_program(home_of(product)), product.version
    data, scratch = place.data / DATA, launcher.scratch
    data.mkdir(mode=0o700, exist_ok=True)
    launcher.own(place.data)
    # Accounts are valid for one start: without saved accounts, the server creates one with Assay's
    # password.
    shutil.rmtree(scratch / ACCOUNTS, ignore_errors=True)
    home = scratch / HOME
    with server_directory(scratch) as directory, new_server_directory(HOME, directory) as opened:
        write_global_configuration(opened)
    launcher.own(home)
    given = default_settings(version) | dict(settings)
    for _ in range(PORT_TRIES):
        password = secrets.token_urlsafe(24)
        address = _address(password, launcher) | {"data": str(data)}
        inherited = environment(home) | {"DOLT_ROOT_PASSWORD": password, "DOLT_ROOT_HOST": "%"}
        file = scratch / CONFIGURATION_FILE
        ours = _ours(data, address, launcher) | _account(version, password)
        write_server_file(file, configured(given | ours))
        launcher.own(file)
        # A killed server's socket file must be removed, or the next server listens on TCP only.
        (scratch / SOCKET_FILE).unlink(missing_ok=True)
        argv = [str(program.file), "sql-server", "--config", str(file)]
        address["pid"] = launcher.serve(argv, inherited, "SIGTERM", STOP_GRACE_S)
        output = await_ready(TITLE, address | {"database": None}, launcher)
        if output is None:
            _make_database(address)
            return address
        if not any(taken in output for taken in PORT_TAKEN):
            raise EngineError(f"{TITLE} did not start: {output}")
    raise ports_taken(TITLE)


def default_settings(version: str) -> dict[str, str]:
    """Return Dolt's default settings from `run.cnf`, or `run-old.cnf` for an old version."""
    return read_configuration(CONF / ("run-old.cnf" if is_old(version) else "run.cnf"))


def is_old(version: str) -> bool:
    """Return True for old Dolt versions, whose account is set in the configuration."""
    return tuple(map(int, version.split(".")[:2])) < AUTOMATIC_FROM


def _account(version: str, password: str) -> dict[str, str]:
    """Return the account settings that an old Dolt version needs."""
    return {"user.name": USER, "user.password": password} if is_old(version) else {}


def _address(password: str, launcher: Launcher) -> Address:
    """Return the address of the Dolt server and of its metrics."""
    listening, metrics = free_port(HOST), free_port(HOST)
    return local_address(listening, password, launcher) | {"user": USER, "metrics_port": metrics}


def _ours(data: object, address: Address, launcher: Launcher) -> dict[str, str]:
    socket = address["unix_socket"]
    return {
        "data_dir": str(data),
        "cfg_dir": str(launcher.scratch / ACCOUNTS),
        "listener.host": HOST,
        "listener.port": str(address["port"]),
        **({} if socket is None else {"listener.socket": socket}),
        "metrics.host": HOST,
        "metrics.port": str(address["metrics_port"]),
        "secure_file_priv": str(launcher.scratch),
    }


def _make_database(address: Address) -> None:
    connection = connect(address | {"database": None})
    try:
        execute(connection, filled("make_database.sql", conf=CONF, name=DATABASE))
    finally:
        connection.close()
