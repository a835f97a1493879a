"""Makes the command that stores a run's query results as expected answers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from assay.model.secrets import dsn_without_password

if TYPE_CHECKING:
    from assay.running.asked.request import RunRequest


def answers_command(request: RunRequest) -> str:
    """Return the command `assay answers ./queries --dsn ... --keep` without a password."""
    arguments = ["assay", "answers", request.workload]
    if request.dsn is None:
        version = f"@{request.engine_version}" if request.engine_version else ""
        arguments += ["--engine", f"{request.engine}{version}", "--scale", f"{request.scale:g}"]
    else:
        arguments += ["--dsn", dsn_without_password(request.dsn)]
        if "://" not in request.dsn:
            arguments += ["--engine", request.engine]
    for driver in request.drivers:
        arguments += ["--driver", driver]
    if request.language is not None:
        arguments += ["--language", request.language]
    return " ".join(shlex.quote(word) for word in [*arguments, "--keep"])
