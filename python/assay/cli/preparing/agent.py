"""`assay agent`: this host drives a share of runs' clients, or observes their engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.shared.output import say


def agent(
    address: Annotated[
        str,
        typer.Argument(
            help="Address that agents and runs connect to: tcp://HOST:PORT, or tls://HOST:PORT.",
            metavar="ADDRESS",
        ),
    ],
    *,
    listen: Annotated[
        bool,
        typer.Option(
            "--listen",
            help=(
                "Open the address that other agents and runs connect to, but generate no load."
                " Exactly one host needs this option."
            ),
        ),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(help="Name of this agent, unique among all [default: the host's name]."),
    ] = None,
    tls: Annotated[
        Path | None,
        typer.Option(
            help="Directory with the certificates ca.pem and cert.pem, and the key key.pem.",
            metavar="DIR",
        ),
    ] = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Allow an address without TLS. Use --plain only if"
            " nobody else has access to the hosts and the network.",
        ),
    ] = False,
) -> None:
    """Executes a part of the load for runs that other hosts start, until Ctrl-C.

    On the measured server's host, an agent can observe the server's processes instead of generating
    load: `assay run ... --engine-host NAME`, or `assay observe` with the same option. An agent that
    observes a server must run as root or as the server's user.

    Anybody who reaches an agent can load any server with it, and run any code as its user. Every
    account of the host can reach an agent on a loopback address. Without --plain, connections to
    agents are therefore encrypted, and both ends authenticate by certificates.

    \b
    Examples:
      assay agent tls://driver-1:8786 --tls certs --listen   where all meet: here
      assay agent tls://driver-1:8786 --tls certs            drive for runs there
      assay agent tcp://127.0.0.1:8786 --plain               on a host all yours
      assay run tpcc --dsn ... --clients 64 --fleet tls://driver-1:8786 ...
      assay run tpcc --dsn ... --clients 64 --fleet tls://driver-1:8786 ...
                     --engine-host db
    """
    from assay.verbs.preparing.agent import agent as served

    served(address, listen=listen, name=name, tls=tls, plain=plain, tell=say)
