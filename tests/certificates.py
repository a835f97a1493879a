"""Throw-away certificates for tests: an authority, what it signs, and what it revokes."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

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

    def revoke(self, name: str, *certificates: Path, for_days: float = 1.0) -> Path:
        """Make a list of revoked certificates, which is of yesterday and good for some days."""
        signer = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        secret = self.certificate.with_suffix(".key").read_bytes()
        now = datetime.now(tz=UTC)
        made = x509.CertificateRevocationListBuilder(
            signer.subject, now - timedelta(1), now + timedelta(for_days)
        )
        made = made.add_extension(x509.CRLNumber(1), critical=False)
        for certificate in certificates:
            revoked = x509.load_pem_x509_certificate(certificate.read_bytes())
            entry = x509.RevokedCertificateBuilder(revoked.serial_number, now - timedelta(1))
            made = made.add_revoked_certificate(entry.build())
        key = serialization.load_pem_private_key(secret, None)
        signed = made.sign(key, hashes.SHA256())
        place = self.folder / f"{name}.crl"
        place.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        return place


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
