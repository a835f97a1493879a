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
            help="Where agents and runs meet: tcp://HOST:PORT, or tls://HOST:PORT.",
            metavar="ADDRESS",
        ),
    ],
    *,
    listen: Annotated[
        bool,
        typer.Option(
            "--listen",
            help="Serve as the meeting place, and drive nothing; use it on one host only.",
        ),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(help="Name of this agent, unique among all [default: the host's name]."),
    ] = None,
    tls: Annotated[
        Path | None,
        typer.Option(help="Folder with ca.pem, cert.pem and key.pem.", metavar="DIR"),
    ] = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Allow an address without TLS, where host and network are yours alone.",
        ),
    ] = False,
) -> None:
    """Drives a share of the clients of runs that are started elsewhere, until Ctrl-C.

    On the measured server's host, an agent can observe the server's processes instead of driving:
    `assay run ... --engine-host NAME`, or `assay observe` with the same option. It needs permission
    to see them: run it as root or as the server's user.

    Anybody who reaches an agent can load any server with it, and run any code as its user. On
    loopback that is every account of the host. So connections are encrypted and both ends have
    certificates, unless --plain is given.

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
