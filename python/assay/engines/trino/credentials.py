"""Makes the secrets of a private Trino cluster, so that no other account can use its ports.

Clients authenticate by a token, which Trino's JDBC driver sends over TLS only. Nodes authenticate
each other by a shared secret. All of it is random and ends with the cluster; files are readable by
the server's user only.
"""

from __future__ import annotations

import base64
import ipaddress
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from assay.engines.network.tokens import KEY_BYTES, signed_token
from assay.engines.server_files import private_server_directory, write_server_file
from assay.engines.trino.connecting import HOST, USER

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.contract import Launcher

DIRECTORY = "credentials"
KEY_FILE, CERTIFICATE_FILE, KEY_AND_CERTIFICATE_FILE = "token.key", "certificate.pem", "tls.pem"
# A clock that was set back does not invalidate the certificate of a running cluster.
BEFORE, AFTER = timedelta(days=2), timedelta(days=365)


@dataclass(frozen=True, repr=False)
class Credentials:
    """The secrets of a private Trino cluster.

    Attributes:
        token: Token by which Assay's connections authenticate themselves.
        shared_secret: Secret by which nodes authenticate each other.
        directory: Directory of the files.
    """

    token: str
    shared_secret: str
    directory: Path

    @property
    def certificate(self) -> Path:
        """Return the file of the coordinator's certificate, which clients trust."""
        return self.directory / CERTIFICATE_FILE

    def of_node(self, tls_port: int | None) -> dict[str, str]:
        """Return the properties by which a Trino node refuses everybody else.

        Args:
            tls_port: Port of the coordinator for the JDBC driver; None for a worker.
        """
        properties = {
            "http-server.authentication.type": "JWT",
            "http-server.authentication.jwt.key-file": str(self.directory / KEY_FILE),
            "http-server.authentication.allow-insecure-over-http": "false",
            # A request without TLS is authenticated like one with TLS if it has the header
            # X-Forwarded-Proto; without that header it is refused.
            "http-server.process-forwarded": "true",
            "internal-communication.shared-secret": self.shared_secret,
        }
        if tls_port is None:
            return properties
        return properties | {
            "web-ui.enabled": "false",
            "http-server.https.enabled": "true",
            "http-server.https.port": str(tls_port),
            "http-server.https.keystore.path": str(self.directory / KEY_AND_CERTIFICATE_FILE),
        }


def make_credentials(launcher: Launcher) -> Credentials:
    """Write new secrets into the server's scratch directory, and return them.

    Raises `OSError`.
    """
    key, (private_key, certificate) = secrets.token_bytes(KEY_BYTES), _certificate()
    files = {
        KEY_FILE: base64.b64encode(key).decode(),
        CERTIFICATE_FILE: certificate,
        KEY_AND_CERTIFICATE_FILE: private_key + certificate,
    }
    with private_server_directory(launcher.scratch, DIRECTORY) as directory:
        for name, text in files.items():
            write_server_file(name, text, directory)
    launcher.own(launcher.scratch / DIRECTORY)
    token = signed_token(key, USER)
    return Credentials(token, secrets.token_urlsafe(KEY_BYTES), launcher.scratch / DIRECTORY)


def _certificate() -> tuple[str, str]:
    """Return a new private key and its self-signed certificate for loopback, in PEM."""
    # Only the start of a private cluster needs this library.
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, USER)])
    host = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - BEFORE)
        .not_valid_after(now + AFTER)
        .add_extension(host, critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return private.decode(), made.public_bytes(serialization.Encoding.PEM).decode()
