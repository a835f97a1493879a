"""Starts a private Doltgres server: its configuration, account and address."""

from __future__ import annotations

import json
import secrets
import shutil
import time
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.postgres_family.connecting import connect
from assay.engines.programs import inherited
from assay.engines.resources import PORT_TRIES, free_port, ports_taken
from assay.engines.server_files import write_server_file

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.contract import Address, Launcher, Place

TITLE = "Doltgres"
# Name below `place.data` of the directory that has one directory per database.
DATA = "doltgres"
# Names below the launcher's scratch directory: accounts, and the program's own home.
ACCOUNTS, HOME, CONFIGURATION_FILE = "accounts", "home", "config.yaml"
HOST, USER, DATABASE = "127.0.0.1", "assay", "assay"
START_PATIENCE_S, STOP_GRACE_S, LOOK_S = 120.0, 300.0, 0.05
PORT_TAKEN = "already in use"


def start_server(program: Path, place: Place, launcher: Launcher) -> Address:
    """Start a Doltgres server and return its address once it answers.

    Raises:
        EngineError: If the server does not start. The error message has its last output.
    """
    data, scratch = place.data / DATA, launcher.scratch
    data.mkdir(mode=0o700, exist_ok=True)
    launcher.own(place.data)
    # Accounts are valid for one start: without saved accounts, the server creates one with Assay's
    # password.
    for name in (ACCOUNTS, HOME):
        shutil.rmtree(scratch / name, ignore_errors=True)
        (scratch / name).mkdir(mode=0o700)
        launcher.own(scratch / name)
    for _ in range(PORT_TRIES):
        port, password = free_port(HOST), secrets.token_urlsafe(24)
        file = scratch / CONFIGURATION_FILE
        write_server_file(file, json.dumps(_configuration(data, scratch, port)))
        launcher.own(file)
        argv = [str(program), "-config", str(file)]
        pid = launcher.serve(argv, environment(scratch / HOME, password), "SIGTERM", STOP_GRACE_S)
        address = _address(port, password, pid, data)
        output = _await_ready(address, launcher)
        if output is None:
            return address
        if PORT_TAKEN not in output:
            raise EngineError(f"{TITLE} did not start: {output}")
    raise ports_taken(TITLE)


def environment(home: Path, password: str) -> dict[str, str]:
    """Return the environment for Doltgres: its only user, and no usage reports."""
    ours = {"DOLTGRES_USER": USER, "DOLTGRES_PASSWORD": password, "DOLTGRES_DB": DATABASE}
    alone = {"DOLT_DISABLE_EVENT_FLUSH": "true", "HOME": str(home)}
    return {**inherited(), **ours, **alone}


def _configuration(data: Path, scratch: Path, port: int) -> dict[str, object]:
    accounts = scratch / ACCOUNTS
    return {
        "log_level": "warning",
        "listener": {"host": HOST, "port": port},
        "data_dir": str(data),
        "cfg_dir": str(accounts),
        "privilege_file": str(accounts / "privileges.db"),
        "auth_file": str(accounts / "auth.db"),
        "branch_control_file": str(accounts / "branch_control.db"),
    }


def _address(port: int, password: str, pid: int, data: Path) -> Address:
    from psycopg.conninfo import make_conninfo

    dsn = make_conninfo("", host=HOST, port=port, user=USER, password=password, dbname=DATABASE)
    return {"dsn": dsn, "dsn_tcp": dsn, "pid": pid, "data": str(data)}


def _await_ready(address: Address, launcher: Launcher) -> str | None:
    """Return None once the Doltgres server answers, or its last output if it ended.

    Raises `EngineError`.
    """
    deadline_s, said = time.monotonic() + START_PATIENCE_S, ""
    while time.monotonic() < deadline_s:
        if (output := launcher.last_words()) is not None:
            return output
        try:
            connect(address["dsn"], "assay start", TITLE).close()
        except EngineError as error:
            said = str(error)
            time.sleep(LOOK_S)
        else:
            return None
    raise EngineError(
        f"{TITLE} did not answer within {START_PATIENCE_S:.0f} s of its start: {said}"
    )
