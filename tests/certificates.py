"""Throw-away certificates for tests: an authority, what it signs, and what it revokes."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

CURVE = "prime256v1"
NAMES = "DNS:localhost,DNS:db.example,IP:127.0.0.1"


@dataclass(frozen=True)
class Authority:
    """A certificate that signs others; its key is beside it."""

    folder: Path
    certificate: Path

    @property
    def _signer(self) -> list[str]:
        return ["-CA", str(self.certificate), "-CAkey", str(self.certificate.with_suffix(".key"))]

    def sign(self, name: str, subject: str, extension: str, curve: str = CURVE) -> Path:
        """Make a certificate; its key is beside it.

        Args:
            name: Of the files.
            subject: The common name, or several: `one/CN=another`.
            extension: Such as `subjectAltName=DNS:localhost`; empty for none.
            curve: Of the key.
        """
        certificate = self.folder / f"{name}.crt"
        extra = ["-addext", extension] if extension else []
        _openssl(
            ["-subj", f"/CN={subject}", "-addext", "basicConstraints=critical,CA:FALSE", *extra],
            certificate,
            self._signer,
            curve,
        )
        return certificate

    def sign_version_1(self, name: str, subject: str) -> Path:
        """Make a certificate of X.509 version 1, if this host's OpenSSL still makes them."""
        certificate = self.folder / f"{name}.crt"
        request, key = certificate.with_suffix(".csr"), certificate.with_suffix(".key")
        command = ["openssl", "req", "-new", "-nodes", "-newkey", "rsa:2048"]
        command += ["-subj", f"/CN={subject}", "-keyout", str(key), "-out", str(request)]
        subprocess.run(command, check=True, capture_output=True)
        command = ["openssl", "x509", "-req", "-days", "2", *self._signer, "-CAcreateserial"]
        command += ["-in", str(request), "-out", str(certificate)]
        subprocess.run(command, check=True, capture_output=True)
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


def _openssl(wanted: list[str], certificate: Path, signer: list[str], curve: str = CURVE) -> None:
    key = certificate.with_suffix(".key")
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-newkey", "ec"]
    command += ["-pkeyopt", f"ec_paramgen_curve:{curve}", *wanted, *signer]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    key.chmod(0o600)
