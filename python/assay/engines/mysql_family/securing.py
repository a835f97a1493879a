"""Reads the TLS options of a DSN, for measured sessions and for administration."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address

DISABLED, PREFERRED, REQUIRED = "disabled", "preferred", "required"
VERIFY_CA, VERIFY_IDENTITY = "verify-ca", "verify-identity"
MODES = (DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY)
VERIFYING = (VERIFY_CA, VERIFY_IDENTITY)
# Options of a DSN for public keys.
KEY, ANY_KEY = "server_public_key", "get_server_public_key"
OPTIONS = ("ssl_mode", "ssl_ca", "ssl_cert", "ssl_key", KEY, ANY_KEY)
ANSWERS = {"0": False, "1": True}


def read_security(options: Mapping[str, str]) -> Address:
    """Return the TLS options in a DSN's parameters.

    Raises `EngineError`.
    """
    ca, cert, key = (options.get(name) for name in ("ssl_ca", "ssl_cert", "ssl_key"))
    mode = options.get("ssl_mode", VERIFY_CA if ca else PREFERRED)
    if mode not in MODES:
        raise EngineError(f"ssl_mode in the DSN must be one of {', '.join(MODES)}.")
    if ca and mode not in VERIFYING:
        raise EngineError(
            f"ssl_mode={mode} does not verify the server's certificate, so ssl_ca has no effect:"
            f" write ssl_mode={VERIFY_CA} or {VERIFY_IDENTITY}, or remove ssl_ca."
        )
    if mode == VERIFY_CA and not ca:
        raise EngineError(f"ssl_mode={VERIFY_CA} needs ssl_ca=FILE with the trusted certificates.")
    if bool(cert) != bool(key):
        raise EngineError("ssl_cert and ssl_key in the DSN belong together: give both, or neither.")
    if cert and mode in {DISABLED, PREFERRED}:
        raise EngineError(
            f"ssl_cert needs TLS: write ssl_mode={REQUIRED} or a mode that verifies the "
            "certificate."
        )
    if options.get(ANY_KEY, "0") not in ANSWERS:
        raise EngineError(f"{ANY_KEY} in the DSN must be 0 or 1.")
    return {
        "ssl_mode": mode,
        "ssl_ca": ca,
        "ssl_cert": cert,
        "ssl_key": key,
        KEY: options.get(KEY),
        ANY_KEY: ANSWERS[options.get(ANY_KEY, "0")],
    }


def session_security(address: Address) -> dict[str, Any]:
    """Return the TLS options of a driver session."""
    return {
        "tls": {
            "mode": address.get("ssl_mode", PREFERRED),
            "ca": address.get("ssl_ca"),
            "cert": address.get("ssl_cert"),
            "key": address.get("ssl_key"),
        },
        KEY: address.get(KEY),
        "trusts_any_server": address.get(ANY_KEY, False),
    }


def client_security(address: Address) -> dict[str, Any]:
    """Return the TLS options as arguments of `GuardedConnection`.

    Raises `EngineError` for files that cannot be read.
    """
    mode = address.get("ssl_mode", PREFERRED)
    pinned = address.get(KEY)
    try:
        given: dict[str, Any] = {
            "is_verified": mode in VERIFYING,
            "trusts_anyone": address.get(ANY_KEY, False),
            "server_public_key": Path(pinned).read_bytes() if pinned else None,
        }
        # A Unix socket does not use TLS.
        if mode == DISABLED or address.get("unix_socket"):
            return given | {"ssl_disabled": True}
        return given | ({} if mode == PREFERRED else {"ssl": _context(address, mode)})
    except OSError as error:
        raise EngineError(f"{error.filename or 'ssl_ca, ssl_cert or ssl_key'}: {error}") from error


def _context(address: Address, mode: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=address.get("ssl_ca"))
    # Certificates that MySQL generates fail Python's strict verification.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.check_hostname = mode == VERIFY_IDENTITY
    context.verify_mode = ssl.CERT_REQUIRED if mode in VERIFYING else ssl.CERT_NONE
    if address.get("ssl_cert"):
        context.load_cert_chain(address["ssl_cert"], address["ssl_key"])
    return context
