"""While a run measures a private Spark cluster, the cluster refuses other accounts of the host."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.jre import find_java
from assay.engines.bridge.link import Link
from assay.engines.network.tokens import bearer, signed_token
from assay.engines.spark.connecting import url_of
from assay.engines.spark.credentials import FILTER, OPTIONS_FILE, PASSWORD_FILE, USER
from assay.engines.spark.programs import Programs, find_home
from assay.running.host.places import engines_dir
from tests.e2e.conftest import Lab, end, wait_for_phase
from tests.products import installed
from tests.strangers import (
    HOST,
    answer_to_rpc,
    files_with,
    http_status,
    ports_of,
    readable_by_others,
    shown_by_processes,
)

MEASURING = ["run", "tpch", "--engine", "spark", "--scale", "0.01", "-o", "q13"]
START_PATIENCE_S = 500
PATIENCE_S = 60.0
# Master, two workers and the driver have web pages; the same and two executors have Spark's RPC.
PAGES, RPC_PORTS_MIN = 4, 6
PATHS = ("/", "/json/", "/api/v1/applications", "/environment/", "/metrics/json/", "/logPage/")
# The run has all cores, so an application that the master admits waits.
REGISTERED = "Initial job has not accepted any resources"
REFUSED = "Failed to connect to master"
# Spark's worker starts each executor with the secret in a variable, which only the server's user,
# and root, can read.
OF_EXECUTORS = ("environ", "_SPARK_AUTH_SECRET")


def connect(lab: Lab, port: int, password: str | None) -> None:
    (bridge,) = lab.instances.glob("*/server/bridge.sock")
    given = {} if password is None else {"user": USER, "password": password}
    Link.connect(
        {"socket": str(bridge), "url": url_of(HOST, port), "properties": given}, PATIENCE_S
    ).close()


def option(lab: Lab, name: str, separator: str = "=") -> str:
    """The number behind a name in a process's command line."""
    sought = re.compile(re.escape(f"{name}{separator}").encode() + rb"(\d+)")
    for pid in lab.strays():
        found = sought.search(Path(f"/proc/{pid}/cmdline").read_bytes())
        if found:
            return found[1].decode()
    raise AssertionError(name)


def secrets_of(lab: Lab) -> dict[str, str]:
    (place,) = lab.instances.glob("*/server/credentials")
    assert readable_by_others(place) == []
    lines = (place / OPTIONS_FILE).read_text("utf-8").splitlines()
    options = dict(line.removeprefix("-D").split("=", 1) for line in lines)
    return {
        "rpc": options["spark.authenticate.secret"],
        "pages": options[f"spark.{FILTER}.param.secretKey"],
        "password": (place / PASSWORD_FILE).read_text("utf-8"),
    }


def registration(master: str, secret: str | None, place: Path) -> str:
    """The last log line of another application's driver, which registers with the master."""
    programs = Programs(find_home(installed("spark")), find_java(engines_dir()))
    authentication = {"spark.authenticate": "true", "spark.authenticate.secret": str(secret)}
    properties = {
        "spark.master": master,
        "spark.driver.host": HOST,
        "spark.ui.enabled": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.log.level": "INFO",
        **(authentication if secret else {}),
    }
    main = ["org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "-e", "select 1"]
    with subprocess.Popen(
        programs.command("640m", main, properties),
        cwd=place,
        env={**programs.environment, "HOME": str(place)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stderr is not None
        output = []
        for line in started.stderr:
            output.append(line)
            if REGISTERED in line or REFUSED in line:
                break
        started.kill()
    return output[-1] if output else ""


def test_strangers_are_refused_on_every_port(server_lab: Lab, tmp_path: Path) -> None:
    installed("spark")
    started = server_lab.begin(*MEASURING, "--set", "workers=2", "--min-time", "600s")
    run = wait_for_phase(server_lab, started, "measured", START_PATIENCE_S)
    secrets = secrets_of(server_lab)
    thrift = int(option(server_lab, "hive.server2.thrift.port"))
    ports = set(ports_of(server_lab.strays()))

    connect(server_lab, thrift, secrets["password"])
    for wrong in (None, "", "anonymous", secrets["password"][:-1]):
        with pytest.raises(BridgeError, match=r"(?i)authenticat|validat|password"):
            connect(server_lab, thrift, wrong)

    pages = {port for port in ports - {thrift} if http_status(port, "/") is not None}
    assert len(pages) == PAGES
    forged = bearer(signed_token(b"?" * 32, USER))
    for port in pages:
        for path in PATHS:
            assert http_status(port, path) == 403
            assert http_status(port, path, headers=forged) == 403
        assert http_status(port, "/app/kill/?id=x&terminate=true", "POST") == 403

    others = ports - pages - {thrift}
    assert len(others) >= RPC_PORTS_MIN
    for port in others:
        assert "Expected SaslMessage" in answer_to_rpc(port)

    master = option(server_lab, f"-Dspark.master=spark://{HOST}", ":")
    for secret, expected in ((None, REFUSED), ("wrong", REFUSED), (secrets["rpc"], REGISTERED)):
        assert expected in registration(f"spark://{HOST}:{master}", secret, tmp_path)

    shown = set(shown_by_processes(secrets.values()))
    assert shown <= {OF_EXECUTORS}
    code, errors = end(started)
    assert code != 0
    assert "Traceback" not in errors
    assert files_with(secrets.values(), run, server_lab.root / "state") == []
    server_lab.assert_nothing_left()
