"""Phrases on the conditions of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import (
    rate_text,
    seconds_text,
)

if TYPE_CHECKING:
    from assay.report.documents.host.conditions import ChosenServerRow, FleetSection
    from assay.report.documents.run import RunDocument


ASKED_OF_A_LOAD = {
    "think_time": "with think time",
    "foreign_keys": "with foreign keys",
    "pipeline": "pipelined",
}


def load_conditions(document: RunDocument) -> list[str] | None:
    """Return texts such as `open, 5,000/s, 8 clients, 30 s`; None for a fixed order."""
    conditions = document["conditions"]
    if conditions["clients"] is None:
        return None
    parts = [conditions["arrival"] or ""]
    if conditions["rate_per_s"] is not None:
        parts.append(rate_text(conditions["rate_per_s"]))
    if (speed := conditions.get("as_recorded")) is not None:
        parts.append("as recorded" if speed == 1 else f"as recorded, {speed:g} times as fast")
    parts.append(f"{conditions['clients']} client{'s' if conditions['clients'] != 1 else ''}")
    parts += fleet_words(conditions.get("fleet"))
    if conditions["time_s"] is not None:
        after = "killed after " if conditions.get("killed", False) else ""
        parts.append(f"{after}{conditions['time_s']:g} s")
    parts += [phrase for key, phrase in ASKED_OF_A_LOAD.items() if conditions.get(key, False)]
    if conditions.get("durability") is not None:
        parts.append(f"durability {conditions['durability']}")
    return parts


def fleet_words(fleet: FleetSection | None) -> list[str]:
    """Return text on the number of client hosts and their clocks' uncertainty."""
    if fleet is None:
        return []
    lost = f", {fleet['lost']} of them lost" if fleet["lost"] else ""
    unsure_s = fleet["clock_uncertainty_s"]
    if unsure_s is None:
        clocks = "clocks not measured"
    else:
        clocks = f"clocks ±{seconds_text(unsure_s)}" if unsure_s else "one clock"
    phrases = [f"from {fleet['hosts']} host{'s' * (fleet['hosts'] != 1)} ({clocks}{lost})"]
    if fleet.get("engine_host") is not None:
        phrases.append(f"probes on {fleet['engine_host']}")
    return phrases


def server_words(servers: list[ChosenServerRow] | None) -> list[str]:
    """Return text on the servers to which sessions were connected; empty for a single server."""
    if servers is None or len(servers) == 1:
        return []
    counts = " and ".join(f"{row['server']} ({_use_of_server(row)})" for row in servers)
    return [f"sessions on {len(servers)} servers: {counts}"]


def _use_of_server(row: ChosenServerRow) -> str:
    """Return text on the connections to a server, and on the outage before it was used."""
    said = f"{row['connections']} connection{'s' * (row['connections'] != 1)}"
    since_s, outage_s = row.get("since_s"), row.get("outage_s")
    if since_s is not None:
        said += f", from {seconds_text(since_s)} on"
    if outage_s is not None:
        said += f" after {seconds_text(outage_s)} without a successful operation"
    return said
