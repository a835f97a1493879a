"""Opens MySQL connections that send a password only to the intended server.

Opening a connection ends within its time limit, whatever the server sends.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import time
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql import _auth

from assay.engines.network.keepalive import probe_when_idle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pymysql.protocol import MysqlPacket

# The client library's error number for a failed server verification.
UNPROVED = 2061
# Its error numbers for a server that stops answering, and for a packet that cannot be read.
LOST, MALFORMED = 2013, 2027
# No packet before the end of the login is nearly as long.
LOGIN_BYTES_MAX = 1 << 20
# Errors that the client library raises for bytes of another protocol.
GARBLED = (struct.error, LookupError, ValueError, TypeError, AssertionError)
# What a server of `caching_sha2_password` says of the first proof: enough, or not.
PROVED, WHOLE_PASSWORD = b"\x01\x03", b"\x01\x04"
TRUSTED = "ssl_mode=verify-ca or verify-identity with ssl_ca=FILE"
CLEARTEXT = (
    "the server asks for the password in the clear, and has not proved who it is: use " + TRUSTED
)
ANYONE = (
    f"the server asks for the password, and has not proved who it is: use {TRUSTED}, name its key"
    " with server_public_key=FILE for a connection without TLS, or trust whoever answers with"
    " get_server_public_key=1"
)


class GuardedConnection(pymysql.Connection):  # type: ignore[misc]
    """A MySQL connection that refuses to reveal its password to an unverified server."""

    def __init__(
        self,
        *,
        is_verified: bool = False,
        trusts_anyone: bool = False,
        **given: Any,  # noqa: ANN401 - of pymysql
    ) -> None:
        self._is_verified, self._trusts_anyone = is_verified, trusts_anyone
        self._pinned = given.get("server_public_key")
        super().__init__(auth_plugin_map=HANDLERS, **given)

    def connect(self, sock: socket.socket | None = None) -> None:
        """Connect to the MySQL server over a Unix socket or TCP.

        A Unix socket counts as secure, like TLS, for the server too. Raises `OperationalError` if
        the login does not end within `connect_timeout`, or the answer is not MySQL's protocol.
        """
        self._secure = sock is not None and sock.family == socket.AF_UNIX
        timeouts = self._read_timeout, self._write_timeout
        # The library limits only the time until the server accepts the connection.
        self._read_timeout = self._write_timeout = self.connect_timeout
        try:
            super().connect(sock)
        except GARBLED as error:
            reason = f"what answers does not speak MySQL's protocol: {error}"
            raise pymysql.err.OperationalError(MALFORMED, reason) from None
        finally:
            self._read_timeout, self._write_timeout = timeouts
            self._deadline_s = None
        if self._sock.family != socket.AF_UNIX:
            probe_when_idle(self._sock)

    _auth_plugin_name: str
    _read_timeout: float | None
    _write_timeout: float | None
    # Time by which the login must have ended; None before and after the login.
    _deadline_s: float | None = None

    def _read_bytes(self, num_bytes: int) -> bytes:
        if self._deadline_s is None:
            return bytes(super()._read_bytes(num_bytes))
        if num_bytes > LOGIN_BYTES_MAX:
            self._force_close()
            reason = f"what answers does not speak MySQL's protocol: a packet of {num_bytes} bytes"
            raise pymysql.err.OperationalError(MALFORMED, reason)
        received = b""
        while len(received) < num_bytes:
            received += self._read_once(num_bytes - len(received), self._deadline_s)
        return received

    def _read_once(self, bytes_max: int, deadline_s: float) -> bytes:
        """Return at least one byte from the server, or raise `OperationalError`."""
        reason = "the server closed the connection during the login"
        try:
            self._current_timeout = max(deadline_s - time.monotonic(), 1e-3)
            self._sock.settimeout(self._current_timeout)
            # Without this check, a server that sends byte after byte would be read for ever.
            if time.monotonic() < deadline_s and (part := self._rfile.read1(bytes_max)):
                return bytes(part)
        except TimeoutError:
            pass
        except OSError as error:
            reason = f"the connection broke during the login: {error}"
        if time.monotonic() >= deadline_s:
            reason = (
                f"the login did not end within {self.connect_timeout} s; connect_timeout=N waits"
                " longer"
            )
        self._force_close()
        raise pymysql.err.OperationalError(LOST, reason)

    def _get_server_information(self) -> None:
        self._deadline_s = time.monotonic() + self.connect_timeout
        super()._get_server_information()
        # The library would answer this request with the password, or accept any server's public
        # key.
        if self._auth_plugin_name == "sha256_password":
            self._auth_plugin_name = "mysql_native_password"

    def is_private(self) -> bool:
        """Return True if only the intended server can read the connection."""
        if self._is_verified or self._sock.family == socket.AF_UNIX:
            return True
        address = ipaddress.ip_address(self._sock.getpeername()[0].partition("%")[0])
        mapped = getattr(address, "ipv4_mapped", None)
        return bool((mapped or address).is_loopback)

    def check_cleartext(self) -> None:
        """Raise `OperationalError` if an unverified server would get the password in clear text."""
        if self.password and not self.is_private():
            raise pymysql.err.OperationalError(UNPROVED, CLEARTEXT)

    def check_password(self) -> None:
        """Raise `OperationalError` if an unverified server would learn the password."""
        encrypts = self._pinned is not None and not self._secure
        if self.password and not (encrypts or self._trusts_anyone or self.is_private()):
            raise pymysql.err.OperationalError(UNPROVED, ANYONE)


class _Handler:
    """Answers a server's requests for a proof by one plugin.

    The client library accepts more than the protocol allows: a request with more bytes, or a new
    key in place of the pinned one. So handlers check each request before the library reads it.
    """

    plugin: str

    def __init__(self, connection: GuardedConnection) -> None:
        self._connection = connection
        self._has_given_password = False

    def _check_password_once(self) -> None:
        if self._has_given_password:
            raise self._unexpected("asks for the password a second time")
        self._connection.check_password()
        self._has_given_password = True

    def _unexpected(self, did: str) -> pymysql.err.OperationalError:
        reason = f"the server {did} during the proof by the plugin {self.plugin}"
        return pymysql.err.OperationalError(MALFORMED, reason)

    def _answer(self, data: bytes) -> MysqlPacket:
        self._connection.write_packet(data)
        packet = self._connection._read_packet()
        packet.check_error()
        return packet


class _Cleartext(_Handler):
    plugin = "mysql_clear_password"

    def authenticate(self, packet: MysqlPacket) -> MysqlPacket:
        del packet
        self._connection.check_cleartext()
        return self._answer(self._connection.password + b"\0")


class _Refused(_Handler):
    """Refuses a plugin. Anybody can compute a usable password from `mysql_old_password`'s proof."""

    def authenticate(self, packet: MysqlPacket) -> MysqlPacket:
        del packet
        reason = (
            f"the server asks for a proof by the plugin {self.plugin}, which is not spoken here"
        )
        raise pymysql.err.OperationalError(UNPROVED, reason)


class _Dialog(_Refused):
    plugin = "dialog"


class _OldPassword(_Refused):
    plugin = "mysql_old_password"


class _Ed25519(_Refused):
    plugin = "client_ed25519"


class _Sha256(_Handler):
    plugin = "sha256_password"

    def authenticate(self, packet: MysqlPacket) -> MysqlPacket:
        self._check_password_once()
        if not packet.is_auth_switch_request():
            raise self._unexpected("sends a message that is none of the protocol's")
        return _auth.sha256_password_auth(self._connection, packet)


class _CachingSha2(_Handler):
    plugin = "caching_sha2_password"

    def authenticate(self, packet: MysqlPacket) -> MysqlPacket:
        connection = self._connection
        if packet.is_auth_switch_request():
            connection.salt = packet.read_all().removesuffix(b"\0")
            return self._answer(_auth.scramble_caching_sha2(connection.password, connection.salt))
        asked = packet.get_all_data()
        if asked == WHOLE_PASSWORD:
            self._check_password_once()
        elif asked != PROVED:
            raise self._unexpected("sends a message that is none of the protocol's")
        return _auth.caching_sha2_password_auth(connection, packet)


HANDLERS: Mapping[str, type[_Handler]] = {
    handler.plugin: handler
    for handler in (_Cleartext, _Dialog, _OldPassword, _Ed25519, _Sha256, _CachingSha2)
}
