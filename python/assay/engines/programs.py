"""Runs a product's program to read its version and settings, without starting a server."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PATIENCE_S = 60.0
MEND = "Choose another version, or name programs that do with --bin-dir."


def inherited(library_path: str = "") -> dict[str, str]:
    """Return a program's whole environment, including paths of additional libraries."""
    plain = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    return plain | ({"LD_LIBRARY_PATH": library_path} if library_path else {})


def run_program(
    command: Sequence[str],
    environment: Mapping[str, str],
    program: Path | str,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a product's program until it ends.

    Args:
        command: The program with its arguments.
        environment: Environment variables of the program.
        program: Name of the program for errors.
        cwd: Working directory of the program.

    Raises:
        EngineError: If the program cannot be started, or does not end in time.
    """
    try:
        return subprocess.run(
            command,
            env=environment,
            cwd=cwd,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"{program} does not run on this host: {error}. {MEND}") from error
