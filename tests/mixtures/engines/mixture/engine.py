"""A server whose time is a known mixture; see `assay.engines.contract`: `Engine`, `Server`."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from assay._core import PythonSession
from assay.engines.contract import EngineError, Instance, Product

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.engines.contract import Address, Launcher, Place, Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.model.script import Script

PROGRAM = Path(__file__).with_name("spending.py")
PATIENCE_S, LOOK_S, GRACE_S = 60.0, 0.02, 5.0


class MixtureSession:
    """One connection. The driver calls `execute` from a thread of its own."""

    def __init__(self, path: str, script: Script) -> None:
        self._asked = [
            json.dumps(dict(_amount(word) for word in operation.statements[0].text.split()))
            for operation in script.operations
        ]
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rw")

    def execute(self, operation: int, values: Sequence[object]) -> pa.Table:
        """Has an operation carried out: a row of seconds by what they were spent on."""
        del values
        self._lines.write(f"{self._asked[operation]}\n")
        self._lines.flush()
        document = json.loads(self._lines.readline())
        return pa.table({name: [seconds] for name, seconds in document.items()})

    def interrupt(self) -> None:
        """Ends a running `execute`, from any thread."""
        self._socket.shutdown(socket.SHUT_RDWR)


def _amount(word: str) -> tuple[str, float]:
    name, _, value = word.partition("=")
    return name, float(value)


class MixtureEngine:
    """One process, one client at a time."""

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """It is there."""
        del wanted, tell
        return Product("1")

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Starts the program and waits until it listens."""
        del product
        effective = {**self._facts.settings, **settings}
        launcher.own(place.data)
        # The server's user may not read where this file is.
        program = launcher.scratch / PROGRAM.name
        program.write_text(PROGRAM.read_text("utf-8"), "utf-8")
        launcher.own(program)
        path = launcher.scratch / "socket"
        argv = [sys.executable, str(program), str(place.data), str(path), effective["file_bytes"]]
        pid = launcher.serve(argv, {}, "SIGTERM", GRACE_S)
        deadline_s = time.monotonic() + PATIENCE_S
        while not _listens(path):
            if (message := launcher.last_words()) is not None or time.monotonic() > deadline_s:
                raise EngineError(f"the mixture did not start: {message}")
            time.sleep(LOOK_S)
        return {"path": str(path), "pid": pid, "settings": effective}

    def address(self, dsn: str) -> Address:
        """There is none that runs already."""
        raise EngineError(f"{dsn}: a mixture is only ours; leave --dsn out")

    def attach(self, address: Address) -> Instance:
        """Nothing is asked but by sessions."""
        return Instance(address["settings"], None, address=dict(address))

    def detach(self, instance: Instance) -> None:
        """There is nothing to end."""

    def version(self, instance: Instance) -> str:
        """The one that there is."""
        del instance
        return "1"

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """The server."""
        return (instance.address["pid"],)

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """As given."""
        return dict(instance.settings)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """The one that can be."""
        text = json.dumps(script.facts())
        path: Any = instance.address["path"]
        return [
            PythonSession(MixtureSession(path, script), text, seed, number)
            for number in range(clients)
        ]

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """There are no schemas."""
        raise EngineError(f"{name}: a mixture has no schemas")

    lock_schema = make_schema = mark_schema = use_schema = drop_schema = schema_mark


def _listens(path: Path) -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as trying:
        trying.connect(str(path))
        return True
    return False


def engine(facts: EngineFacts) -> MixtureEngine:
    """The engine of this folder."""
    return MixtureEngine(facts)
