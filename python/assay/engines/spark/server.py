"""Starts a private Spark cluster: master, workers, and the driver with JDBC."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.bridge.beside import start_bridge
from assay.engines.bridge.link import Link
from assay.engines.contract import EngineError
from assay.engines.resources import PORT_TRIES, free_port, ports_taken
from assay.engines.spark import tables
from assay.engines.spark.configuration import COLLECTS, shape_of, spark_settings
from assay.engines.spark.connecting import TOKEN, url_of
from assay.engines.spark.credentials import USER, make_credentials
from assay.engines.spark.executors import DRIVER
from assay.engines.spark.programs import HOST
from assay.engines.spark.rest import fetch, master_state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay.engines.contract import Address, Launcher, Place
    from assay.engines.spark.configuration import Shape
    from assay.engines.spark.credentials import Credentials
    from assay.engines.spark.programs import Programs

TITLE = "Spark"
MASTER = "master"
MASTER_CLASS = "org.apache.spark.deploy.master.Master"
WORKER_CLASS = "org.apache.spark.deploy.worker.Worker"
DRIVER_CLASS = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
# Heap of processes that only coordinate others.
SMALL_HEAP = "128m"
# Directory of tables below `place.data`. The other directories are below the launcher's scratch
# directory and last as long as the processes.
LAKE, WORK, LOCAL, HOME = "lake", "work", "local", "home"
PORT_TAKEN = ("Address already in use", "BindException", "could not bind", "Could not bind")
START_PATIENCE_S, STOP_GRACE_S, LOOK_S = 180.0, 20.0, 0.05
MEBIBYTES = {"k": 1 / 1024, "m": 1, "g": 1024}
# Memory that a worker reserves beyond its executor's heap, by Spark's own formula.
BESIDE_HEAP_MIB, BESIDE_HEAP_SHARE = 384, 1.1


def start_cluster(
    programs: Programs, place: Place, settings: Mapping[str, str], launcher: Launcher
) -> Address:
    """Start a Spark cluster and return its address once all executors are registered.

    Raises:
        EngineError: If a process ends. The error message has its last output.
    """
    programs.check_filter()
    shape, scratch = shape_of(settings), launcher.scratch
    lake = place.data / LAKE
    for directory in (lake, scratch / WORK, scratch / LOCAL, scratch / HOME):
        directory.mkdir(mode=0o755, parents=True, exist_ok=True)
        launcher.own(directory)
    credentials = make_credentials(launcher)
    for _ in range(PORT_TRIES):
        address = _address(shape, lake, credentials)
        output = _started(programs, shape, settings, launcher, address, credentials)
        if output is None:
            break
        if not any(taken in output for taken in PORT_TAKEN):
            raise EngineError(f"{TITLE} did not start: {output}")
    else:
        raise ports_taken(TITLE)
    address["socket"] = str(start_bridge(launcher, programs.java, programs.jdbc()))
    with Link.connect(address) as link:
        tables.register(link, lake)
        if settings.get(COLLECTS, "").lower() == "true":
            tables.gather_statistics(link, lake)
    return address


def _address(shape: Shape, lake: Path, credentials: Credentials) -> Address:
    port, page, asked, master, master_page = (free_port(HOST) for _ in range(5))
    return {
        "url": url_of(HOST, asked),
        "properties": {"user": USER, "password": credentials.password},
        "setup": [],
        "ours": True,
        "lake": str(lake),
        "port": asked,
        "driver_port": port,
        "ui": [HOST, page],
        TOKEN: credentials.token,
        "master_port": master,
        "master_page_port": master_page,
        "worker_pages": [free_port(HOST) for _ in range(shape.workers)],
        "shape": {"workers": shape.workers, "cores": shape.cores},
    }


def _started(
    programs: Programs,
    shape: Shape,
    settings: Mapping[str, str],
    launcher: Launcher,
    address: Address,
    credentials: Credentials,
) -> str | None:
    """Start all Spark processes; return the last output of one that ended, or None.

    Raises `EngineError`.
    """
    scratch = launcher.scratch
    temporary = {"java.io.tmpdir": str(scratch / LOCAL), "user.timezone": "UTC"}
    environment = programs.environment | {"HOME": str(scratch / HOME)}
    environment["SPARK_LOCAL_DIRS"] = str(scratch / LOCAL)

    def node(
        name: str,
        heap: str,
        main: list[str],
        properties: Mapping[str, str],
        jar: Path | None = None,
    ) -> int:
        options = credentials.options
        command = programs.command(heap, main, temporary | dict(properties), options, jar)
        return launcher.serve_node(name, command, environment, "SIGTERM", STOP_GRACE_S)

    listens = ["--host", HOST, "--port", str(address["master_port"])]
    page = ["--webui-port", str(address["master_page_port"])]
    quiet = {"spark.master.rest.enabled": "false"}
    pids = {MASTER: node(MASTER, SMALL_HEAP, [MASTER_CLASS, *listens, *page], quiet)}
    # A worker that contacts the master too early retries only after many seconds.
    if output := _await(lambda: bool(_workers(address)[0]), launcher, "the master"):
        return output
    url = f"spark://{HOST}:{address['master_port']}"
    for number, port in enumerate(address["worker_pages"], 1):
        work = ["--work-dir", str(scratch / WORK / str(number)), "--webui-port", str(port)]
        size = ["--cores", str(shape.cores), "--memory", f"{_held_mib(shape)}m"]
        main = [WORKER_CLASS, "--host", HOST, *size, *work, url]
        pids[f"worker-{number}"] = node(f"worker-{number}", SMALL_HEAP, main, {})
    driver_properties = _driver_properties(programs, shape, settings, address, scratch) | {
        "spark.master": url,
        **credentials.thrift_properties,
    }
    asked = [
        "--hiveconf",
        f"hive.server2.thrift.port={address['port']}",
        "--hiveconf",
        f"hive.server2.thrift.bind.host={HOST}",
        *credentials.thrift_options,
    ]
    main = [DRIVER_CLASS, *asked]
    pids[DRIVER] = node(DRIVER, shape.driver_heap, main, driver_properties, credentials.jar)
    address["pids"] = pids
    ready = _await(lambda: _is_ready(address, shape), launcher, "all executors")
    return ready or _await(lambda: _listens(address), launcher, "the driver")


def _driver_properties(
    programs: Programs,
    shape: Shape,
    settings: Mapping[str, str],
    address: Address,
    scratch: Path,
) -> dict[str, str]:
    """Return the properties of the driver and its executors; Assay's override the user's."""
    given = spark_settings(settings)
    of_java = " ".join(programs.shared)
    also = given.pop("spark.executor.extraJavaOptions", "")
    return given | {
        "spark.app.name": "assay",
        "spark.submit.deployMode": "client",
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.driver.port": str(address["driver_port"]),
        "spark.ui.port": str(address["ui"][1]),
        "spark.ui.showConsoleProgress": "false",
        # The driver then reports the current state of its stages, not a delayed one.
        "spark.ui.liveUpdate.period": "0",
        "spark.log.level": "WARN",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": address["lake"],
        "spark.executor.memory": shape.executor_heap,
        "spark.executor.cores": str(shape.cores),
        "spark.executor.extraJavaOptions": f"{of_java} -Duser.timezone=UTC {also}".strip(),
        "spark.executor.processTreeMetrics.enabled": "true",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.local.dir": str(scratch / LOCAL),
    }


def _held_mib(shape: Shape) -> int:
    heap = float(shape.executor_heap[:-1]) * MEBIBYTES[shape.executor_heap[-1]]
    return round(max(heap + BESIDE_HEAP_MIB, heap * BESIDE_HEAP_SHARE))


def _workers(address: Address) -> tuple[bool, int]:
    """Return whether the Spark master answers, and the number of live workers."""
    try:
        state = master_state(HOST, address["master_page_port"], address[TOKEN])
    except OSError:
        return False, 0
    return True, sum(worker["state"] == "ALIVE" for worker in state["workers"])


def _is_ready(address: Address, shape: Shape) -> bool:
    if _workers(address)[1] < shape.workers:
        return False
    try:
        executors = fetch(HOST, address["ui"][1], "executors", address[TOKEN]) or []
    except (OSError, LookupError, ValueError):
        return False
    there = [
        executor for executor in executors if executor["id"] != DRIVER and executor["isActive"]
    ]
    return len(there) >= shape.workers


def _listens(address: Address) -> bool:
    try:
        socket.create_connection((HOST, address["port"]), LOOK_S).close()
    except OSError:
        return False
    return True


def _await(is_there: Callable[[], bool], launcher: Launcher, what: str) -> str | None:
    """Return None once a condition holds, or the last output of a process that ended.

    Raises `EngineError`.
    """
    deadline_s = time.monotonic() + START_PATIENCE_S
    while not is_there():
        if (output := launcher.last_words()) is not None:
            return output
        if time.monotonic() > deadline_s:
            raise EngineError(
                f"{TITLE} waited {START_PATIENCE_S:.0f} s for {what}: the host is overloaded, "
                "or has too little memory for its workers. Try again while the host is less "
                "busy, or with fewer workers."
            )
        time.sleep(LOOK_S)
    return None
