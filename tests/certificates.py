"""Throw-away certificates for tests: an authority, and what it signs."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

NAMES = "DNS:localhost,DNS:db.example,IP:127.0.0.1"


@dataclass(frozen=True)
class Authority:
    """A certificate that signs others; its key is beside it."""

    folder: Path
    certificate: Path

    def sign(self, name: str, subject: str, extension: str) -> Path:
        """Make a certificate; its key is beside it.

        Args:
            name: Of the files.
            subject: The common name.
            extension: Such as `subjectAltName=DNS:localhost`; empty for none.
        """
        certificate = self.folder / f"{name}.crt"
        extra = ["-addext", extension] if extension else []
        _openssl(
            ["-subj", f"/CN={subject}", "-addext", "basicConstraints=critical,CA:FALSE", *extra],
            certificate,
            ["-CA", str(self.certificate), "-CAkey", str(self.certificate.with_suffix(".key"))],
        )
        return certificate


def make_authority(folder: Path, name: str = "root") -> Authority:
    """Make an authority of its own."""
    certificate = folder / f"{name}.crt"
    _openssl(["-subj", f"/CN=the authority {name}"], certificate, [])
    return Authority(folder, certificate)


def _openssl(wanted: list[str], certificate: Path, signer: list[str]) -> None:
    key = certificate.with_suffix(".key")
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-newkey", "ec"]
    command += ["-pkeyopt", "ec_paramgen_curve:prime256v1", *wanted, *signer]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    key.chmod(0o600)
