"""A PostgreSQL server that runs already, as a stranger's would: roles, passwords, TLS, tables."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from assay.engines.contract import Place, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.record.writer import new_run_id
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from tests.certificates import NAMES, Authority, make_authority
from tests.e2e.conftest import POSTGRESQL

HOST = "127.0.0.1"
# A build with TLS, where Maven is there to bring it.
WITH_TLS = "18" if shutil.which("mvn") and shutil.which("openssl") else None
DATABASE = "shop"
# Letters that a URL, a shell and a keyword text each have to escape.
PASSWORD = "s3cr:t/@%?&'\\ enD9x"  # noqa: S105 - made up, and gone with the server
# By role, how it has to prove who it is; the first line that fits counts.
PROOFS = {
    "owner": "scram-sha-256",
    "reader": "scram-sha-256",
    "old": "md5",
    "plain": "password",
    "trusted": "trust",
    "banned": "reject",
}
# Roles that come in over TLS only, in the clear only, and by a certificate of the authority.
BY_LINE = {
    "secured": ("hostssl", "scram-sha-256"),
    "clear": ("hostnossl", "scram-sha-256"),
    "certified": ("hostssl", "cert"),
}
CONNECTIONS_MAX = 20
SETTINGS = {
    "max_connections": str(CONNECTIONS_MAX),
    "superuser_reserved_connections": "3",
    "shared_buffers": "32MB",
    "fsync": "off",
    "log_statement": "none",
}


@dataclass(frozen=True)
class RunningServer:
    """A server at work. `certificate`, that of its authority, is None where it has no TLS."""

    pid: int
    port: int
    administration: str
    log: Path
    certificate: Path | None
    authority: Authority | None = None

    def asked(
        self, statement: str, *values: Any, database: str = DATABASE
    ) -> list[tuple[Any, ...]]:
        """Rows of a statement, as its superuser."""
        whole = make_conninfo(self.administration, dbname=database)
        with psycopg.connect(whole, autocommit=True) as connection:
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def dsn(self, user: str = "owner", **said: Any) -> str:
        """Keywords over TCP; a keyword that is None is left out."""
        whole: dict[str, Any] = {
            "host": HOST,
            "port": self.port,
            "user": user,
            "password": PASSWORD,
            "dbname": DATABASE,
        }
        whole |= said
        return make_conninfo(
            "", **{key: value for key, value in whole.items() if value is not None}
        )

    def busy(self, application: str = "assay%") -> list[tuple[Any, ...]]:
        """Statements that run now for sessions of ours."""
        return self.asked(
            "select pid, query from pg_stat_activity"
            " where state <> 'idle' and application_name like %s",
            application,
        )

    def sessions(self, application: str) -> list[tuple[Any, ...]]:
        """Connections by the name that their client gave, which is a pattern."""
        return self.asked(
            "select pid from pg_stat_activity where application_name like %s", application
        )

    def alive(self) -> bool:
        return self.asked("select 1") == [(1,)]


def make_certificate(folder: Path, name: str) -> Path:
    """A certificate that signs itself, for this host's loopback; its key is beside it."""
    certificate = folder / f"{name}.crt"
    names = f"subjectAltName=DNS:localhost,IP:{HOST}"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", names]
    command += ["-keyout", str(folder / f"{name}.key"), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    (folder / f"{name}.key").chmod(0o600)
    return certificate


@contextmanager
def running_server(
    cache: Path, folder: Path, programs: Path | None = None
) -> Iterator[RunningServer]:
    """Starts a server and fills it with roles and a stranger's tables.

    Its programs are those of a directory, or of a version with TLS where there is one.
    """
    engine = find_engine("postgresql").engine()
    engines = cache / "assay" / "engines"
    wanted = Wanted(engines, WITH_TLS or POSTGRESQL.partition("@")[2])
    if programs is not None:
        wanted = Wanted(engines, bin_dir=programs)
    product = engine.obtain(wanted, tell_nobody)
    authority = make_authority(folder) if WITH_TLS else None
    certificate = (
        authority.sign("server", "server", f"subjectAltName={NAMES}") if authority else None
    )
    with Guardian(new_run_id("test", "postgresql"), folder / "instances") as guardian:
        data = guardian.directory / "data"
        data.mkdir(mode=0o700)
        launcher = ServerLauncher(guardian, folder / "server.log")
        launcher.own(data)
        settings = dict(SETTINGS)
        if certificate is not None:
            key = certificate.with_suffix(".key")
            launcher.own(key)
            settings |= {"ssl": "on", "ssl_cert_file": str(certificate), "ssl_key_file": str(key)}
            settings |= {"ssl_ca_file": str(folder / "root.crt")}
        address = engine.start(product, Place(data, launcher.scratch), settings, launcher)
        port = int(conninfo_to_dict(address["dsn"])["port"])
        log = folder / "server.log"
        root = authority.certificate if authority else None
        server = RunningServer(address["pid"], port, address["dsn"], log, root, authority)
        _let_in(launcher.scratch / "hba.conf", with_tls=authority is not None)
        _fill(server)
        yield server
        launcher.stop()


def _let_in(hba: Path, *, with_tls: bool) -> None:
    lines = ["local all assay trust"]
    lines += [f"host all {role} {HOST}/32 {proof}" for role, proof in PROOFS.items()]
    for role, (line, proof) in BY_LINE.items() if with_tls else ():
        lines += [f"{line} all {role} {HOST}/32 {proof}", f"host all {role} {HOST}/32 reject"]
    hba.write_text("\n".join([*lines, f"host all all {HOST}/32 scram-sha-256", ""]))


def _fill(server: RunningServer) -> None:
    for role in (*PROOFS, *BY_LINE):
        proof = PROOFS.get(role)
        kept = "md5" if proof == "md5" else "scram-sha-256"
        made = sql.SQL("create role {} login password {}").format(
            sql.Identifier(role), sql.Literal(PASSWORD)
        )
        with psycopg.connect(server.administration, autocommit=True) as connection:
            connection.execute(f"set password_encryption = '{kept}'")
            connection.execute(made)
    server.asked(f"create database {DATABASE} owner owner", database="postgres")
    server.asked("select pg_reload_conf()")
    server.asked(
        "create table customers as select n as id, 'c' || n as name"
        " from generate_series(1, 1000) as n"
    )
    server.asked("grant select on customers to public")
