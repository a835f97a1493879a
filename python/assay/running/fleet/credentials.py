"""Makes the TLS certificate by which a run and its own agents authenticate each other.

A new certificate is made for each run, and deleted with the run's private folder. A process that
cannot read its key cannot connect to the run's scheduler or agents.
"""

from __future__ import annotations

import os
from pathlib import Path

from assay.running.fleet.asked import TLS_FILES

FOLDER = "fleet-tls"


def write_credentials(private: Path) -> Path:
    """Write a new TLS certificate below a folder, and return its folder.

    Only their owner can read them: the folder has mode 0700, files 0600.
    """
    from distributed.security import Security

    made = Security.temporary()
    folder = private / FOLDER
    folder.mkdir(mode=0o700)
    # A self-signed certificate is its own authority.
    texts = (made.tls_ca_file, made.tls_scheduler_cert, made.tls_scheduler_key)
    for name, text in zip(TLS_FILES, texts, strict=True):
        _write_private(folder / name, text)
    return folder


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
