"""Starts a private SPARQL server on a free port and waits until it answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from assay.engines.contract import EngineError
from assay.engines.resources import PORT_TRIES, free_port, ports_taken
from assay.engines.sparql_family.client import answers

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engines.contract import Address, Launcher

HOST = "127.0.0.1"
PORT_TAKEN = "Address already in use"
LOOK_S = 0.02


class Served(NamedTuple):
    """A server program that answers SPARQL.

    Attributes:
        title: Title of the product, for readers.
        launcher: Launcher of the program.
        start: Has the launcher start the program at an address, and returns its process id.
        patience_s: Maximum seconds until the program answers.
    """

    title: str
    launcher: Launcher
    start: Callable[[Address], int]
    patience_s: float


def serve(served: Served, address_of: Callable[[int], Address]) -> Address:
    """Start a SPARQL server on a free port; return its address once it answers.

    Raises:
        EngineError: If the server does not start. The error message has its last output.
    """
    for _ in range(PORT_TRIES):
        address = address_of(free_port(HOST))
        output = _started(served, address)
        if output is None:
            return address
        if PORT_TAKEN not in output:
            raise EngineError(f"{served.title} did not start: {output}")
    raise ports_taken(served.title)


def serve_again(served: Served, address: Address) -> None:
    """Restart a crashed SPARQL server at its address.

    Raises `EngineError`.
    """
    output = _started(served, address)
    if output is not None:
        raise EngineError(f"{served.title} did not start again: {output}")


def _started(served: Served, address: Address) -> str | None:
    """Return None once the SPARQL server answers, or its last output if it ended.

    Raises `EngineError`.
    """
    address["pid"] = served.start(address)
    deadline_s = time.monotonic() + served.patience_s
    while time.monotonic() < deadline_s:
        if (output := served.launcher.last_words()) is not None:
            return output
        if answers(address):
            return None
        time.sleep(LOOK_S)
    raise EngineError(
        f"{served.title} did not answer within {served.patience_s:.0f} s of its start: the host "
        "is overloaded or the disk does not answer. Try again while the host is less busy."
    )
