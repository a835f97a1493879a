"""One DSN means the same to libpq, which administration uses, and to the driver's sessions."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from cryptography import x509
from psycopg.conninfo import make_conninfo

from assay import _core
from assay.engines.contract import EngineError
from assay.engines.network import keepalive
from assay.engines.postgres_family.connecting import connect
from assay.engines.postgresql.connecting import read_dsn
from assay.engines.postgresql.hosts import administration_dsn, session_dsn
from tests.certificates import NAMES, make_authority
from tests.e2e.conftest import wait_until
from tests.e2e.server import DATABASE, HOST, PASSWORD, RunningServer
from tests.forwarding import AWAY, Forwarder, needs_address

SCRIPT = '{"operations": []}'
NUMBERS = itertools.count()
TLS, CLEAR, REFUSED = "by TLS", "in the clear", "refused"
Said = dict[str, str | None]


class Files:
    """Certificates and password files that DSNs of the table name."""

    def __init__(self, server: RunningServer, folder: Path) -> None:
        assert server.authority is not None
        self.root = server.authority.certificate
        stranger = make_authority(folder, "strange")
        self.strange = stranger.certificate
        ours = server.authority
        self.revoking = ours.revoke("revoking", ours.folder / "server.crt")
        self.revoking_nothing = ours.revoke("revoking-nothing")
        self.outdated = ours.revoke("outdated", for_days=-0.5)
        self.strangely_revoking = stranger.revoke("strangely-revoking")
        self.client = server.authority.sign("client", "certified", "")
        self.key = self.client.with_suffix(".key")
        self.open_key = folder / "open.key"
        shutil.copy(self.key, self.open_key)
        self.open_key.chmod(0o644)
        self.nothing = folder / "nosuch"
        self.passwords = folder / "passwords"
        escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
        lines = [f"db.example:*:*:owner:{escaped}", "127.0.0.1:*:*:owner:wrong", "broken\\"]
        self.passwords.write_text("\n".join([*lines, f"localhost:*:*:*:{escaped}", ""]))
        self.passwords.chmod(0o600)


@pytest.fixture(scope="module")
def files(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Files:
    if server.authority is None:
        pytest.skip("needs Maven, which brings a build with TLS, and openssl")
    return Files(server, tmp_path_factory.mktemp("files"))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory without certificates, and an environment that says nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    (tmp_path / ".postgresql").mkdir()
    return tmp_path


def dsn_of(server: RunningServer, files: Files, said: Said) -> str:
    filled = {k: v and v.format(port=server.port, **vars(files)) for k, v in said.items()}
    return server.dsn(**({"hostaddr": HOST} | filled))


def by_libpq(dsn: str) -> str:
    """How libpq connects."""
    try:
        with psycopg.connect(dsn) as connection:
            return TLS if connection.pgconn.ssl_in_use else CLEAR
    except psycopg.OperationalError:
        return REFUSED


def by_session(server: RunningServer, dsn: str) -> tuple[str, str]:
    """How a session connects, and its words."""
    name = f"session {next(NUMBERS)} of a table"
    try:
        session = _core.PostgresSession(f"{dsn} application_name='{name}'", SCRIPT, 1, 0)
    except _core.SessionOpenError as error:
        return REFUSED, str(error)
    asked = "select ssl from pg_stat_ssl join pg_stat_activity using (pid)"
    ((is_encrypted,),) = server.asked(f"{asked} where application_name = %s", name)
    del session
    return (TLS if is_encrypted else CLEAR), ""


VERIFIED = {"sslmode": "verify-full", "sslrootcert": "{root}"}
CERTIFIED = {"user": "certified", "password": None, "sslmode": "require"}
# What is said beside host 127.0.0.1, port, user, password and database, and how that connects.
TABLE: list[tuple[Said, str]] = [
    # The modes.
    ({}, TLS),
    ({"sslmode": "disable"}, CLEAR),
    ({"sslmode": "allow"}, CLEAR),
    ({"sslmode": "prefer"}, TLS),
    ({"sslmode": "require"}, TLS),
    ({"sslmode": "allow", "user": "secured"}, TLS),
    ({"sslmode": "prefer", "user": "clear"}, CLEAR),
    ({"sslmode": "require", "user": "clear"}, REFUSED),
    ({"sslmode": "disable", "user": "secured"}, REFUSED),
    ({"sslmode": "prefer", "user": "banned"}, REFUSED),
    # Root certificates.
    ({"sslmode": "require", "sslrootcert": "{root}"}, TLS),
    ({"sslmode": "require", "sslrootcert": "{strange}"}, REFUSED),
    ({"sslmode": "require", "sslrootcert": "{nothing}"}, TLS),
    ({"sslmode": "prefer", "sslrootcert": "{strange}"}, CLEAR),
    ({"sslmode": "prefer", "sslrootcert": "{root}"}, TLS),
    ({"sslmode": "verify-ca", "sslrootcert": "{root}"}, TLS),
    ({"sslmode": "verify-ca", "sslrootcert": "{strange}"}, REFUSED),
    ({"sslmode": "verify-ca", "sslrootcert": "{nothing}"}, REFUSED),
    ({"sslmode": "verify-ca"}, REFUSED),
    ({"sslrootcert": "system"}, REFUSED),
    ({"sslmode": "require", "sslrootcert": "system"}, REFUSED),
    # Revoked certificates.
    ({**VERIFIED, "sslcrl": "{revoking_nothing}"}, TLS),
    ({**VERIFIED, "sslcrl": "{revoking}"}, REFUSED),
    ({**VERIFIED, "sslcrl": "{strangely_revoking}"}, REFUSED),
    ({**VERIFIED, "sslcrl": "{outdated}"}, REFUSED),
    ({"sslmode": "require", "sslcrl": "{revoking}"}, TLS),
    # Names and addresses.
    (VERIFIED, TLS),
    ({**VERIFIED, "host": "db.example"}, TLS),
    ({**VERIFIED, "host": "DB.Example"}, TLS),
    ({**VERIFIED, "host": "other.example"}, REFUSED),
    ({**VERIFIED, "host": None}, REFUSED),
    ({"sslmode": "verify-ca", "sslrootcert": "{root}", "host": None}, TLS),
    ({"host": "other.example", "sslmode": "verify-ca", "sslrootcert": "{root}"}, TLS),
    # The password file.
    ({"host": "db.example", "password": None, "passfile": "{passwords}"}, TLS),
    ({"host": None, "password": None, "passfile": "{passwords}"}, REFUSED),
    ({"host": "localhost", "password": None, "passfile": "{passwords}"}, TLS),
    ({"host": "other.example", "password": None, "passfile": "{passwords}"}, REFUSED),
    # Client certificates.
    ({**CERTIFIED, "sslcert": "{client}", "sslkey": "{key}"}, TLS),
    ({**CERTIFIED, "sslcert": "{client}", "sslkey": "{open_key}"}, REFUSED),
    ({**CERTIFIED, "sslcert": "{client}", "sslkey": "{nothing}"}, REFUSED),
    ({**CERTIFIED, "sslcert": "{client}", "sslkey": "{key}", "sslcertmode": "disable"}, REFUSED),
    (CERTIFIED, REFUSED),
    # Proofs.
    ({"require_auth": "scram-sha-256"}, TLS),
    ({"require_auth": "md5"}, REFUSED),
    ({"require_auth": "md5,scram-sha-256"}, TLS),
    ({"require_auth": "md5, scram-sha-256"}, REFUSED),
    ({"require_auth": "!scram-sha-256"}, REFUSED),
    ({"require_auth": "none"}, REFUSED),
    ({"require_auth": "password", "user": "plain"}, TLS),
    ({"require_auth": "!password", "user": "plain"}, REFUSED),
    ({"require_auth": "md5", "user": "old"}, TLS),
    ({"require_auth": "scram-sha-256", "user": "trusted"}, REFUSED),
    ({"require_auth": "none", "user": "trusted"}, TLS),
    ({"require_auth": "!none", "user": "trusted"}, REFUSED),
    # Channel binding.
    ({"channel_binding": "require"}, TLS),
    ({"channel_binding": "require", "sslmode": "disable"}, REFUSED),
    ({"channel_binding": "require", "user": "old"}, REFUSED),
    ({"channel_binding": "require", "user": "trusted"}, REFUSED),
    ({"channel_binding": "disable"}, TLS),
    # More of TLS.
    ({"sslnegotiation": "direct", "sslmode": "require"}, TLS),
    ({"sslnegotiation": "direct", "sslmode": "prefer"}, REFUSED),
    ({"ssl_max_protocol_version": "TLSv1.2"}, TLS),
    ({"ssl_min_protocol_version": "TLSv1.3"}, TLS),
    ({"sslsni": "0", **VERIFIED}, TLS),
    # The time to connect.
    ({"connect_timeout": "5"}, TLS),
    ({"connect_timeout": " 5 "}, TLS),
    ({"connect_timeout": "0"}, TLS),
    ({"connect_timeout": "-1"}, TLS),
    # Several servers.
    ({"host": "127.0.0.1,127.0.0.1", "hostaddr": None, "port": "1,{port}"}, TLS),
    ({"host": "a,b", "hostaddr": "127.0.0.1,127.0.0.1", "port": "1,{port}"}, TLS),
    ({"host": "a,b"}, REFUSED),
    ({"target_session_attrs": "read-write"}, TLS),
    ({"target_session_attrs": "primary"}, TLS),
    ({"target_session_attrs": "standby"}, REFUSED),
    ({"target_session_attrs": "prefer-standby"}, TLS),
    (
        {"target_session_attrs": "read-write", "options": "-c default_transaction_read_only=on"},
        REFUSED,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("said", "expected"), TABLE, ids=str)
def test_it_means_the_same_to_both(
    server: RunningServer, files: Files, said: Said, expected: str
) -> None:
    dsn = dsn_of(server, files, said)
    assert by_libpq(dsn) == expected
    outcome, words = by_session(server, dsn)
    assert outcome == expected, words
    assert PASSWORD not in words


def test_a_list_of_revoked_certificates_that_is_not_there_is_refused(
    server: RunningServer, files: Files
) -> None:
    dsn = dsn_of(server, files, {**VERIFIED, "sslcrl": "{nothing}"})
    assert by_libpq(dsn) == TLS
    outcome, words = by_session(server, dsn)
    assert outcome == REFUSED
    assert "no revoked certificates can be read" in words
    with pytest.raises(EngineError, match=r"sslcrl=.*no such file"):
        read_dsn(dsn)


# The same by the environment and by files of the home directory.
BY_ENVIRONMENT: list[tuple[dict[str, str], Said, str]] = [
    ({"PGSSLMODE": "verify-full", "PGSSLROOTCERT": "{root}"}, {}, TLS),
    ({"PGSSLMODE": "verify-full", "PGSSLROOTCERT": "{root}"}, {"host": "other.example"}, REFUSED),
    ({"PGSSLCRL": "{revoking}"}, VERIFIED, REFUSED),
    ({"PGREQUIREAUTH": "md5"}, {}, REFUSED),
    ({"PGCHANNELBINDING": "require"}, {"sslmode": "disable"}, REFUSED),
    ({"PGSSLCERT": "{client}", "PGSSLKEY": "{key}"}, CERTIFIED, TLS),
    ({"PGTARGETSESSIONATTRS": "standby"}, {}, REFUSED),
    ({"SSL_CERT_FILE": "{root}"}, {"sslrootcert": "system"}, TLS),
    ({"SSL_CERT_FILE": "{strange}"}, {"sslrootcert": "system"}, REFUSED),
]


@pytest.mark.parametrize(("variables", "said", "expected"), BY_ENVIRONMENT, ids=str)
def test_the_environment_means_the_same_to_both(
    server: RunningServer,
    files: Files,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    said: Said,
    expected: str,
) -> None:
    dsn = dsn_of(server, files, said)
    with monkeypatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value.format(**vars(files)))
        assert by_libpq(dsn) == expected
        try:
            session = _core.PostgresSession(dsn, SCRIPT, 1, 0)
        except _core.SessionOpenError:
            session = None
    assert (session is None) is (expected == REFUSED)


@pytest.mark.parametrize(
    ("kept", "said", "expected"),
    [
        ({"root.crt": "root"}, {"sslmode": "require"}, TLS),
        ({"root.crt": "strange"}, {"sslmode": "require"}, REFUSED),
        ({"root.crt": "root", "root.crl": "revoking"}, {"sslmode": "require"}, REFUSED),
        ({"root.crt": "root"}, {"sslmode": "verify-full", "host": "other.example"}, REFUSED),
        ({"postgresql.crt": "client", "postgresql.key": "key"}, CERTIFIED, TLS),
        ({"postgresql.crt": "client"}, CERTIFIED, REFUSED),
    ],
    ids=str,
)
def test_files_of_the_home_directory_mean_the_same_to_both(
    server: RunningServer,
    files: Files,
    home: Path,
    kept: dict[str, str],
    said: Said,
    expected: str,
) -> None:
    for name, source in kept.items():
        shutil.copy(vars(files)[source], home / ".postgresql" / name)
    dsn = dsn_of(server, files, said)
    outcome, words = by_session(server, dsn)
    assert (by_libpq(dsn), outcome) == (expected, expected), words


@contextmanager
def serving_by(server: RunningServer, made: Path, dsn: str) -> Iterator[None]:
    """The server has another certificate for as long: one by which libpq can use the DSN."""
    assert server.authority is not None
    shown = server.authority.folder / "server.crt"
    pairs = [(shown, made), (shown.with_suffix(".key"), made.with_suffix(".key"))]
    saved = {place: place.read_bytes() for place, _ in pairs}
    try:
        for place, source in pairs:
            place.write_bytes(source.read_bytes())
        server.asked("select pg_reload_conf()")
        wait_until(lambda: _shown(server) == _pem(made), "it is not read anew")
        assert by_libpq(dsn) == TLS
        yield
    finally:
        for place, content in saved.items():
            place.write_bytes(content)
        server.asked("select pg_reload_conf()")
        wait_until(lambda: _shown(server) == _pem(shown), "it is not read anew")


def _pem(certificate: Path) -> str:
    return ssl.DER_cert_to_PEM_cert(ssl.PEM_cert_to_DER_cert(certificate.read_text()))


def _shown(server: RunningServer) -> str:
    """The certificate by which the server answers a request for TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((HOST, server.port)) as line:
        line.sendall(bytes([0, 0, 0, 8, 4, 210, 22, 47]))
        assert line.recv(1) == b"S"
        with context.wrap_socket(line) as encrypted:
            shown = encrypted.getpeercert(binary_form=True)
    assert shown is not None
    return ssl.DER_cert_to_PEM_cert(shown)


@pytest.fixture
def common_name_only(server: RunningServer, files: Files) -> Iterator[None]:
    """The server has a certificate without alternative names for as long."""
    assert server.authority is not None
    made = server.authority.sign("named", "*.common.example", "")
    dsn = dsn_of(server, files, {**VERIFIED, "host": "db.common.example"})
    with serving_by(server, made, dsn):
        yield


@pytest.mark.usefixtures("common_name_only")
def test_a_common_name_counts_where_there_is_no_other(server: RunningServer, files: Files) -> None:
    for host, expected in (
        ("db.common.example", TLS),
        ("a.db.common.example", REFUSED),
        ("common.example", REFUSED),
        (HOST, REFUSED),
    ):
        dsn = dsn_of(server, files, {**VERIFIED, "host": host})
        outcome, words = by_session(server, dsn)
        assert (by_libpq(dsn), outcome) == (expected, expected), f"{host}: {words}"


def test_of_several_common_names_the_first_one_counts(server: RunningServer, files: Files) -> None:
    assert server.authority is not None
    made = server.authority.sign("twice", "first.example/CN=second.example", "")
    first, second = (
        dsn_of(server, files, {**VERIFIED, "host": host})
        for host in ("first.example", "second.example")
    )
    with serving_by(server, made, first):
        assert by_session(server, first)[0] == TLS
        assert (by_libpq(second), by_session(server, second)[0]) == (REFUSED, REFUSED)


UNVERIFIED: list[Said] = [{}, {"sslmode": "prefer"}, {"sslmode": "require"}]
CHECKED: list[Said] = [{"sslmode": "verify-ca", "sslrootcert": "{root}"}, VERIFIED]


def test_a_certificate_of_version_1_encrypts_and_is_not_verified(
    server: RunningServer, files: Files
) -> None:
    assert server.authority is not None
    made = server.authority.sign_version_1("old", HOST)
    if x509.load_pem_x509_certificate(made.read_bytes()).version != x509.Version.v1:
        pytest.skip("this OpenSSL makes no certificates of version 1")
    with serving_by(server, made, dsn_of(server, files, {})):
        for said in UNVERIFIED:
            outcome, words = by_session(server, dsn_of(server, files, said))
            assert outcome == TLS, words
        bound = {"channel_binding": "require"}
        assert by_session(server, dsn_of(server, files, bound))[0] == TLS
        for said in CHECKED:
            outcome, words = by_session(server, dsn_of(server, files, said))
            assert outcome == REFUSED
            assert "X.509 version 3" in words


def test_a_certificate_that_sessions_cannot_take_does_not_make_them_go_in_the_clear(
    server: RunningServer, files: Files
) -> None:
    assert server.authority is not None
    made = server.authority.sign("large", "db.example", f"subjectAltName={NAMES}", "secp521r1")
    with serving_by(server, made, dsn_of(server, files, {})):
        for said in [*UNVERIFIED, *CHECKED, {"sslrootcert": "{root}"}]:
            dsn = dsn_of(server, files, said)
            outcome, words = by_session(server, dsn)
            assert (by_libpq(dsn), outcome) == (TLS, REFUSED)
            assert "P-256" in words
            assert "sslmode=disable goes without TLS" in words


def test_a_password_of_too_many_rounds_is_refused_with_the_reason(
    server: RunningServer, files: Files
) -> None:
    with psycopg.connect(server.administration, autocommit=True) as connection:
        connection.execute("set scram_iterations = 100001")
        connection.execute("create role lengthy login password 'lengthy'")
        try:
            dsn = dsn_of(server, files, {"user": "lengthy", "password": "lengthy"})
            outcome, words = by_session(server, dsn)
            assert (by_libpq(dsn), outcome) == (TLS, REFUSED)
            assert "lower the server's scram_iterations" in words
        finally:
            connection.execute("drop role lengthy")


def by_administration(dsn: str) -> str:
    """How administration connects."""
    try:
        with connect(read_dsn(dsn)["dsn"], "administration", "PostgreSQL") as connection:
            return TLS if connection.pgconn.ssl_in_use else CLEAR
    except EngineError:
        return REFUSED


@pytest.mark.parametrize(
    "said", [{}, {"keepalives_idle": "7"}, {"target_session_attrs": "primary"}]
)
def test_administration_notices_a_host_that_is_gone(
    server: RunningServer, files: Files, said: Said
) -> None:
    dsn = read_dsn(dsn_of(server, files, said))["dsn"]
    with (
        connect(dsn, "administration", "PostgreSQL") as connection,
        socket.socket(fileno=os.dup(connection.fileno())) as line,
    ):
        idle_s = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        assert idle_s == int(said.get("keepalives_idle") or keepalive.IDLE_S)
        assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1


@needs_address
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, REFUSED),
        ({"sslmode": "disable"}, REFUSED),
        ({"sslmode": "require"}, REFUSED),
        ({"sslmode": "require", "sslrootcert": "{root}"}, TLS),
        ({"sslmode": "verify-ca", "sslrootcert": "{root}"}, TLS),
        ({"host": "db.example", **VERIFIED}, TLS),
        ({"require_auth": "password"}, TLS),
        ({"require_auth": "password", "sslmode": "disable"}, CLEAR),
        ({"user": "owner"}, TLS),
        ({"user": "old", "sslmode": "disable"}, CLEAR),
        ({"user": "trusted"}, TLS),
    ],
    ids=str,
)
def test_a_password_goes_in_the_clear_to_a_server_that_proved_who_it_is(
    server: RunningServer, files: Files, said: Said, expected: str
) -> None:
    with Forwarder(server.port, AWAY or HOST) as port:
        given = {"user": "plain", "host": AWAY, "hostaddr": AWAY, "port": str(port)} | said
        dsn = dsn_of(server, files, given)
        assert by_administration(dsn) == expected
        outcome, words = by_session(server, dsn)
    assert outcome == expected, words
    assert "require_auth=password" in words or expected != REFUSED


def test_sessions_have_what_a_service_and_the_environment_say(
    server: RunningServer, files: Files, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = home / "services"
    said = {"host": "db.example", "hostaddr": HOST, "port": server.port, "sslmode": "verify-full"}
    said |= {"sslrootcert": files.root, "user": "owner", "channel_binding": "require"}
    services.write_text("\n".join(["[here]", *(f"{k}={v}" for k, v in said.items()), ""]))
    with monkeypatch.context() as patch:
        patch.setenv("PGSERVICEFILE", str(services))
        patch.setenv("PGREQUIREAUTH", "scram-sha-256")
        dsn = make_conninfo("", service="here", password=PASSWORD, dbname=DATABASE)
        with connect(dsn, "administration", "PostgreSQL") as connection:
            resolved = administration_dsn(dsn, connection), session_dsn(dsn, connection)
    for text in resolved:
        kept = psycopg.conninfo.conninfo_to_dict(text)
        expected = {"host": "db.example", "hostaddr": HOST, "sslmode": "verify-full"}
        expected |= {"channel_binding": "require", "require_auth": "scram-sha-256"}
        assert {key: kept.get(key) for key in expected} == expected
        assert "application_name" not in kept
        assert by_session(server, text)[0] == TLS


def test_the_process_behind_a_socket_is_the_one_that_is_meant(server: RunningServer) -> None:
    folder = psycopg.conninfo.conninfo_to_dict(server.administration)["host"]
    owner = Path(f"{folder}/.s.PGSQL.{server.port}").owner()
    for name, expected in ((owner, CLEAR), ("nobody-such", REFUSED)):
        dsn = make_conninfo(server.administration, requirepeer=name)
        outcome, words = by_session(server, dsn)
        assert (by_libpq(dsn), outcome) == (expected, expected), words
