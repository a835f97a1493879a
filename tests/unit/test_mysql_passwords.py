"""Who learns a password: sessions and administration, asked by a server of a few lines."""

from __future__ import annotations

import shutil
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from assay import _core
from assay.engines.contract import EngineError
from assay.engines.mysql_family.connecting import connect, read_dsn, session_config
from tests.certificates import NAMES, make_authority
from tests.forwarding import AWAY, needs_address

PASSWORD = "learnt-by-whoever-asks"  # noqa: S105 - made up
NONCE = b"abcdefghijklmnopqrst"
CLEAR, CACHING, SHA256 = "mysql_clear_password", "caching_sha2_password", "sha256_password"
NATIVE = "mysql_native_password"
SSL, LENENC = 1 << 11, 1 << 21
CAPABILITIES = 1 | 1 << 3 | 1 << 9 | 1 << 15 | 1 << 19 | LENENC
DENIED = b"\xff\x15\x04#28000denied"
WHOLE_PASSWORD = b"\x01\x04"
SECOND_S = 5.0
RSA_BYTES = 256


class Peer:
    """Asks for a password by a plugin, and keeps what it was sent."""

    def __init__(
        self,
        line: socket.socket,
        plugin: str,
        secured: ssl.SSLContext | None,
        requests: Sequence[bytes],
    ) -> None:
        self.line, self.plugin, self.secured = line, plugin, secured
        self.requests, self.answers = requests, list[bytes]()
        self.number = 0

    def send(self, body: bytes) -> None:
        self.line.sendall(len(body).to_bytes(3, "little") + bytes([self.number]) + body)
        self.number += 1

    def read(self) -> bytes:
        header = self._exactly(4)
        body = self._exactly(int.from_bytes(header[:3], "little"))
        self.number = header[3] + 1
        self.answers.append(body)
        return body

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.line.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def serve(self, public_key: bytes, greeted: str) -> None:
        bits = CAPABILITIES | (SSL if self.secured else 0)
        low, high = bits & 0xFFFF, bits >> 16
        body = b"\x0a9.7.0\0" + struct.pack("<I", 7) + NONCE[:8] + b"\0"
        body += struct.pack("<HBHHB", low, 45, 2, high, 21) + bytes(10) + NONCE[8:] + b"\0"
        self.send(body + greeted.encode() + b"\0")
        answer = self.read()
        if struct.unpack_from("<I", answer)[0] & SSL and self.secured:
            self.line = self.secured.wrap_socket(self.line, server_side=True)
            answer = self.read()
        if self.plugin.encode() not in answer:
            self.send(b"\xfe" + self.plugin.encode() + b"\0" + NONCE + b"\0")
            self.read()
        for request in self.requests or [WHOLE_PASSWORD] * (self.plugin == CACHING):
            self.send(request)
            self.read()
        if self.answers[-1] in (b"\x01", b"\x02"):
            self.send(b"\x01" + public_key)
            self.read()
        self.send(DENIED)


def public_pem(key: rsa.RSAPrivateKey) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form)


def decrypts(key: rsa.RSAPrivateKey, answer: bytes) -> bool:
    """Whether a password was encrypted for this key, as MySQL's protocol does."""
    sha1 = hashes.SHA1()  # noqa: S303 - of the protocol
    try:
        key.decrypt(answer, padding.OAEP(padding.MGF1(sha1), sha1, None))
    except ValueError:
        return False
    return True


class Listening:
    """A server that somebody put in the middle."""

    def __init__(self, root: Path, host: str) -> None:
        made = make_authority(root)
        server = made.sign("server", "server", f"subjectAltName={NAMES},IP:{host}")
        self.root, self.secured = made.certificate, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.secured.load_cert_chain(server, server.with_suffix(".key"))
        self.key = public_pem(rsa.generate_private_key(65537, 8 * RSA_BYTES))
        self.pinned = root / "key.pem"
        self.pinned.write_bytes(self.key)

    @contextmanager
    def serving(
        self, host: str, plugin: str, *, tls: bool, greeted: str, requests: Sequence[bytes]
    ) -> Iterator[Served]:
        with socket.create_server((host, 0)) as listener:
            listener.settimeout(SECOND_S)
            served = Served(listener.getsockname()[1])

            def serve() -> None:
                line, _ = listener.accept()
                line.settimeout(SECOND_S)
                peer = Peer(line, plugin, self.secured if tls else None, requests)
                with suppress(EOFError, OSError):
                    peer.serve(self.key, greeted)
                served.answers = peer.answers
                peer.line.close()

            thread = threading.Thread(target=serve)
            thread.start()
            yield served
            thread.join()


class Served:
    """What a peer was told."""

    def __init__(self, port: int) -> None:
        self.port, self.answers = port, list[bytes]()

    @property
    def heard(self) -> bytes:
        return b"".join(self.answers)

    def learnt(self) -> bool:
        """Whether the password came in the clear, or encrypted with a key."""
        return PASSWORD.encode() in self.heard or len(self.heard) > RSA_BYTES


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Listening:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates")
    return Listening(tmp_path_factory.mktemp("peer"), AWAY or "127.0.0.1")


def administration(address: Any) -> None:
    connect(address)


def session(address: Any) -> None:
    _core.MysqlSession(session_config(address), '{"operations": []}', 1, 0)


Client = Callable[[Any], None]
CLIENTS = pytest.mark.parametrize("client", [administration, session])
REFUSED = (EngineError, _core.SessionOpenError)


def asked(
    listening: Listening,
    client: Client,
    host: str,
    plugin: str,
    said: dict[str, str],
    *,
    tls: bool,
    greeted: str = NATIVE,
    requests: Sequence[bytes] = (),
) -> tuple[Served, str]:
    """What a peer learnt, and the words of the client."""
    serving = listening.serving(host, plugin, tls=tls, greeted=greeted, requests=requests)
    with serving as served:
        named = {"CA": str(listening.root), "KEY": str(listening.pinned)}
        query = urlencode({name: named.get(value, value) for name, value in said.items()})
        with pytest.raises(REFUSED) as refused:
            client(read_dsn(f"mysql://me:{PASSWORD}@{host}:{served.port}/shop?{query}"))
    return served, str(refused.value)


ANYONE: list[dict[str, str]] = [{}, {"ssl_mode": "preferred"}, {"ssl_mode": "required"}]
VERIFIED = [{"ssl_mode": mode, "ssl_ca": "CA"} for mode in ("verify-ca", "verify-identity")]


@needs_address
@CLIENTS
@pytest.mark.parametrize("plugin", [CLEAR, CACHING, SHA256])
class TestAwayFromThisHost:
    @pytest.mark.parametrize("said", ANYONE)
    def test_whoever_answers_with_tls_does_not_learn_it(
        self, listening: Listening, client: Client, plugin: str, said: dict[str, str]
    ) -> None:
        for greeted in {NATIVE, plugin} - {CLEAR}:
            served, words = asked(
                listening, client, AWAY or "", plugin, said, tls=True, greeted=greeted
            )
            assert not served.learnt(), words
            assert "ssl_mode=verify-ca or verify-identity" in words

    @pytest.mark.parametrize("said", [{}, {"ssl_mode": "disabled"}])
    def test_whoever_answers_without_tls_does_not_learn_it(
        self, listening: Listening, client: Client, plugin: str, said: dict[str, str]
    ) -> None:
        for greeted in {NATIVE, plugin} - {CLEAR}:
            served, words = asked(
                listening, client, AWAY or "", plugin, said, tls=False, greeted=greeted
            )
            assert not served.learnt(), words
            assert "ssl_mode=verify-ca or verify-identity" in words

    @pytest.mark.parametrize("said", VERIFIED)
    def test_a_server_that_proved_who_it_is_learns_it(
        self, listening: Listening, client: Client, plugin: str, said: dict[str, str]
    ) -> None:
        served, words = asked(listening, client, AWAY or "", plugin, said, tls=True)
        assert served.learnt(), words
        assert "denied" in words

    @pytest.mark.parametrize("tls", [False, True])
    def test_what_is_allowed_is_done_but_in_the_clear(
        self, listening: Listening, client: Client, plugin: str, tls: bool
    ) -> None:
        said = {"get_server_public_key": "1"}
        served, words = asked(listening, client, AWAY or "", plugin, said, tls=tls)
        assert served.learnt() is (plugin != CLEAR), words

    def test_a_known_key_encrypts_it(
        self, listening: Listening, client: Client, plugin: str
    ) -> None:
        said = {"server_public_key": "KEY"}
        served, words = asked(listening, client, AWAY or "", plugin, said, tls=False)
        assert PASSWORD.encode() not in served.heard
        assert served.learnt() is (plugin != CLEAR), words


@needs_address
@CLIENTS
class TestMoreThanTheProtocolHas:
    """Requests that only a server in the middle sends."""

    @pytest.mark.parametrize("greeted", [NATIVE, CACHING])
    @pytest.mark.parametrize(("tls", "said"), [(False, {}), *((True, said) for said in ANYONE)])
    def test_a_request_with_a_byte_too_many_is_refused(
        self,
        listening: Listening,
        client: Client,
        greeted: str,
        tls: bool,
        said: dict[str, str],
    ) -> None:
        requests = [WHOLE_PASSWORD + b"\0"]
        served, words = asked(
            listening,
            client,
            AWAY or "",
            CACHING,
            said,
            tls=tls,
            greeted=greeted,
            requests=requests,
        )
        assert not served.learnt(), words

    @pytest.mark.parametrize("greeted", [NATIVE, CACHING, SHA256])
    @pytest.mark.parametrize("plugin", [CACHING, SHA256])
    def test_another_key_does_not_take_the_place_of_the_known_one(
        self, listening: Listening, client: Client, plugin: str, greeted: str
    ) -> None:
        another = rsa.generate_private_key(65537, 8 * RSA_BYTES)
        another_key = b"\x01" + public_pem(another)
        asks_first = [WHOLE_PASSWORD] if plugin == CACHING else []
        for requests in ([*asks_first, another_key], [another_key], [WHOLE_PASSWORD] * 2):
            served, words = asked(
                listening,
                client,
                AWAY or "",
                plugin,
                {"server_public_key": "KEY"},
                tls=False,
                greeted=greeted,
                requests=requests,
            )
            assert PASSWORD.encode() not in served.heard, words
            assert not any(decrypts(another, answer) for answer in served.answers), words

    @pytest.mark.parametrize("plugin", ["client_ed25519", "dialog", "mysql_old_password"])
    def test_a_plugin_that_is_not_spoken_is_named(
        self, listening: Listening, client: Client, plugin: str
    ) -> None:
        served, words = asked(listening, client, AWAY or "", plugin, {}, tls=True)
        assert plugin in words
        assert "not spoken here" in words
        assert not served.learnt()


@CLIENTS
@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("plugin", [CLEAR, CACHING, SHA256])
def test_nobody_is_between_on_this_host(
    listening: Listening, client: Client, plugin: str, tls: bool
) -> None:
    served, words = asked(listening, client, "127.0.0.1", plugin, {}, tls=tls)
    assert served.learnt(), words


@CLIENTS
class TestModes:
    @pytest.mark.parametrize("said", [{"ssl_mode": "required"}, *VERIFIED])
    def test_a_server_without_tls_is_refused_where_it_has_to_be(
        self, listening: Listening, client: Client, said: dict[str, str]
    ) -> None:
        served, words = asked(listening, client, "127.0.0.1", CLEAR, said, tls=False)
        assert not served.learnt()
        assert "TLS" in words or "SSL" in words

    def test_a_certificate_of_another_name_is_refused_by_identity_only(
        self, listening: Listening, client: Client
    ) -> None:
        for mode, learns in (("verify-ca", True), ("verify-identity", False)):
            said = {"ssl_mode": mode, "ssl_ca": "CA"}
            # The certificate names 127.0.0.1 and not 127.0.0.2.
            served, words = asked(listening, client, "127.0.0.2", CLEAR, said, tls=True)
            assert served.learnt() is learns, words

    def test_disabled_is_without_tls(self, listening: Listening, client: Client) -> None:
        said = {"ssl_mode": "disabled"}
        served, _ = asked(listening, client, "127.0.0.1", NATIVE, said, tls=True)
        assert not struct.unpack_from("<I", served.heard)[0] & SSL


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("ssl_mode=require", "one of disabled, preferred, required, verify-ca, verify-identity"),
        ("ssl_mode=required&ssl_ca=/c", "ssl_ca has no effect"),
        ("ssl_mode=verify-ca", "needs ssl_ca=FILE"),
        ("ssl_cert=/c", "ssl_cert and ssl_key in the DSN belong together: give both"),
        ("ssl_cert=/c&ssl_key=/k", "needs TLS"),
        ("get_server_public_key=yes", "0 or 1"),
    ],
)
def test_what_means_nothing_is_refused(query: str, words: str) -> None:
    with pytest.raises(EngineError, match=words):
        read_dsn(f"mysql://me@h/d?{query}")
