"""Options of the Dask agent that observes the engine's host, for runs and observations."""

from __future__ import annotations

from typing import Annotated

from assay.running.asked.declaring import Group, Needs, Option

FleetPlain = Annotated[
    bool,
    Option(
        Group.SERVER,
        "Allow --fleet tcp://..., which is neither encrypted nor authenticated. Use --fleet-plain"
        " only if you trust everybody on the hosts and the network.",
        needs=Needs.FLEET,
    ),
]
FleetTls = Annotated[
    str | None,
    Option(
        Group.SERVER,
        "With --fleet tls://...: directory with the certificates ca.pem and cert.pem, and the key"
        " key.pem.",
        "DIR",
        needs=Needs.FLEET,
    ),
]
EngineHostName = Annotated[
    str | None,
    Option(
        Group.SERVER,
        "With --dsn and an address in --fleet: NAME of the agent on the server's host. The agent"
        " on the server's host sends no load, but observes the server's processes PID,..."
        " [default: the process that listens on the port in --dsn].",
        "NAME[:PID,...]",
        needs=Needs.FLEET,
    ),
]
