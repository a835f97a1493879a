"""Makes the secrets of a private Spark cluster, so that no other account can use its ports.

Spark's processes authenticate each other by a shared secret, JDBC connections by a password, and
requests to web pages by a token. All of it is random and ends with the cluster. Java reads the
secrets from files of the server's user, because command lines are visible to every account.
"""

from __future__ import annotations

import base64
import secrets
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engines.bridge.process import JAR, check_readable
from assay.engines.contract import EngineError
from assay.engines.network.tokens import KEY_BYTES, signed_token
from assay.engines.server_files import (
    copy_into_server,
    private_server_directory,
    write_server_file,
)

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.contract import Launcher

USER = "assay"
DIRECTORY = "credentials"
OPTIONS_FILE, PASSWORD_FILE, JAR_FILE = "java-options", "password", "assay.jar"
# Spark's own filter, which refuses requests for web pages and their data without a signed token.
FILTER = "org.apache.spark.ui.JWSFilter"
# Assay's class in the Thrift server, and the property that names the password's file.
CHECKER, CHECKED_FILE = "assay.spark.ThriftPassword", "assay.thrift.password.file"


@dataclass(frozen=True, repr=False)
class Credentials:
    """The secrets of a private Spark cluster.

    Attributes:
        password: Password of JDBC connections.
        token: Token for requests to web pages.
        directory: Directory of the files.
    """

    password: str
    token: str
    directory: Path

    @property
    def options(self) -> Path:
        """Return the file with the Java options of all processes, except executors."""
        return self.directory / OPTIONS_FILE

    @property
    def jar(self) -> Path:
        """Return the jar with the class that checks passwords in the Thrift server."""
        return self.directory / JAR_FILE

    @property
    def thrift_options(self) -> list[str]:
        """Return the options by which the Thrift server checks passwords."""
        return [
            *("--hiveconf", "hive.server2.authentication=CUSTOM"),
            *("--hiveconf", f"hive.server2.custom.authentication.class={CHECKER}"),
        ]

    @property
    def thrift_properties(self) -> dict[str, str]:
        """Return the Java properties that the Thrift server needs to check passwords."""
        return {CHECKED_FILE: str(self.directory / PASSWORD_FILE)}


def make_credentials(launcher: Launcher) -> Credentials:
    """Write new secrets into the server's scratch directory, and return them.

    Raises:
        OSError: If a file cannot be written.
        EngineError: If Assay's jar is missing or older than its sources.
    """
    _check_jar()
    password, key = secrets.token_urlsafe(KEY_BYTES), secrets.token_bytes(KEY_BYTES)
    properties = {
        "spark.authenticate": "true",
        "spark.authenticate.secret": secrets.token_urlsafe(KEY_BYTES),
        "spark.ui.filters": FILTER,
        f"spark.{FILTER}.param.secretKey": base64.urlsafe_b64encode(key).decode(),
    }
    options = "".join(f"-D{name}={value}\n" for name, value in properties.items())
    with private_server_directory(launcher.scratch, DIRECTORY) as directory:
        write_server_file(OPTIONS_FILE, options, directory)
        write_server_file(PASSWORD_FILE, password, directory)
        copy_into_server(JAR, JAR_FILE, directory)
    launcher.own(launcher.scratch / DIRECTORY)
    return Credentials(password, signed_token(key, USER), launcher.scratch / DIRECTORY)


def _check_jar() -> None:
    check_readable(JAR)
    with zipfile.ZipFile(JAR) as archive:
        if f"{CHECKER.replace('.', '/')}.class" not in archive.namelist():
            raise EngineError(f"{JAR} has no class {CHECKER}: `make setup` builds it again.")
