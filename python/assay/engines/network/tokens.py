"""Signs JSON Web Tokens, by which Assay authenticates itself to HTTP interfaces of its servers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

# Bytes of a new signing key: as many as the result of SHA-256, the minimum of RFC 7518.
KEY_BYTES = 32


def signed_token(key: bytes, subject: str) -> str:
    """Return a JSON Web Token of a subject, signed with HMAC-SHA256 (RFC 7519).

    The token is valid as long as the server that has the key.
    """
    parts = [_encoded({"alg": "HS256", "typ": "JWT"}), _encoded({"sub": subject})]
    signature = hmac.digest(key, b".".join(parts), hashlib.sha256)
    return b".".join([*parts, _base64url(signature)]).decode()


def bearer(token: str | None) -> dict[str, str]:
    """Return the HTTP header that authenticates a request by a token; empty without a token."""
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def _encoded(part: dict[str, str]) -> bytes:
    return _base64url(json.dumps(part, separators=(",", ":")).encode())


def _base64url(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
