"""Makes the command with which a user keeps the rows of a run's queries as expected answers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from assay.model.secrets import dsn_without_password

if TYPE_CHECKING:
    from assay.running.asked.request import RunRequest


def answers_command(request: RunRequest) -> str:
    """Return the command, without a password: `assay answers ./queries --dsn ... --keep`."""
    words = ["assay", "answers", request.workload]
    if request.dsn is None:
        version = f"@{request.engine_version}" if request.engine_version else ""
        words += ["--engine", f"{request.engine}{version}", "--scale", f"{request.scale:g}"]
    else:
        words += ["--dsn", dsn_without_password(request.dsn)]
        if "://" not in request.dsn:
            words += ["--engine", request.engine]
    for driver in request.drivers:
        words += ["--driver", driver]
    if request.language is not None:
        words += ["--language", request.language]
    return " ".join(shlex.quote(word) for word in [*words, "--keep"])
