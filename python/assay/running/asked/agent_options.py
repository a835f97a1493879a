"""Options for the agent on the engine's host, shared by runs and observations."""

from __future__ import annotations

from typing import Annotated

from assay.running.asked.declaring import Group, Needs, Option

FleetPlain = Annotated[
    bool,
    Option(
        Group.SERVER,
        "Allow --fleet tcp://... where host and network are yours alone.",
        needs=Needs.FLEET,
    ),
]
FleetTls = Annotated[
    str | None,
    Option(
        Group.SERVER,
        "With --fleet tls://...: folder with ca.pem, cert.pem and key.pem.",
        "DIR",
        needs=Needs.FLEET,
    ),
]
EngineHostName = Annotated[
    str | None,
    Option(
        Group.SERVER,
        "With --fleet tcp://... and --dsn: the agent on the server's host, which observes the"
        " server's processes there and drives nothing. Without pids it finds the one that listens"
        " on the port.",
        "NAME[:PID,...]",
        needs=Needs.FLEET,
    ),
]
