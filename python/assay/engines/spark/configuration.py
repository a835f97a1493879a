"""Checks the settings of a private Spark cluster, and derives its size."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.model.errors import suggestion
from assay.model.units import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.spark.programs import Programs

WORKERS, CORES = "workers", "cores"
COLLECTS = "spark.sql.cbo.enabled"
# Default numbers of workers and of cores per worker; a worker has one executor with all its cores.
OF_OURS = {WORKERS: "2", CORES: "1"}
DRIVER_MEMORY, EXECUTOR_MEMORY = "spark.driver.memory", "spark.executor.memory"
HEAPS = {DRIVER_MEMORY: "768m", EXECUTOR_MEMORY: "640m"}
WORKERS_MAX = 64
# Settings that Assay controls, such as ports, directories, secrets and reporting.
OURS = (
    "spark.acls.enable",
    "spark.app.name",
    "spark.driver.bindAddress",
    "spark.driver.host",
    "spark.driver.port",
    "spark.executor.cores",
    "spark.executor.instances",
    "spark.executor.processTreeMetrics.enabled",
    "spark.cores.max",
    "spark.local.dir",
    "spark.log.level",
    "spark.master",
    "spark.sql.catalogImplementation",
    "spark.sql.warehouse.dir",
    "spark.submit.deployMode",
    "spark.ui.enabled",
    "spark.ui.filters",
    "spark.ui.liveUpdate.period",
    "spark.ui.port",
)
OF_SECRETS = "spark.authenticate"
# Prefixes of composed names, and of names that Spark passes to other components.
OPEN = ("spark.hadoop.", "spark.executorEnv.", "spark.metrics.conf.", "spark.sql.catalog.")
_OF_MODULES = re.compile(r"spark\.(?:rpc|shuffle|files)\.io\.\w+")
_HEAP = re.compile(r"\d+[kmg]b?", re.IGNORECASE)


@dataclass(frozen=True)
class Shape:
    """The size of a Spark cluster: its workers, their cores and memory.

    Attributes:
        workers: Number of workers, each with one executor.
        cores: Number of cores per worker.
        driver_heap, executor_heap: Heap sizes in Java's notation.
    """

    workers: int
    cores: int
    driver_heap: str
    executor_heap: str


def check(settings: Mapping[str, str], programs: Programs) -> None:
    """Raise `EngineError` for a Spark setting that is unknown or controlled by Assay."""
    for name in settings:
        if name in OURS or name.startswith(OF_SECRETS):
            instead = f" {WORKERS} and {CORES} determine the number of executors."
            raise EngineError(
                f"Assay itself sets {name} on a private cluster: remove it, or start the cluster "
                "yourself and name it with --dsn."
                f"{instead if 'cores' in name or 'instances' in name else ''}"
            )
        is_known = name in OF_OURS or name in programs.settings or name.startswith(OPEN)
        if not is_known and not _OF_MODULES.fullmatch(name):
            near = suggestion(name, [*OF_OURS, *sorted(programs.settings)])
            raise EngineError(f"Spark {programs.version} has no setting {name!r}; {near}")
    shape_of(settings)


def shape_of(settings: Mapping[str, str]) -> Shape:
    """Return the size of a Spark cluster with these settings."""
    heaps = {name: settings.get(name, heap) for name, heap in HEAPS.items()}
    for name, heap in heaps.items():
        if not _HEAP.fullmatch(heap):
            raise EngineError(f"{name}={heap}: write it as a number with m or g, such as 640m.")
    workers, cores = (_number(settings, name) for name in (WORKERS, CORES))
    driver, executor = (heap.lower().removesuffix("b") for heap in heaps.values())
    return Shape(workers, cores, driver, executor)


def spark_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that belong to Spark itself, in its driver's form."""
    return {name: value for name, value in settings.items() if name not in OF_OURS}


def _number(settings: Mapping[str, str], name: str) -> int:
    value = settings.get(name, OF_OURS[name])
    number = whole_number(value)
    if number is None or not 1 <= number <= WORKERS_MAX:
        raise EngineError(f"{name}={value}: write a whole number from 1 to {WORKERS_MAX}.")
    return number
