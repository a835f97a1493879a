"""Starts a private server: the program in Java, its data set, its address."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines import graph_store
from assay.engines.contract import EngineError
from assay.engines.programs import inherited
from assay.engines.resources import free_port, memory_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place

CONF = Path(__file__).parent / "conf"
TITLE = "Apache Jena Fuseki"
PROGRAM = "org.apache.jena.fuseki.main.cmds.FusekiMainCmd"
# Below `place.data`: files of the data set.
DATA = "tdb2"
LOG_CONFIGURATION = "log4j2.properties"
HOST, DATASET = "127.0.0.1", "ds"
PORT_TRIES = 5
START_PATIENCE_S, STOP_GRACE_S, LOOK_S = 120.0, 60.0, 0.1
PORT_TAKEN = "Address already in use"
# What a user may set: the largest heap. The data are beside it, in memory-mapped files.
HEAP, HEAP_PART = "heap", 4
MIB = 1 << 20


def file_text(name: str) -> str:
    """The query of a file in `conf/`."""
    return (CONF / name).read_text(encoding="utf-8").strip()


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
    heap = settings.get(HEAP, f"{memory_bytes() // HEAP_PART // MIB}m")
    for _ in range(PORT_TRIES):
        port = free_port(HOST)
        argv = [str(java), f"-Xmx{heap}", "-XX:+PreserveFramePointer", "-cp", str(home), PROGRAM]
        argv += ["--localhost", "--port", str(port), "--tdb2", f"--loc={data}", "--update"]
        argv += [f"/{DATASET}"]
        argv[1:1] = [f"-Dlog4j.configurationFile={_log_configuration(launcher)}"]
        environment = {**inherited(), "HOME": str(launcher.scratch)}
        pid = launcher.serve(argv, environment, "SIGTERM", STOP_GRACE_S)
        address = {
            "session": {
                "host": HOST,
                "port": port,
                "query": f"/{DATASET}/query",
                "update": f"/{DATASET}/update",
            },
            "query": f"http://{HOST}:{port}/{DATASET}/query",
            "store": f"/{DATASET}/data?default",
            "pid": pid,
            "heap": heap,
        }
        words = _await_ready(address, launcher)
        if words is None:
            return address
        if PORT_TAKEN not in words:
            raise EngineError(f"{TITLE} did not start: {words}")
    raise EngineError(
        f"{TITLE} found {PORT_TRIES} ports taken that had been free a moment before: try again when"
        " fewer programs open connections."
    )


def _log_configuration(launcher: Launcher) -> Path:
    file = launcher.scratch / LOG_CONFIGURATION
    shutil.copyfile(CONF / LOG_CONFIGURATION, file)
    launcher.own(file)
    return file


def _await_ready(address: Address, launcher: Launcher) -> str | None:
    """None once the server answers; its last words if it ended. Raises `EngineError`."""
    deadline_s, said = time.monotonic() + START_PATIENCE_S, ""
    while time.monotonic() < deadline_s:
        if (words := launcher.last_words()) is not None:
            return words
        try:
            graph_store.ask(address["query"], file_text("ready.rq"), TITLE)
        except EngineError as error:
            said = str(error)
            time.sleep(LOOK_S)
        else:
            return None
    raise EngineError(
        f"{TITLE} did not answer within {START_PATIENCE_S:.0f} s of its start: {said}"
    )
