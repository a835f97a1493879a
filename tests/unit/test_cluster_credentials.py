"""Secrets of private clusters: tokens, private files, command lines without secrets."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import ssl
import stat
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from assay.engines.contract import EngineError
from assay.engines.network.tokens import bearer, signed_token
from assay.engines.spark import credentials as of_spark
from assay.engines.spark.programs import Programs
from assay.engines.trino import credentials as of_trino
from assay.engines.trino.connecting import FORWARDED, Rest, read_dsn

if TYPE_CHECKING:
    from assay.engines.contract import Launcher

KEY = b"k" * 32


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    scratch = tmp_path / "server"
    scratch.mkdir()
    return SimpleNamespace(scratch=scratch, own=lambda _: None)  # type: ignore[return-value]


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The jar of Assay, as `make setup` builds it."""
    file = tmp_path / "bridge.jar"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("assay/spark/ThriftPassword.class", b"class")
    monkeypatch.setattr(of_spark, "JAR", file)
    return file


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class TestTokens:
    def test_a_token_is_signed_as_rfc_7515_has_it(self) -> None:
        header, payload, signature = signed_token(KEY, "assay").split(".")
        assert json.loads(decoded(header)) == {"alg": "HS256", "typ": "JWT"}
        assert json.loads(decoded(payload)) == {"sub": "assay"}
        signed = f"{header}.{payload}".encode()
        assert decoded(signature) == hmac.new(KEY, signed, hashlib.sha256).digest()

    def test_a_request_without_a_token_has_no_header_of_it(self) -> None:
        assert bearer(None) == {}
        assert bearer("a.b.c") == {"Authorization": "Bearer a.b.c"}


def assert_private(directory: Path) -> None:
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


class TestSpark:
    def test_secrets_are_in_private_files_and_differ_between_clusters(
        self, launcher: Launcher, jar: Path
    ) -> None:
        first = of_spark.make_credentials(launcher)
        options = first.options.read_text("utf-8")
        assert_private(first.directory)
        assert {
            file.name: stat.S_IMODE(file.stat().st_mode) for file in first.directory.iterdir()
        } == {
            "assay.jar": 0o644,
            "java-options": 0o600,
            "password": 0o600,
        }
        assert (first.directory / "password").read_text("utf-8") == first.password
        assert first.jar.read_bytes() == jar.read_bytes()
        second = of_spark.make_credentials(launcher)
        assert second.options.read_text("utf-8") != options
        assert (second.password, second.token) != (first.password, first.token)

    def test_no_command_line_has_a_secret(self, launcher: Launcher, jar: Path) -> None:
        del jar
        made = of_spark.make_credentials(launcher)
        (launcher.scratch / "jars").mkdir()
        (launcher.scratch / "jars" / "spark-core_2.13-4.3.0.jar").touch()
        programs = Programs(launcher.scratch, Path("/usr/bin/java"))
        main = ["Main", *made.thrift_options]
        command = programs.command("1m", main, made.thrift_properties, made.options, made.jar)
        assert f"@{made.options}" in command
        assert command[command.index("-cp") + 1].endswith(f"/jars/*:{made.jar}")
        lines = made.options.read_text("utf-8").splitlines()
        for secret in (made.password, made.token, *(line.split("=", 1)[1] for line in lines[1::2])):
            assert secret not in " ".join(command)

    def test_a_jar_of_an_older_assay_is_told(self, launcher: Launcher, jar: Path) -> None:
        with zipfile.ZipFile(jar, "w") as archive:
            archive.writestr("assay/bridge/Bridge.class", b"class")
        with pytest.raises(EngineError, match="`make setup` builds it again"):
            of_spark.make_credentials(launcher)

    def test_a_spark_without_the_filter_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "jars").mkdir()
        core, signing = (
            tmp_path / "jars" / name for name in ("spark-core_2.12-3.5.1.jar", "jjwt-impl-1.jar")
        )
        with zipfile.ZipFile(core, "w") as archive:
            archive.writestr("org/apache/spark/ui/HttpSecurityFilter.class", b"")
        programs = Programs(tmp_path, Path("java"))
        with pytest.raises(EngineError, match="web pages without authentication"):
            programs.check_filter()
        with zipfile.ZipFile(core, "a") as archive:
            archive.writestr("org/apache/spark/ui/JWSFilter.class", b"")
        with pytest.raises(EngineError, match="web pages without authentication"):
            programs.check_filter()
        signing.touch()
        programs.check_filter()


class TestTrino:
    def test_secrets_are_in_private_files_and_differ_between_clusters(
        self, launcher: Launcher
    ) -> None:
        first = of_trino.make_credentials(launcher)
        assert_private(first.directory)
        files = list(first.directory.iterdir())
        assert len(files) == 3
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        key = base64.b64decode((first.directory / of_trino.KEY_FILE).read_text("ascii"))
        assert first.token == signed_token(key, "assay")
        second = of_trino.make_credentials(launcher)
        assert second.token != first.token
        assert second.shared_secret != first.shared_secret

    def test_clients_and_server_can_read_the_certificate(self, launcher: Launcher) -> None:
        made = of_trino.make_credentials(launcher)
        ssl.create_default_context().load_verify_locations(made.certificate)
        both = made.directory / of_trino.KEY_AND_CERTIFICATE_FILE
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(both)

    def test_every_node_refuses_who_has_no_secret(self, launcher: Launcher) -> None:
        made = of_trino.make_credentials(launcher)
        worker, coordinator = made.of_node(None), made.of_node(8443)
        assert worker.items() <= coordinator.items()
        assert worker["http-server.authentication.type"] == "JWT"
        assert worker["http-server.authentication.allow-insecure-over-http"] == "false"
        assert worker["internal-communication.shared-secret"] == made.shared_secret
        assert coordinator["http-server.https.port"] == "8443"

    def test_a_private_cluster_gets_the_token_over_loopback_and_others_do_not(self) -> None:
        own = {"rest": "http://127.0.0.1:1", "properties": {"user": "assay", "accessToken": "a.b"}}
        headers = Rest.of({**own, "pids": {}}).headers
        assert headers.items() >= {"Authorization": "Bearer a.b", **FORWARDED}.items()
        assert "Authorization" not in Rest.of(own).headers

    def test_a_token_in_a_dsn_is_no_part_of_the_url_and_goes_over_tls(self) -> None:
        address = read_dsn("trino://me@db/tpch/sf1?accessToken=a.b.c&session=x")
        assert address["url"] == "jdbc:trino://db:8443/tpch/sf1?session=x&SSL=true"
        assert address["properties"] == {"user": "me", "accessToken": "a.b.c"}
        assert Rest.of(address).headers["Authorization"] == "Bearer a.b.c"
