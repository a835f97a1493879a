"""Maps executors to workers, which are a cluster's nodes besides its driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.engines.contract import Address

DRIVER = "driver"


def workers_of(
    executors: Iterable[Mapping[str, Any]], address: Address
) -> dict[str, tuple[str, str]]:
    """Return name and host of each executor's node, by the executor's id.

    Workers of a private cluster have numbers, identified by their web interface's port. Other
    workers are named by host and port of their web interface, or by the executor's host if the
    worker has none.

    Args:
        executors: Executors in the driver's JSON.
        address: Address of the cluster.
    """
    pages: list[int] = address.get("worker_pages", [])
    places = {}
    for executor in executors:
        served = {
            (place.hostname or "", place.port)
            for page in (executor.get("executorLogs") or {}).values()
            if (place := urlsplit(page)).port is not None
        }
        host = str(executor["hostPort"]).rpartition(":")[0] if "hostPort" in executor else ""
        ports = {port for _, port in served}
        numbers = [number for number, port in enumerate(pages, 1) if port in ports]
        if executor["id"] == DRIVER:
            places[DRIVER] = (DRIVER, host)
        elif numbers:
            places[str(executor["id"])] = (f"worker-{numbers[0]}", host)
        elif not pages:
            place = min(served, default=None)
            name = host if place is None else f"{place[0]}:{place[1]}"
            places[str(executor["id"])] = (name, host)
    return places
