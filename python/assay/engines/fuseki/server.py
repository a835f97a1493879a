"""Starts a private Fuseki server: its Java program, data set and address."""

from __future__ import annotations

import secrets
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.collecting import LOG, log_options
from assay.engines.programs import inherited
from assay.engines.resources import memory_bytes
from assay.engines.server_files import write_server_file
from assay.engines.sparql_family.addresses import basic_authorization
from assay.engines.sparql_family.serving import HOST, Served, serve, serve_again

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place

CONF = Path(__file__).parent / "conf"
TITLE = "Apache Jena Fuseki"
PROGRAM = "org.apache.jena.fuseki.main.cmds.FusekiMainCmd"
# Name below `place.data` of the data set's directory.
DATA = "tdb2"
LOG_CONFIGURATION = "log4j2.properties"
DATASET = "/ds"
# The server refuses every request without the password of this user.
USER = "assay"
PASSWORD_FILE = "passwords"  # noqa: S105 - where it is, not what it is
START_PATIENCE_S, STOP_GRACE_S = 120.0, 60.0
# The only setting: the maximum heap size. Data are in memory-mapped files outside the heap.
HEAP, HEAP_PART = "heap", 4
MIB = 1 << 20


def start_server(
    java: Path, home: Path, place: Place, settings: Mapping[str, str], launcher: Launcher
) -> Address:
    """Start a Fuseki server and return its address once it answers.

    Raises:
        EngineError: If the server does not start. The error message has its last output.
    """
    data = place.data / DATA
    data.mkdir(mode=0o700, exist_ok=True)
    launcher.own(place.data)
    all_settings = {HEAP: f"{memory_bytes() // HEAP_PART // MIB}m", **settings}
    return serve(
        _served(java, home, launcher),
        lambda port: address_of(port, data, launcher.scratch, all_settings),
    )


def restart_server(java: Path, home: Path, launcher: Launcher, address: Address) -> None:
    """Restart a crashed Fuseki server at its address.

    Raises `EngineError`.
    """
    serve_again(_served(java, home, launcher), address)


def address_of(port: int, data: Path, scratch: Path, settings: Mapping[str, str]) -> Address:
    """Return the address of a private Fuseki server, with its settings and a new password."""
    password = secrets.token_hex(16)
    return {
        "host": HOST,
        "port": port,
        "query": f"{DATASET}/query",
        "update": f"{DATASET}/update",
        "store": f"{DATASET}/data?default",
        "results": "tsv",
        "password": password,
        "authorization": basic_authorization(USER, password),
        "data": str(data),
        "collections": str(scratch / LOG),
        "settings": dict(settings),
    }


def _served(java: Path, home: Path, launcher: Launcher) -> Served:
    return Served(TITLE, launcher, partial(_start, java, home, launcher), START_PATIENCE_S)


def _start(java: Path, home: Path, launcher: Launcher, address: Address) -> int:
    """Start Fuseki's program at an address and return its process id."""
    logs = launcher.scratch / LOG_CONFIGURATION
    write_server_file(logs, (CONF / LOG_CONFIGURATION).read_text(encoding="utf-8"))
    launcher.own(logs)
    passwords = launcher.scratch / PASSWORD_FILE
    write_server_file(passwords, f"{USER}: {address['password']}\n")
    launcher.own(passwords)
    argv = [
        str(java),
        f"-Xmx{address['settings'][HEAP]}",
        *log_options(Path(address["collections"])),
        # With frame pointers, the stacks of CPU samples can be unwound.
        "-XX:+PreserveFramePointer",
        f"-Dlog4j.configurationFile={logs}",
        *("-cp", str(home), PROGRAM),
        *("--localhost", "--port", str(address["port"])),
        *("--auth=basic", f"--passwd={passwords}"),
        *("--tdb2", f"--loc={address['data']}", "--update", DATASET),
    ]
    environment = {**inherited(), "HOME": str(launcher.scratch)}
    return launcher.serve(argv, environment, "SIGTERM", STOP_GRACE_S)
