"""JDBC drivers for tests, by the provider that brings them, and a bridge without a run."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.engines.bridge.drivers import obtain_driver
from assay.engines.bridge.jre import find_java
from assay.engines.bridge.process import JAR, await_bridge, command
from assay.engines.contract import EngineError
from assay.running.host.places import engines_dir

DRIVERS = {
    "postgresql": "org.postgresql:postgresql:42.7.4",
    "sqlite": "org.xerial:sqlite-jdbc:3.46.1.3",
}


def driver(name: str) -> Path:
    """The classes of a driver; the test is left out where this host cannot obtain them."""
    try:
        return obtain_driver(DRIVERS[name], engines_dir())
    except EngineError as error:
        pytest.skip(f"this host cannot obtain {DRIVERS[name]}: {error}")


@contextmanager
def bridge(drivers: Sequence[Path]) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """A bridge with these drivers: its socket and its process."""
    if not JAR.is_file():
        pytest.skip("the bridge is not built: `make setup` does it where there is a Java compiler")
    with tempfile.TemporaryDirectory(prefix="assay-") as place:
        path = Path(place) / "bridge.sock"
        java = find_java(engines_dir())
        process = subprocess.Popen(command(java, [JAR, *drivers], path), cwd=place)
        try:
            await_bridge(path, lambda: None if process.poll() is None else "it ended")
            yield path, process
        finally:
            process.kill()
            process.wait()
