"""Starts a private server: the program in Java, its data set, its address."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.programs import inherited
from assay.engines.resources import free_port, memory_bytes
from assay.engines.sparql_family.client import answers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place

CONF = Path(__file__).parent / "conf"
TITLE = "Apache Jena Fuseki"
PROGRAM = "org.apache.jena.fuseki.main.cmds.FusekiMainCmd"
# Below `place.data`: files of the data set.
DATA = "tdb2"
LOG_CONFIGURATION = "log4j2.properties"
HOST, DATASET = "127.0.0.1", "/ds"
PORT_TRIES = 5
START_PATIENCE_S, STOP_GRACE_S, LOOK_S = 120.0, 60.0, 0.05
PORT_TAKEN = "Address already in use"
# What a user may set: the largest heap. The data are beside it, in memory-mapped files.
HEAP, HEAP_PART = "heap", 4
MIB = 1 << 20


def start_server(
    java: Path, home: Path, place: Place, settings: Mapping[str, str], launcher: Launcher
) -> Address:
    """Starts a server on `place` and returns its address once it answers.

    Raises:
        EngineError: With the server's last words.
    """
    data = place.data / DATA
    data.mkdir(mode=0o700, exist_ok=True)
    launcher.own(place.data)
    told = {HEAP: f"{memory_bytes() // HEAP_PART // MIB}m", **settings}
    for _ in range(PORT_TRIES):
        address = address_of(free_port(HOST), data, told)
        words = _started(java, home, launcher, address)
        if words is None:
            return address
        if PORT_TAKEN not in words:
            raise EngineError(f"{TITLE} did not start: {words}")
    raise EngineError(
        f"{TITLE} found {PORT_TRIES} ports taken that had been free a moment before: try again when"
        " fewer programs open connections."
    )


def restart_server(java: Path, home: Path, launcher: Launcher, address: Address) -> None:
    """Starts a server that died again, at its address. Raises `EngineError`."""
    words = _started(java, home, launcher, address)
    if words is not None:
        raise EngineError(f"{TITLE} did not start again: {words}")


def address_of(port: int, data: Path, settings: Mapping[str, str]) -> Address:
    """How a private server is reached, and what it was told."""
    return {
        "host": HOST,
        "port": port,
        "query": f"{DATASET}/query",
        "update": f"{DATASET}/update",
        "store": f"{DATASET}/data?default",
        "results": "tsv",
        "data": str(data),
        "settings": dict(settings),
    }


def _started(java: Path, home: Path, launcher: Launcher, address: Address) -> str | None:
    """None once the server answers; its last words if it ended. Raises `EngineError`."""
    logs = launcher.scratch / LOG_CONFIGURATION
    shutil.copyfile(CONF / LOG_CONFIGURATION, logs)
    launcher.own(logs)
    argv = [
        str(java),
        f"-Xmx{address['settings'][HEAP]}",
        # Stacks of samples can be walked.
        "-XX:+PreserveFramePointer",
        f"-Dlog4j.configurationFile={logs}",
        *("-cp", str(home), PROGRAM),
        *("--localhost", "--port", str(address["port"])),
        *("--tdb2", f"--loc={address['data']}", "--update", DATASET),
    ]
    environment = {**inherited(), "HOME": str(launcher.scratch)}
    address["pid"] = launcher.serve(argv, environment, "SIGTERM", STOP_GRACE_S)
    deadline_s = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline_s:
        if (words := launcher.last_words()) is not None:
            return words
        if answers(address):
            return None
        time.sleep(LOOK_S)
    raise EngineError(
        f"{TITLE} did not answer within {START_PATIENCE_S:.0f} s of its start: the host is"
        " overloaded or the disk does not answer. Try again when it is quieter."
    )
