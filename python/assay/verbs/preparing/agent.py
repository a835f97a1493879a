"""`assay agent`: this host drives a share of runs' clients, or observes their engine."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from assay.running.fleet.agent import serve
from assay.running.fleet.asked import check_network, parse_meeting, security, tls_directory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

log = logging.getLogger(__name__)


def agent(
    address: str,
    *,
    listen: bool = False,
    name: str | None = None,
    tls: Path | str | None = None,
    plain: bool = False,
    tell: Callable[[str], None] = log.info,
) -> None:
    """Drives a share of the clients of runs that other hosts start, until a signal ends it.

    Args:
        address: Address of the meeting place of agents and runs: `tcp://HOST:PORT`, or
            `tls://HOST:PORT`.
        listen: Serve as the meeting place and drive no clients. Use it on one host only.
        name: Name of this agent, unique among all agents; None means the host's name.
        tls: Folder with `ca.pem`, `cert.pem` and `key.pem`.
        plain: Allow an address without TLS. Use it only if nobody else uses the hosts and the
            network.
        tell: Receives a line about each event.

    Raises:
        UsageError: If the address is not valid, or has no TLS and `plain` is not set.
        RunFailedError: If the address cannot be bound, or another agent has the name.
    """
    meeting = parse_meeting(address, "agent")
    folder = None if tls is None else str(tls)
    check_network(meeting, folder, "--", plain=plain)
    safety = security(None if folder is None else tls_directory(folder, "--"))
    serve(meeting, safety, name=name, listen=listen, tell=tell)
