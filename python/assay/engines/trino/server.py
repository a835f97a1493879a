"""Starts a private Trino cluster: directories, configuration and processes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.engines.bridge.beside import start_bridge
from assay.engines.bridge.link import Link
from assay.engines.contract import EngineError
from assay.engines.programs import inherited
from assay.engines.resources import PORT_TRIES, free_port, ports_taken
from assay.engines.server_files import (
    new_server_directory,
    read_server_file,
    server_directory,
    write_server_file,
)
from assay.engines.trino import configuration
from assay.engines.trino.connecting import (
    CATALOG,
    HOST,
    SCHEMA,
    TLS,
    TOKEN,
    TRUSTED,
    USER,
    Rest,
    file_text,
    url_of,
)
from assay.engines.trino.credentials import make_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place
    from assay.engines.trino.credentials import Credentials
    from assay.engines.trino.programs import Programs

COORDINATOR, WORKER = "coordinator", "worker"
# Name below `place.data`: the metastore, with a directory of files for each table.
LAKE = "lake"
# Names below the launcher's scratch directory. Each node has a directory of its name there, so that
# Assay makes no directory below one that belongs to the server's user already.
PLUGINS, CATALOGS = "plugin", "catalog"
CONFIGURATION_FILE, LOG_FILE, TEMPORARY = "config.properties", "server.log", "tmp"
ENVIRONMENT = "assay"
PORT_TAKEN = ("Address already in use", "Failed to bind")
# A node that shuts down in order waits for seconds for clients that no longer exist. A node's data
# are in files that statements have completed, so the node can be killed.
STOP_SIGNAL, STOP_GRACE_S = "SIGKILL", 30.0
START_PATIENCE_S, LOOK_S = 300.0, 0.2
MENDS = {
    "There is insufficient memory": "the host has no memory for so many heaps: give each node"
    " less (--set heap=512MB), or have fewer of them (--set workers=1)",
    "Could not reserve enough space": "the host has no memory for so large a heap (--set heap=1GB)",
    "was not used": "a property of --set is of the other kind of node, or of a part that this"
    " cluster has not: leave it out",
    "Invalid value": "a value of --set is none that the property takes",
    "OutOfMemoryError": "a node's heap is too small (--set heap=2GB)",
}


class Ports(NamedTuple):
    """The ports of a Trino coordinator: for nodes and counters, and for JDBC over TLS."""

    plain: int
    tls: int


def start_cluster(
    programs: Programs,
    java: Path,
    driver: Path,
    place: Place,
    settings: Mapping[str, str],
    launcher: Launcher,
) -> Address:
    """Start a Trino coordinator and workers; return the address once all are active.

    Args:
        programs: Programs of the product.
        java: Path of the Java program.
        driver: Directory of the JDBC driver.
        place: Directories of the instance.
        settings: Settings in the form of `--set`.
        launcher: Launcher of the nodes, and of the bridge beside them.

    Raises:
        EngineError: If a node does not start. The error message has its last output.
    """
    lake, scratch = place.data / LAKE, launcher.scratch
    lake.mkdir(mode=0o755, exist_ok=True)
    launcher.own(lake)
    _lay_out(programs, lake, settings, launcher)
    credentials = make_credentials(launcher)
    names = [f"{WORKER}-{number + 1}" for number in range(configuration.workers_of(settings))]
    ports, pids = _listening(programs, java, settings, names, launcher, credentials)
    trusted = {TLS: "true", TRUSTED: str(credentials.certificate)}
    # The bridge's Java starts in parallel with the nodes, which take longer.
    socket = start_bridge(launcher, java, [driver])
    address: Address = {
        "socket": str(socket),
        "url": url_of(HOST, ports.tls, f"/{CATALOG}/{SCHEMA}", trusted),
        "properties": {"user": USER, TOKEN: credentials.token},
        "rest": f"http://{HOST}:{ports.plain}",
        "catalog": CATALOG,
        "schema": SCHEMA,
        "pids": pids,
        "lake": str(lake),
        "scratch": str(scratch),
        "logs": {name: str(scratch / name / LOG_FILE) for name in pids},
        "heap": configuration.heap_text(settings),
    }
    _await_all(address, launcher, len(names))
    return address


def _lay_out(
    programs: Programs, lake: Path, settings: Mapping[str, str], launcher: Launcher
) -> None:
    """Write the files that all Trino nodes share: connector and catalog."""
    ours = {
        "connector.name": "hive",
        "hive.metastore": "file",
        "hive.metastore.catalog.dir": lake.absolute().as_uri(),
        "hive.metastore.user": USER,
        "hive.storage-format": "PARQUET",
    }
    catalog = configuration.text(ours | configuration.of_catalog(settings))
    with server_directory(launcher.scratch) as scratch:
        with new_server_directory(PLUGINS, scratch) as plugins:
            os.symlink(programs.plugin, programs.plugin.name, dir_fd=plugins)
        with new_server_directory(CATALOGS, scratch) as catalogs:
            write_server_file(f"{CATALOG}.properties", catalog, catalogs)
    for name in (PLUGINS, CATALOGS):
        launcher.own(launcher.scratch / name)


def _listening(
    programs: Programs,
    java: Path,
    settings: Mapping[str, str],
    workers: list[str],
    launcher: Launcher,
    credentials: Credentials,
) -> tuple[Ports, dict[str, int]]:
    """Start the Trino coordinator, then its workers; return ports and process ids."""
    for _ in range(PORT_TRIES):
        ports = Ports(free_port(HOST), free_port(HOST))
        pids = {}
        for name in (COORDINATOR, *workers):
            directory = _directory(name, ports, settings, launcher, credentials)
            argv = _command(programs, java, directory, name, settings)
            environment = inherited() | {"HOME": str(directory)}
            pids[name] = launcher.serve_node(name, argv, environment, STOP_SIGNAL, STOP_GRACE_S)
        output = _await_coordinator(f"http://{HOST}:{ports.plain}", launcher)
        if output is None:
            return ports, pids
        if not any(taken in output for taken in PORT_TAKEN):
            raise EngineError(f"Trino did not start: {explained(output)}")
    raise ports_taken("Trino")


def _directory(
    name: str,
    ports: Ports,
    settings: Mapping[str, str],
    launcher: Launcher,
    credentials: Credentials,
) -> Path:
    """Make a Trino node's own directory with its configuration.

    Workers find a free port themselves.
    """
    directory = launcher.scratch / name
    is_coordinator = name == COORDINATOR
    ours = credentials.of_node(ports.tls if is_coordinator else None) | {
        "coordinator": "true" if is_coordinator else "false",
        "http-server.http.port": str(ports.plain) if is_coordinator else "0",
        "http-server.log.path": str(directory / "http-request.log"),
        "discovery.uri": f"http://{HOST}:{ports.plain}",
        "node.internal-address": HOST,
        "node.bind-ip": HOST,
        "catalog.config-dir": str(launcher.scratch / CATALOGS),
        "plugin.dir": str(launcher.scratch / PLUGINS),
        "log.path": str(directory / LOG_FILE),
    }
    properties = configuration.text(configuration.of_nodes(settings) | ours)
    with (
        server_directory(launcher.scratch) as scratch,
        new_server_directory(name, scratch) as node,
    ):
        os.mkdir(TEMPORARY, dir_fd=node)
        write_server_file(CONFIGURATION_FILE, properties, node)
    launcher.own(directory)
    return directory


def _command(
    programs: Programs, java: Path, directory: Path, name: str, settings: Mapping[str, str]
) -> list[str]:
    """Return the command that starts a Trino node."""
    return [
        str(java),
        f"-Xmx{configuration.heap_mb(settings)}m",
        "-XX:+UseG1GC",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",
        "-XX:ReservedCodeCacheSize=256M",
        "-Djdk.attach.allowAttachSelf=true",
        "-Djdk.nio.maxCachedBufferSize=2000000",
        "-Dfile.encoding=UTF-8",
        f"-Djava.io.tmpdir={directory / TEMPORARY}",
        f"-Dnode.id={name}",
        f"-Dnode.environment={ENVIRONMENT}",
        f"-Dnode.data-dir={directory}",
        f"-Dconfig={directory / CONFIGURATION_FILE}",
        "-cp",
        programs.classes,
        "io.trino.server.TrinoServer",
    ]


def _await_coordinator(rest: str, launcher: Launcher) -> str | None:
    """Return None once the coordinator answers, or the output of a node that ended."""
    deadline_s = time.monotonic() + START_PATIENCE_S
    asked = Rest(rest, USER, None)
    while time.monotonic() < deadline_s:
        if (output := launcher.last_words()) is not None:
            return output
        try:
            if not asked.get("/v1/info")["starting"]:
                return None
        except OSError:
            pass
        time.sleep(LOOK_S)
    raise EngineError(_too_slow("its coordinator did not answer"))


def _await_all(address: Address, launcher: Launcher, workers: int) -> None:
    """Wait until all Trino workers are active.

    Raises `EngineError`.
    """
    deadline_s, active = time.monotonic() + START_PATIENCE_S, 0
    with Link.connect(address) as link:
        while time.monotonic() < deadline_s:
            if (output := launcher.last_words()) is not None:
                raise EngineError(f"Trino did not start: {explained(output)}")
            rows = link.ask(file_text("nodes.sql")).to_pylist()
            active = sum(not row["coordinator"] for row in rows)
            if active >= workers:
                return
            time.sleep(LOOK_S)
    raise EngineError(_too_slow(f"{active} of {workers} workers were active"))


def _too_slow(what: str) -> str:
    return (
        f"Trino: {what} within {START_PATIENCE_S:.0f} s of its start: the host is overloaded. Try"
        " again when it is quieter, or with fewer nodes (--set workers=1)."
    )


def explained(output: str) -> str:
    """Return a Trino node's last output, with a remedy if one is known."""
    mend = next((mend for said, mend in MENDS.items() if said in output), None)
    return output if mend is None else f"{mend}. {output}"


def properties_in_effect(address: Address) -> dict[str, str]:
    """Return the properties in use, from the logs of the Trino nodes.

    The result is empty if the nodes' logs are on other hosts.
    """
    logs: Mapping[str, str] = address.get("logs", {})
    worker = next((name for name in logs if name != COORDINATOR), None)
    if worker is None:
        return {}
    try:
        log = read_server_file(Path(logs[worker]), Path(address["scratch"]))
    except OSError as error:
        raise EngineError(f"the log of {worker} cannot be read: {error}") from error
    return configuration.in_effect(log)
