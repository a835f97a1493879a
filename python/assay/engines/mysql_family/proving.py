"""Opens MySQL connections that send a password only to the intended server."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql import _auth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pymysql.protocol import MysqlPacket

# The client library's error number for a failed server verification.
UNPROVED = 2061
WHOLE_PASSWORD = b"\x01\x04"
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

        A Unix socket counts as secure, like TLS, for the server too.
        """
        self._secure = sock is not None and sock.family == socket.AF_UNIX
        super().connect(sock)

    _auth_plugin_name: str

    def _get_server_information(self) -> None:
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
    def __init__(self, connection: GuardedConnection) -> None:
        self._connection = connection

    def _answer(self, data: bytes) -> MysqlPacket:
        self._connection.write_packet(data)
        packet = self._connection._read_packet()
        packet.check_error()
        return packet


class _Cleartext(_Handler):
    def authenticate(self, packet: MysqlPacket) -> MysqlPacket:
        del packet
        self._connection.check_cleartext()
        return self._answer(self._connection.password + b"\0")


class _Dialog(_Handler):
    def authenticate(self, packet: MysqlPacket) -> MysqlPacket:
        del packet
        reason = "the server asks for a proof by the plugin dialog, which is not spoken here"
        raise pymysql.err.OperationalError(UNPROVED, reason)


class _Sha256(_Handler):
    def authenticate(self, packet: MysqlPacket) -> MysqlPacket:
        self._connection.check_password()
        return _auth.sha256_password_auth(self._connection, packet)


class _CachingSha2(_Handler):
    def authenticate(self, packet: MysqlPacket) -> MysqlPacket:
        connection = self._connection
        if packet.is_auth_switch_request() and connection.password:
            connection.salt = packet.read_all().removesuffix(b"\0")
            return self._answer(_auth.scramble_caching_sha2(connection.password, connection.salt))
        if packet.get_all_data() == WHOLE_PASSWORD:
            connection.check_password()
        return _auth.caching_sha2_password_auth(connection, packet)


HANDLERS: Mapping[str, type[_Handler]] = {
    "mysql_clear_password": _Cleartext,
    "dialog": _Dialog,
    "sha256_password": _Sha256,
    "caching_sha2_password": _CachingSha2,
}
